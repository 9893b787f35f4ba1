"""Seed images from outside: an archive or a folder becomes a dataset, a slice at a time, whatever dies."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from django.conf import settings
from django.db import transaction

from searches.enums import DatasetOrigin, DatasetState, JobKind, Queue
from searches.models import Dataset, Job, User
from searches.services.archives import ArchiveLimits
from searches.services.dataset_imports_rows import printable
from searches.services.dataset_making import JobGoesOn
from searches.services.datasets import free_slug, store_dataset
from searches.services.job_queue import start_job
from searches.services.leases import JobLease, has_waiting_job, own_job
from searches.services.seed_import_files import ZipSource, forget_archive, keep_archive, kept_archive
from searches.services.seed_import_report import RECIPE_KEY, SeedImport, kept_refusals, seed_import_of
from searches.services.seed_import_work import SeedImportWork
from vlmlab.core.errors import ConfigError, VlmLabError
from vlmlab.core.seed_images.faults import SeedImportError
from vlmlab.core.seed_images.files import SourceFiles
from vlmlab.core.seed_images.finding import is_picture
from vlmlab.core.seed_images.importing import import_steps
from vlmlab.core.seed_images.report import ImportReport
from vlmlab.core.seed_images.settings import ImportLimits, ImportSettings

NEWS_SECONDS = 1.0


@dataclass(frozen=True)
class SeedLimits:
    """How much one import takes.

    Attributes:
        archive: of the archive.
        files: of what is in it.
        max_pixels: of all pictures together; None for no limit.
    """

    archive: ArchiveLimits
    files: ImportLimits
    max_pixels: int | None = None


WEB_LIMITS = SeedLimits(
    archive=ArchiveLimits(max_members=20_000, max_bytes=1_000_000_000),
    files=ImportLimits(
        max_files=20_000,
        max_pictures=5_000,
        max_things=200_000,
        max_note_bytes=300_000_000,
        max_held_bytes=100_000_000,
    ),
    max_pixels=1_000_000_000,
)
SHELL_LIMITS = SeedLimits(
    archive=ArchiveLimits(max_members=65_000, max_bytes=40_000_000_000), files=ImportLimits()
)


@dataclass(frozen=True)
class SeedWish:
    """What an upload of seed images shall become.

    Attributes:
        title: of the dataset.
        settings: how its files are read.
        slug: short name, made from the title where empty.
        description, licence, credits: for people; they travel with every export.
    """

    title: str
    settings: ImportSettings = field(default_factory=ImportSettings)
    slug: str = ""
    description: str = ""
    licence: str = ""
    credits: str = ""


def check_archive(file: BinaryIO, wish: SeedWish, *, limits: SeedLimits = WEB_LIMITS) -> None:
    """Refuse an upload that cannot become a dataset, as far as can be told without opening a picture.

    Raises:
        ArchiveError: the archive is refused.
        SeedImportError: settings are wrong, or the format cannot be told.
        ConfigError: title or short name are wrong.
    """
    check_wish(wish)
    files = ZipSource(file, limits.archive)
    import_steps(files, wish.settings, report=ImportReport(), limits=limits.files)


def check_wish(wish: SeedWish) -> None:
    """Refuse a dataset without a title, or under a short name that is taken.

    Raises:
        ConfigError: it is so.
    """
    if not wish.title.strip():
        raise ConfigError("Give the dataset a title.", field="title")
    free_slug(wish.title, wish.slug)


def start_import(file: BinaryIO, wish: SeedWish, *, name: str, by: User | None) -> tuple[Dataset, Job]:
    """Keep an upload and store the dataset that it shall become, and the job that makes it.

    Raises:
        VlmLabError: see ``check_archive``, or the disk is full.
    """
    check_archive(file, wish)
    archive = keep_archive(file)
    try:
        with transaction.atomic():
            dataset = new_dataset(wish, archive=name, by=by)
            params = {"dataset": dataset.slug, "archive": archive}
            job = start_job(JobKind.IMPORT_SEEDS, params, by=by, queue=Queue.CPU)
    except BaseException:
        forget_archive(archive)
        raise
    return dataset, job


def new_dataset(wish: SeedWish, *, archive: str, by: User | None) -> Dataset:
    """Store the row of a dataset that is to be imported.

    Raises:
        ConfigError: the short name is taken or cannot be an address.
    """
    seeds = SeedImport(archive=printable(archive[:200]), settings=wish.settings)
    return store_dataset(
        wish.title,
        wish.slug,
        description=wish.description.strip(),
        origin=DatasetOrigin.UPLOAD,
        state=DatasetState.MAKING,
        recipe={RECIPE_KEY: seeds.model_dump(mode="json")},
        credits=wish.credits.strip(),
        licence=wish.licence.strip()[:120],
        created_by=by,
    )


def import_seeds(job: Job) -> dict[str, Any]:
    """Import a slice of the upload of a job and return the job's result when it is complete.

    Raises:
        JobGoesOn: there is more to import.
        VlmLabError: it cannot be imported; the dataset says why.
    """
    archive, lease = str(job.params["archive"]), JobLease(str(job.pk), job.attempts, job.owner)
    dataset = Dataset.objects.filter(slug=job.params["dataset"]).first()
    if dataset is None:
        forget_archive(archive)
        raise VlmLabError("This dataset was deleted.", hint="Upload the files again.")
    if dataset.state == DatasetState.MAKING:
        try:
            with kept_archive(archive) as file:
                _slice(dataset, ZipSource(file, WEB_LIMITS.archive), job=job, lease=lease)
        except VlmLabError as error:
            if own_job(lease).exists():
                _fail(dataset, error)
                forget_archive(archive)
            raise
        dataset.refresh_from_db()
    if own_job(lease).exists():
        forget_archive(archive)
    if dataset.state == DatasetState.FAILED:
        raise VlmLabError(dataset.error)
    return _progress(dataset)


def import_now(
    files: SourceFiles,
    wish: SeedWish,
    *,
    name: str,
    by: User | None = None,
    limits: SeedLimits = SHELL_LIMITS,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Dataset:
    """Import seed images in this process; an import of the same short name that was cut off is done again.

    Args:
        files: a folder or an archive.
        wish: what it shall become.
        name: of the folder or archive.
        by: who imports it.
        limits: how much is taken.
        on_progress: called with the pictures looked at and those of the source.

    Raises:
        VlmLabError: settings are wrong, or no picture can be used; then nothing is stored.
    """
    _clear_cut_off(wish.slug)
    check_wish(wish)
    import_steps(files, wish.settings, report=ImportReport(), limits=limits.files)
    dataset, total = new_dataset(wish, archive=name, by=by), _n_pictures(files)
    try:
        work = SeedImportWork(dataset, files, limits=limits.files, max_pixels=limits.max_pixels)
        while work.step():
            on_progress(work.n_described, total)
        work.finish(n_files=total, by=by)
        dataset.refresh_from_db()
        if dataset.state == DatasetState.FAILED:
            raise _nothing_taken(dataset)
    except BaseException:
        dataset.delete()
        raise
    return dataset


def _slice(dataset: Dataset, files: SourceFiles, *, job: Job, lease: JobLease) -> None:
    work = SeedImportWork(
        dataset,
        files,
        limits=WEB_LIMITS.files,
        max_pixels=WEB_LIMITS.max_pixels,
        may_write=lambda: own_job(lease).exists(),
    )
    total = _n_pictures(files)
    ends_at, next_news = time.monotonic() + settings.SLICE_SECONDS, 0.0
    while work.step():
        now = time.monotonic()
        news = {"n_answered": min(work.n_described, total), "n_calls": total, "unit": "Pictures"}
        if now >= ends_at or has_waiting_job([job.queue]):
            if not work.save(n_files=total):
                return
            raise JobGoesOn(news)
        if now >= next_news:
            next_news = now + NEWS_SECONDS
            own_job(lease).update(result=news)
    work.finish(n_files=total, by=job.created_by)


def _fail(dataset: Dataset, error: VlmLabError) -> None:
    Dataset.objects.filter(pk=dataset.pk).update(state=DatasetState.FAILED, error=str(error))


def _progress(dataset: Dataset) -> dict[str, Any]:
    seeds = seed_import_of(dataset)
    return {
        "dataset": dataset.slug,
        "n_pictures": dataset.n_pictures,
        "n_refused": seeds.n_refused if seeds is not None else 0,
    }


def _nothing_taken(dataset: Dataset) -> SeedImportError:
    seeds = seed_import_of(dataset)
    refused = kept_refusals(seeds) if seeds is not None else ()
    first = " ".join(str(one) for one in refused[:3]) or "No file describes a picture."
    more = f" {len(refused) - 3:,} more." if len(refused) > 3 else ""
    return SeedImportError(f"No picture can be used. {first}{more}", hint="Correct the files and try again.")


def _n_pictures(files: SourceFiles) -> int:
    return sum(map(is_picture, files.names))


def _clear_cut_off(slug: str) -> None:
    """Delete what an import in a shell left that was killed, so that it can be done again."""
    left = Dataset.objects.filter(slug=slug, origin=DatasetOrigin.UPLOAD, state=DatasetState.MAKING).first()
    if left is None or seed_import_of(left) is None:
        return
    if not Job.objects.filter(kind=JobKind.IMPORT_SEEDS, params__dataset=slug).exists():
        left.delete()
