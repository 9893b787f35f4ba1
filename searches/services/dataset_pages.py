"""What the pages of datasets show: the list, one with its counts and pictures, one picture with its truth."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.urls import reverse
from pydantic import ValidationError

from searches.enums import DatasetState, JobState
from searches.models import Blob, Dataset, DatasetPicture, Job
from searches.services.dataset_index import DatasetIndex
from searches.services.datasets import Recipe, making_job, recipe_of, why_kept
from searches.services.domain_store import find_domain
from searches.services.job_queue import UNFINISHED
from searches.services.scene_facts import SceneFacts, decision_line, indented, made_by, truth_lines
from searches.services.seed_import_report import RefusalPage, SeedImport, refusal_page, seed_import_of
from searches.services.seed_inputs import askable_labels
from searches.services.seed_plans import stratum_title
from vlmlab.core.errors import ConceptError, VlmLabError
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.render.backends import SCENE_BACKENDS
from vlmlab.core.scenes.strata import STRATA
from vlmlab.web.boxed_pictures import BoxedPicture, DrawnBox, read_box

MOST_STRATA = 8
MOST_LABELS = 200


@dataclass(frozen=True)
class Count:
    """How many pictures have something."""

    id: str
    label: str
    count: int


@dataclass(frozen=True)
class StratumCount:
    """How many pictures of a kind of scene there are, and in how many of them something can be asked for."""

    id: str
    label: str
    count: int
    n_usable: int


@dataclass(frozen=True)
class LabelCount:
    """One label: pictures in which it can be asked for, in all and by kind of scene; things called so."""

    label: str
    n_pictures: int
    n_things: int
    by_stratum: tuple[int, ...]


@dataclass(frozen=True)
class DatasetCounts:
    """What is in a dataset.

    Attributes:
        strata: pictures by kind of scene.
        concepts: pictures by concept.
        labels: pictures by the labels that can be asked for in them.
        label_rows: the most frequent labels, by the kinds of scene in ``columns``.
        n_usable: pictures that a modality search can start from.
        never_asked: things by label, of labels that can be asked for nowhere.
    """

    strata: tuple[StratumCount, ...]
    concepts: tuple[Count, ...]
    labels: tuple[Count, ...]
    label_rows: tuple[LabelCount, ...]
    columns: tuple[str, ...]
    n_usable: int
    never_asked: tuple[Count, ...]


@dataclass(frozen=True)
class DatasetPage:
    """One dataset.

    Attributes:
        job: that makes it, or made it last; None where nobody remembers one.
        kept_by: why it cannot be deleted, "" when it can.
        seeds: the import that it comes from, None of another dataset.
        refusals: what that import refused.
    """

    dataset: Dataset
    recipe: Recipe | None
    counts: DatasetCounts
    job: Job | None
    kept_by: str
    seeds: SeedImport | None = None
    refusals: RefusalPage | None = None

    @property
    def is_at_work(self) -> bool:
        """Whether a worker has it or will take it."""
        return self.job is not None and self.job.state in UNFINISHED

    @property
    def drawn(self) -> Recipe | None:
        """How it was drawn, also where the pictures come with the lab."""
        if self.recipe is not None or "drawn" not in self.dataset.recipe:
            return self.recipe
        try:
            return Recipe.model_validate(self.dataset.recipe["drawn"])
        except (ValidationError, VlmLabError):
            return None

    @property
    def can_be_searched(self) -> bool:
        """Whether modality searches can start from its pictures."""
        return self.dataset.state == DatasetState.READY and self.counts.n_usable > 0

    @property
    def drawn_by(self) -> str:
        """Name of what draws it."""
        if self.drawn is None:
            return ""
        kind = SCENE_BACKENDS.get(self.drawn.backend)
        return kind.title if kind is not None else self.drawn.backend

    @property
    def can_go_on(self) -> bool:
        """Whether there is something left to draw and nobody is at it."""
        return self.recipe is not None and self.dataset.state != DatasetState.READY and not self.is_at_work

    @property
    def problem(self) -> str:
        """What went wrong, "" when nothing did."""
        if self.dataset.error:
            return self.dataset.error
        is_dead = self.job is not None and self.job.state == JobState.FAILED
        if self.dataset.state == DatasetState.MAKING and self.job is not None and is_dead:
            return f"{self.job.error} {self.job.hint}".strip()
        return ""

    @property
    def refused(self) -> list[tuple[str, str]]:
        """Places without a picture: which, and why."""
        if self.recipe is None:
            return []
        places = ((self.recipe.place(at), why) for at, why in sorted(self.recipe.refused.items()))
        return [(f"{stratum_title(name)} {index + 1}", why) for (name, index), why in places]


@dataclass(frozen=True)
class PicturePage:
    """One picture of a dataset.

    Attributes:
        boxed: the picture with its boxes; None where its file is not kept.
        asked: labels that a modality search can ask for.
        unsure: labels that it cannot ask for, because not all things called so are known with their boxes.
    """

    row: DatasetPicture
    domain: Domain | None
    boxed: BoxedPicture | None
    facts: SceneFacts
    previous: int | None
    following: int | None
    asked: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()

    @property
    def stratum(self) -> str:
        """What its kind of scene is called, "" where it has none."""
        return stratum_title(self.row.stratum) if self.row.stratum else ""


def dataset_rows() -> QuerySet[Dataset]:
    """Return the datasets for a list, newest first."""
    return Dataset.objects.select_related("created_by").order_by("-id")


def dataset_page(dataset: Dataset, index: DatasetIndex) -> DatasetPage:
    """Return what the page of a dataset shows beside its pictures."""
    seeds = seed_import_of(dataset)
    return DatasetPage(
        dataset=dataset,
        recipe=recipe_of(dataset),
        counts=_named(index, dataset),
        job=making_job(dataset),
        kept_by=why_kept(dataset),
        seeds=seeds,
        refusals=refusal_page(seeds) if seeds is not None else None,
    )


def find_picture(dataset: Dataset, order: int) -> DatasetPicture | None:
    """Return one picture of a dataset by its place."""
    return dataset.pictures.filter(order=order).first()


def picture_page(dataset: Dataset, row: DatasetPicture) -> PicturePage:
    """Return what the page of one picture shows."""
    around = dataset.pictures.filter(Q(order__lt=row.order) | Q(order__gt=row.order))
    before = around.filter(order__lt=row.order).order_by("-order").values_list("order", flat=True).first()
    behind = around.filter(order__gt=row.order).order_by("order").values_list("order", flat=True).first()
    domain = _domain_of(dataset, row)
    args = [dataset.slug, row.order]
    address = reverse("dataset_picture", args=args)
    has_masks = any(one.get("mask") for one in row.annotations)
    facts = SceneFacts(
        seed=row.scene_seed,
        attempt=row.attempt,
        digest=row.description_digest,
        made_by=made_by(row.provenance) if row.description or row.provenance else (),
        lines=truth_lines(row.annotations),
        decision=decision_line(domain, row.concepts) if domain and row.concepts else None,
        description=indented(row.description),
        note="" if row.description else "A photograph has no scene description.",
        json_url=f"{address}?as=json" if row.description else "",
        mask_url=reverse("dataset_masks", args=args) if has_masks else "",
    )
    is_kept = Blob.objects.filter(pk=row.image_sha256).exists()
    boxed = _boxed(row, mask_url=facts.mask_url) if is_kept else None
    unsure = tuple(map(str, row.unsure_labels))
    return PicturePage(row, domain, boxed, facts, before, behind, askable_labels(row), unsure)


def _boxed(row: DatasetPicture, *, mask_url: str) -> BoxedPicture:
    boxes: list[DrawnBox] = []
    for number, one in enumerate(row.annotations, start=1):
        box = read_box(
            number, str(one.get("label") or one.get("concept") or "thing"), one["box"], kind="truth"
        )
        visible = round(100 * float(one.get("visible_fraction", 1.0)))
        boxes.append(DrawnBox(number, box.label, box.x, box.y, box.width, box.height, visible))
    return BoxedPicture(
        url=reverse("blob", args=[row.image_sha256]),
        alt=f"Picture {row.file_name or row.order}",
        width=row.width,
        height=row.height,
        boxes=tuple(boxes),
        mask_url=mask_url,
    )


def _domain_of(dataset: Dataset, row: DatasetPicture) -> Domain | None:
    recipe = recipe_of(dataset)
    slug = str(row.description.get("domain", "")) or dataset.domain
    if recipe is not None:
        stratum = STRATA.get(row.stratum)
        slug = recipe.domains.get(stratum.domain if stratum else slug, slug)
    elif slug and dataset.domain_version:
        slug = f"{slug}@{dataset.domain_version}"
    try:
        return find_domain(slug) if slug else None
    except ConceptError:
        return None


def _named(index: DatasetIndex, dataset: Dataset) -> DatasetCounts:
    strata = [one for one in index.strata_in_order if one]
    columns = tuple(strata[:MOST_STRATA])
    labels = _by_size({one: len(orders) for one, orders in index.asked.items()}, {})
    unasked = {one: count for one, count in index.n_things.items() if one and one not in index.asked}
    return DatasetCounts(
        strata=tuple(
            StratumCount(one, stratum_title(one), len(index.strata[one]), index.usable[one]) for one in strata
        ),
        concepts=_by_size(
            {one: len(orders) for one, orders in index.concepts.items()}, _concept_labels(dataset)
        ),
        labels=labels,
        label_rows=tuple(
            LabelCount(
                one.id,
                one.count,
                index.n_things[one.id],
                tuple(index.table[one.id, name] for name in columns),
            )
            for one in labels[:MOST_LABELS]
        ),
        columns=tuple(map(stratum_title, columns)),
        n_usable=index.n_usable,
        never_asked=_by_size(unasked, {})[:MOST_LABELS],
    )


def _by_size(counts: Mapping[str, int], words: Mapping[str, str]) -> tuple[Count, ...]:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(Count(name, words.get(name, name), count) for name, count in ordered)


def _concept_labels(dataset: Dataset) -> dict[str, str]:
    recipe = recipe_of(dataset)
    refs: Iterable[str] = recipe.domains.values() if recipe is not None else filter(None, [dataset.domain])
    labels: dict[str, str] = {}
    for ref in refs:
        try:
            labels |= {concept.id: concept.label for concept in find_domain(ref).concepts}
        except ConceptError:
            continue
    return labels
