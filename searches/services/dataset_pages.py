"""What the pages of datasets show: the list, one with its counts and pictures, one picture with its truth."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.urls import reverse

from searches.enums import DatasetState, JobState
from searches.models import Blob, Dataset, DatasetPicture, Job
from searches.services.datasets import Recipe, making_job, recipe_of, why_kept
from searches.services.domain_store import find_domain
from searches.services.job_queue import UNFINISHED
from searches.services.scene_facts import SceneFacts, decision_line, indented, made_by, truth_lines
from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.render.backends import SCENE_BACKENDS
from vlmlab.core.scenes.strata import STRATA
from vlmlab.web.boxed_pictures import BoxedPicture, DrawnBox, read_box

PAGE_SIZE = 24
CHUNK = 500


@dataclass(frozen=True)
class Count:
    """How many pictures have something."""

    id: str
    label: str
    count: int


@dataclass(frozen=True)
class DatasetCounts:
    """What is in a dataset: pictures by stratum and concept, things by label (only those asked for count)."""

    strata: tuple[Count, ...]
    concepts: tuple[Count, ...]
    labels: tuple[Count, ...]


@dataclass(frozen=True)
class GalleryPart:
    """Pictures in their order; ``after`` is where the next ones start, None at the end."""

    pictures: list[DatasetPicture]
    kept: frozenset[str]
    after: int | None
    is_first: bool


@dataclass(frozen=True)
class DatasetPage:
    """One dataset.

    Attributes:
        job: that draws it, or drew it last; None where nobody remembers one.
        kept_by: why it cannot be deleted, "" when it can.
        domain_ref: of the domain that all its concepts are from, "" where they are from several.
    """

    dataset: Dataset
    recipe: Recipe | None
    counts: DatasetCounts
    job: Job | None
    kept_by: str

    @property
    def is_at_work(self) -> bool:
        """Whether a worker has it or will take it."""
        return self.job is not None and self.job.state in UNFINISHED

    @property
    def drawn_by(self) -> str:
        """Name of what draws it."""
        if self.recipe is None:
            return ""
        kind = SCENE_BACKENDS.get(self.recipe.backend)
        return kind.title if kind is not None else self.recipe.backend

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
    """One picture of a dataset; ``boxed`` is None where its file is not kept."""

    row: DatasetPicture
    domain: Domain | None
    boxed: BoxedPicture | None
    facts: SceneFacts
    previous: int | None
    following: int | None

    @property
    def stratum(self) -> str:
        """What its kind of scene is called, "" where it has none."""
        return stratum_title(self.row.stratum) if self.row.stratum else ""


def dataset_rows() -> QuerySet[Dataset]:
    """Return the datasets for a list, newest first."""
    return Dataset.objects.select_related("created_by").order_by("-id")


def stratum_title(name: str) -> str:
    """Return what a kind of scene is called."""
    return STRATA[name].title if name in STRATA else name.replace("_", " ")


def dataset_page(dataset: Dataset) -> DatasetPage:
    """Return what the page of a dataset shows beside its pictures."""
    is_settled = dataset.state == DatasetState.READY
    counts = _settled_counts(dataset.pk, dataset.created_at) if is_settled else _count(dataset.pk)
    return DatasetPage(
        dataset=dataset,
        recipe=recipe_of(dataset),
        counts=_named(counts, dataset),
        job=making_job(dataset),
        kept_by=why_kept(dataset),
    )


def gallery(
    dataset: Dataset, *, stratum: str = "", concept: str = "", after: int | None = None
) -> GalleryPart:
    """Return pictures of a dataset, those after a place."""
    rows = dataset.pictures.order_by("order").defer("description", "annotations")
    if stratum:
        rows = rows.filter(stratum=stratum)
    if concept:
        # No database but PostgreSQL looks into a JSON list; its text is the same on all of them.
        rows = rows.annotate(words=Cast("concepts", TextField())).filter(words__contains=f'"{concept}"')
    if after is not None:
        rows = rows.filter(order__gt=after)
    found = list(rows[: PAGE_SIZE + 1])
    shown = found[:PAGE_SIZE]
    following = shown[-1].order if len(found) > PAGE_SIZE else None
    kept = Blob.objects.filter(pk__in={one.image_sha256 for one in shown}).values_list("pk", flat=True)
    return GalleryPart(shown, frozenset(kept), following, after is None)


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
    return PicturePage(row, domain, boxed, facts, before, behind)


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


Tally = tuple[tuple[str, int], ...]


@lru_cache(maxsize=64)
def _settled_counts(pk: int, _created_at: datetime) -> tuple[Tally, Tally, Tally]:
    """A dataset that is ready changes no more, so it is counted once a process."""
    return _count(pk)


def _count(pk: int) -> tuple[Tally, Tally, Tally]:
    strata: Counter[str] = Counter()
    concepts: Counter[str] = Counter()
    labels: Counter[str] = Counter()
    rows = DatasetPicture.objects.filter(dataset_id=pk).values_list("stratum", "concepts", "annotations")
    for stratum, named, truth in rows.iterator(chunk_size=CHUNK):
        strata[stratum] += 1
        concepts.update(named)
        labels.update({one.get("label", "") for one in truth if one.get("is_asked", True)} - {""})
    return _sorted(strata), _sorted(concepts), _sorted(labels)


def _sorted(counter: Counter[str]) -> Tally:
    return tuple(sorted(counter.items(), key=lambda pair: (-pair[1], pair[0])))


def _named(counts: tuple[Tally, Tally, Tally], dataset: Dataset) -> DatasetCounts:
    strata, concepts, labels = counts
    words = _concept_labels(dataset)
    by_id = dict(strata)
    ordered = [(name, by_id[name]) for name in STRATA if name in by_id]
    ordered += [(name, count) for name, count in strata if name and name not in STRATA]
    return DatasetCounts(
        strata=tuple(Count(name, stratum_title(name), count) for name, count in ordered),
        concepts=tuple(Count(one, words.get(one, one), count) for one, count in concepts),
        labels=tuple(Count(one, one, count) for one, count in labels),
    )


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
