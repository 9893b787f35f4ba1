"""Datasets: how one is asked for, its digest, and what is kept from being deleted."""

import hashlib
import json
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.text import slugify
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from searches.enums import DatasetOrigin, DatasetState, JobKind, JobState
from searches.models import Dataset, Job, PictureSource, User
from searches.services.audit import record
from searches.services.domain_store import current_domain, find_domain, keep_domain
from searches.services.job_queue import UNFINISHED
from searches.services.source_obstacles import obstacle_of
from vlmlab.core.errors import ConfigError, VlmLabError
from vlmlab.core.scenes.render.backends import EMBEDDED, SCENE_BACKENDS
from vlmlab.core.scenes.render.credits import credit_lines
from vlmlab.core.scenes.strata import STRATA, find_stratum

MOST_PICTURES = 20_000
RESERVED_SLUGS = ("new", "upload")
CHUNK = 200
MAKING_KINDS = (JobKind.MAKE_DATASET, JobKind.IMPORT_SEEDS)
TRIES_FOR_A_SLUG = 5


class Recipe(BaseModel):
    """How a dataset is drawn from scenes; a picture depends on it and its place only.

    Attributes:
        n: pictures in all, dealt to the strata in turn.
        domains: slug of each domain -> the version that is drawn, fixed when the dataset is asked for.
        refused: places that no scene was found for, with the reason.
        digest: of all pictures and annotations, once they are made.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    n: int = Field(ge=1, le=MOST_PICTURES)
    seed: int = Field(0, ge=0, le=2**31 - 1)
    strata: tuple[str, ...] = tuple(STRATA)
    width: int = Field(448, ge=128, le=1280)
    height: int = Field(336, ge=96, le=1280)
    backend: str = EMBEDDED
    domains: dict[str, str] = {}
    refused: dict[int, str] = {}
    digest: str = ""

    @field_validator("strata")
    @classmethod
    def _are_known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if not names:
            raise ValueError("choose at least one kind of scene")
        for name in names:
            find_stratum(name)
        return tuple(name for name in STRATA if name in names)

    def place(self, order: int) -> tuple[str, int]:
        """Return the stratum of a place and the number of the picture within it."""
        return self.strata[order % len(self.strata)], order // len(self.strata)


def recipe_of(dataset: Dataset) -> Recipe | None:
    """Return how a dataset was drawn; None where it was uploaded or the stored recipe cannot be read."""
    if dataset.origin != DatasetOrigin.SCENES:
        return None
    try:
        return Recipe.model_validate(dataset.recipe)
    except (ValidationError, VlmLabError):
        return None


def checked_recipe(**values: object) -> Recipe:
    """Return a recipe, with the domain versions that its strata need.

    Raises:
        ConfigError: a value is out of range, or the picture source cannot make annotated pictures of them.
    """
    try:
        recipe = Recipe.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]) if first["loc"] else ""
        raise ConfigError(
            f"{name.capitalize() or 'A value'} is refused: {first['msg'].removeprefix('Value error, ')}.",
            field=name or None,
        ) from error
    slugs = sorted({find_stratum(name).domain for name in recipe.strata})
    check_backend(recipe.backend, slugs)
    return recipe.model_copy(update={"domains": {slug: current_domain(slug).ref for slug in slugs}})


def check_backend(slug: str, domains: list[str]) -> None:
    """See that a picture source can make annotated pictures of domains.

    Raises:
        ConfigError: there is none of this slug, it is off, or it does not know where things are.
    """
    if slug == EMBEDDED:
        return
    source = PictureSource.objects.select_related("dataset").filter(slug=slug).first()
    if source is None:
        raise ConfigError(f"There is no picture source “{slug}”.", field="backend")
    kind = SCENE_BACKENDS.get(source.kind)
    if kind is not None and not (kind.has_boxes and kind.is_described):
        raise ConfigError(
            f"{source.name} draws no scenes with annotations from a seed.",
            hint="Choose the embedded renderer, or a source that draws scenes.",
            field="backend",
        )
    for name in domains:
        obstacle = obstacle_of(source, current_domain(name))
        if obstacle:
            raise ConfigError(obstacle, field="backend")


def free_slug(title: str, wanted: str = "") -> str:
    """Return the short name of a new dataset.

    Raises:
        ConfigError: the wanted one is taken or cannot be an address.
    """
    if wanted:
        if slugify(wanted) != wanted or wanted in RESERVED_SLUGS or len(wanted) > 64:
            raise ConfigError(
                f"“{wanted}” cannot be a short name.",
                hint="Use small letters, digits and hyphens, at most 64.",
                field="slug",
            )
        if Dataset.objects.filter(slug=wanted).exists():
            raise ConfigError(f"There is a dataset “{wanted}” already.", field="slug")
        return wanted
    stem = slugify(title)[:56].strip("-") or "dataset"
    taken = set(Dataset.objects.filter(slug__startswith=stem).values_list("slug", flat=True))
    taken.update(RESERVED_SLUGS)
    number, slug = 1, stem
    while slug in taken:
        number += 1
        slug = f"{stem}-{number}"
    return slug


def store_dataset(title: str, wanted: str = "", **values: Any) -> Dataset:
    """Store the row of a new dataset under a free short name, whoever else takes one at the same moment.

    Raises:
        ConfigError: the wanted short name is taken or cannot be an address.
    """
    for tries_left in reversed(range(TRIES_FOR_A_SLUG)):
        slug = free_slug(title, wanted)
        try:
            with transaction.atomic():
                return Dataset.objects.create(slug=slug, title=title.strip()[:120], **values)
        except IntegrityError:  # somebody else took it just now
            if not tries_left:
                raise
    raise AssertionError("unreachable")


@transaction.atomic
def create_dataset(recipe: Recipe, *, title: str, by: User | None, slug: str = "", text: str = "") -> Dataset:
    """Store a dataset that is to be drawn; whoever makes it starts with its first picture.

    Raises:
        ConfigError: the title is empty, or the short name is taken.
    """
    if not title.strip():
        raise ConfigError("Give the dataset a title.", field="title")
    one_domain = next(iter(recipe.domains)) if len(recipe.domains) == 1 else ""
    credit, licence = credits_of_backend(recipe.backend)
    dataset = store_dataset(
        title,
        slug,
        description=text.strip(),
        origin=DatasetOrigin.SCENES,
        state=DatasetState.MAKING,
        domain=one_domain,
        domain_version=recipe.domains[one_domain].partition("@")[2] if one_domain else "",
        recipe=recipe.model_dump(mode="json"),
        credits=credit,
        licence=licence,
        created_by=by,
    )
    for ref in recipe.domains.values():
        keep_domain(find_domain(ref), by_id=by.pk if by else None)
    wish = recipe.model_dump(mode="json", exclude={"refused", "digest", "domains"})
    record(by, "started a dataset", dataset, after=wish)
    return dataset


def credits_of_backend(slug: str) -> tuple[str, str]:
    """Return whom pictures of a back end are owed to, and on what terms: credits, licence."""
    if slug == EMBEDDED:
        return credit_lines(), "CC-BY 3.0 and CC0 1.0, see the credits"
    source = PictureSource.objects.select_related("dataset").filter(slug=slug).first()
    if source is None:
        return "", ""
    if source.dataset is not None:
        return source.dataset.credits, source.dataset.licence
    kind = SCENE_BACKENDS.get(source.kind)
    return f"Pictures made by {source.name} ({kind.title if kind else source.kind}).", ""


def find_dataset(slug: str) -> Dataset | None:
    """Return a dataset with who made it."""
    return Dataset.objects.select_related("created_by").filter(slug=slug).first()


def making_job(dataset: Dataset) -> Job | None:
    """Return the last job that makes a dataset; jobs are forgotten a week after they ended."""
    jobs = Job.objects.filter(kind__in=MAKING_KINDS, params__dataset=dataset.slug)
    return jobs.order_by("-created_at").first()


def died_because(dataset: Dataset) -> str:
    """Return why nobody makes a dataset that is still to be made, "" while somebody does or will."""
    job = making_job(dataset) if dataset.state == DatasetState.MAKING else None
    return f"{job.error} {job.hint}".strip() if job is not None and job.state == JobState.FAILED else ""


def pictures_digest(dataset: Dataset) -> str:
    """Return SHA-256 over the pictures and annotations of a dataset, in order."""
    total = hashlib.sha256()
    rows = dataset.pictures.order_by("order").values_list("order", "image_sha256", "annotations")
    for order, sha256, annotations in rows.iterator(chunk_size=CHUNK):
        truth = json.dumps(annotations, sort_keys=True, separators=(",", ":"))
        total.update(f"{order}\t{sha256}\t{truth}\n".encode())
    return total.hexdigest()


def why_kept(dataset: Dataset) -> str:
    """Return what keeps a dataset from being deleted; "" when nothing does."""
    names = list(dataset.sources.order_by("name").values_list("name", flat=True)[:3])
    if names:
        return f"The picture source {' and '.join(f'“{name}”' for name in names)} draws from it."
    jobs = Job.objects.filter(kind__in=MAKING_KINDS, params__dataset=dataset.slug, state__in=UNFINISHED)
    if jobs.exists():
        return "It is being made."
    searches = list(dataset.campaigns.order_by("name").values_list("name", flat=True)[:3])
    if searches:
        return f"The modality search {' and '.join(f'“{name}”' for name in searches)} starts from it."
    return ""


@transaction.atomic
def delete_dataset(dataset: Dataset, *, by: User | None) -> None:
    """Delete a dataset that nothing uses; its pictures go with the next collection of garbage.

    Raises:
        VlmLabError: something uses it.
    """
    locked = Dataset.objects.select_for_update().get(pk=dataset.pk)
    reason = why_kept(locked)
    if reason:
        raise VlmLabError(
            f"{locked.title} is not deleted. {reason}", hint="Stop or change what uses it, then delete it."
        )
    record(by, "deleted", locked, before={"slug": locked.slug, "pictures": locked.n_pictures})
    locked.delete()
