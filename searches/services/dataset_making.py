"""Draws the pictures of a dataset, a slice at a time; what is there already is never drawn again."""

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from django.conf import settings
from django.db import transaction

from searches.enums import DatasetState, JobKind, JobState, Queue
from searches.models import Dataset, DatasetPicture, Job, User
from searches.services.audit import record
from searches.services.blobs import store_blob
from searches.services.datasets import Recipe, create_dataset, making_job, pictures_digest, recipe_of
from searches.services.domain_store import find_domain
from searches.services.job_queue import UNFINISHED, start_job
from searches.services.leases import JobLease, has_waiting_job, own_job
from searches.services.scene_sources import scene_source
from vlmlab.core.errors import GenerationError, SourceAwayError, VlmLabError
from vlmlab.core.scenes.strata import AnnotatedScene, draw_annotated, find_stratum

STOPPED = "It was stopped."
GO_ON = "What is drawn is kept; go on whenever you like."
UPLOAD_AGAIN = "Upload the archive again to import it."


class JobGoesOn(Exception):  # noqa: N818 - not an error: the rest is for the next slice
    """A slice of a long job is done; the job goes back into the queue with its progress."""

    def __init__(self, progress: dict[str, Any]) -> None:
        super().__init__("to be continued")
        self.progress = progress


@dataclass(frozen=True)
class Progress:
    """How far a dataset is: pictures drawn, places without one, places in all."""

    drawn: int
    refused: int
    total: int

    @property
    def as_result(self) -> dict[str, Any]:
        """Return what the page of a job at work shows."""
        return {"n_answered": self.drawn + self.refused, "n_calls": self.total, "unit": "Pictures"}


@transaction.atomic
def start_dataset(
    recipe: Recipe, *, title: str, by: User | None, slug: str = "", text: str = ""
) -> tuple[Dataset, Job]:
    """Store a dataset and the job that draws it.

    Raises:
        ConfigError: the title is empty, or the short name is taken.
    """
    dataset = create_dataset(recipe, title=title, by=by, slug=slug, text=text)
    return dataset, _queue(dataset, by=by)


@transaction.atomic
def go_on(dataset: Dataset, *, by: User | None) -> Job:
    """Queue a dataset again that was stopped or failed; while a job is at it, that one is returned.

    Raises:
        VlmLabError: it is not drawn from scenes, or complete.
    """
    locked = Dataset.objects.select_for_update().get(pk=dataset.pk)
    if locked.state == DatasetState.READY or recipe_of(locked) is None:
        raise VlmLabError(f"There is nothing left to draw for {locked.title}.")
    job = making_job(locked)
    if job is not None and job.state in UNFINISHED:
        return job
    Dataset.objects.filter(pk=locked.pk).update(state=DatasetState.MAKING, error="")
    record(by, "went on with", locked)
    return _queue(locked, by=by)


@transaction.atomic
def stop_dataset(dataset: Dataset, *, by: User | None) -> None:
    """Stop the making of a dataset; whoever is at it ends after its picture.

    Raises:
        VlmLabError: nobody makes it.
    """
    locked = Dataset.objects.select_for_update().get(pk=dataset.pk)
    job = making_job(locked) if locked.state == DatasetState.MAKING else None
    rows = Job.objects.filter(pk=job.pk, state__in=UNFINISHED) if job is not None else Job.objects.none()
    is_import = "seeds" in locked.recipe
    hint = UPLOAD_AGAIN if is_import else GO_ON
    if not rows.update(state=JobState.FAILED, error=STOPPED, hint=hint, lease_expires=None):
        raise VlmLabError(f"Nobody {'imports' if is_import else 'draws'} {dataset.title} at the moment.")
    error = f"{STOPPED} {UPLOAD_AGAIN}" if is_import else STOPPED
    Dataset.objects.filter(pk=dataset.pk).update(state=DatasetState.FAILED, error=error)
    record(by, "stopped", dataset)


def make_dataset(job: Job) -> dict[str, Any]:
    """Draw a slice of the dataset of a job and return the job's result when it is complete.

    Raises:
        JobGoesOn: there is more to draw.
        VlmLabError: it cannot be drawn; the dataset says why.
    """
    dataset = Dataset.objects.filter(slug=job.params["dataset"]).first()
    if dataset is None:
        raise VlmLabError("This dataset was deleted.")
    lease = JobLease(str(job.pk), job.attempts, job.owner)
    ends_at = time.monotonic() + settings.SLICE_SECONDS
    progress = None
    try:
        for progress in make_pictures(dataset, may_write=lambda: own_job(lease).exists()):
            own_job(lease).update(result=progress.as_result)
            if time.monotonic() >= ends_at or has_waiting_job([job.queue]):
                raise JobGoesOn(progress.as_result)
    except VlmLabError as error:
        if own_job(lease).exists():
            Dataset.objects.filter(pk=dataset.pk).update(state=DatasetState.FAILED, error=str(error))
        raise
    dataset.refresh_from_db()
    if dataset.error:
        raise VlmLabError(dataset.error, hint="Its page says why, place by place.")
    done = dataset.n_pictures
    return {"dataset": dataset.slug, "n_answered": done, "n_calls": done, "unit": "Pictures"}


def make_pictures(dataset: Dataset, *, may_write: Callable[[], bool] = lambda: True) -> Iterator[Progress]:
    """Draw the missing pictures of a dataset one by one, and make it ready at the end.

    Args:
        dataset: drawn from scenes.
        may_write: asked in the transaction that writes a picture; False ends the drawing.

    Yields:
        How far it is, after each place.

    Raises:
        VlmLabError: the recipe cannot be read, or no scene at all can be made now.
    """
    recipe = recipe_of(dataset)
    if recipe is None:
        raise VlmLabError(
            "This dataset was asked for by another version of the lab.",
            hint="Make it again under a new name.",
        )
    done = set(dataset.pictures.values_list("order", flat=True))
    refused = dict(recipe.refused)
    for order in range(recipe.n):
        if order in done or order in refused:
            continue
        try:
            drawn = _draw(recipe, order)
        except SourceAwayError:
            raise
        except GenerationError as error:
            refused[order] = str(error)
            drawn = None
        if not _write(dataset, recipe, order, drawn, refused=refused, may_write=may_write):
            return
        done.update([order] if drawn is not None else [])
        yield Progress(len(done), len(refused), recipe.n)
    _finish(dataset, recipe, refused, may_write=may_write)


def _queue(dataset: Dataset, *, by: User | None) -> Job:
    return start_job(JobKind.MAKE_DATASET, {"dataset": dataset.slug}, by=by, queue=Queue.CPU)


def _draw(recipe: Recipe, order: int) -> AnnotatedScene:
    name, index = recipe.place(order)
    stratum = find_stratum(name)
    domain = find_domain(recipe.domains.get(stratum.domain, stratum.domain))
    source = scene_source(domain, recipe.backend, width=recipe.width, height=recipe.height)
    size = (recipe.width, recipe.height)
    return draw_annotated(stratum, domain, source, seed=recipe.seed, index=index, size=size)


def _write(
    dataset: Dataset,
    recipe: Recipe,
    order: int,
    drawn: AnnotatedScene | None,
    *,
    refused: dict[int, str],
    may_write: Callable[[], bool],
) -> bool:
    """Write one place; False when another worker, or nobody, is to go on."""
    row = _row(dataset, recipe, order, drawn) if drawn is not None else None
    with transaction.atomic():
        locked = Dataset.objects.select_for_update().filter(pk=dataset.pk).first()
        if locked is None or not may_write():
            return False
        if row is None:
            locked.recipe = {**locked.recipe, "refused": {str(at): why for at, why in refused.items()}}
            locked.save(update_fields=["recipe"])
            return True
        _, is_new = DatasetPicture.objects.get_or_create(
            dataset=locked, order=order, defaults={name: getattr(row, name) for name in _COLUMNS}
        )
        if is_new:
            locked.n_pictures += 1
            locked.save(update_fields=["n_pictures"])
    return True


_COLUMNS = (
    "file_name", "image_sha256", "width", "height", "stratum", "concepts", "annotations", "description",
    "description_digest", "scene_seed", "attempt", "provenance",
)  # fmt: skip


def _row(dataset: Dataset, recipe: Recipe, order: int, drawn: AnnotatedScene) -> DatasetPicture:
    scene = drawn.scene
    return DatasetPicture(
        dataset=dataset,
        order=order,
        file_name=f"{drawn.stratum}_{drawn.index:05d}.png",
        image_sha256=store_blob(scene.image_png),
        width=recipe.width,
        height=recipe.height,
        stratum=drawn.stratum,
        concepts=list(scene.description.concepts),
        annotations=[_plain(asdict(one)) for one in drawn.truth],
        description=_plain(asdict(scene.description)),
        description_digest=scene.description.digest,
        scene_seed=scene.description.seed,
        attempt=scene.description.attempt,
        provenance=dict(scene.provenance),
    )


def _plain(value: Any) -> Any:
    """Return a value as it comes back from JSON."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def _finish(
    dataset: Dataset, recipe: Recipe, refused: dict[int, str], *, may_write: Callable[[], bool]
) -> None:
    digest = pictures_digest(dataset)
    with transaction.atomic():
        locked = Dataset.objects.select_for_update().filter(pk=dataset.pk).first()
        if locked is None or not may_write():
            return
        done = recipe.model_copy(update={"refused": refused, "digest": digest})
        locked.recipe = done.model_dump(mode="json")
        locked.n_pictures = locked.pictures.count()
        is_empty = locked.n_pictures == 0
        locked.state = DatasetState.FAILED if is_empty else DatasetState.READY
        locked.error = "No picture could be drawn." if is_empty else ""
        locked.save(update_fields=["recipe", "n_pictures", "state", "error"])
