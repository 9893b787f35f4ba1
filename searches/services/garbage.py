"""Deletes what nobody needs any more: old jobs and sessions, pictures that nothing names."""

from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.module_loading import import_string

from searches.enums import JobState
from searches.models import Blob, Calibration, Dataset, DatasetPicture, Finding, Job, ModalityCase, Sample
from searches.services.blobs import blob_path
from searches.services.seed_import_files import sweep_archives

KEPT_JOBS = timedelta(days=7)
"""How long an ended job stays: people come back to a scene or an answer within days."""

CHUNK = 500


def collect_garbage(grace: timedelta = timedelta(hours=1), *, keep_jobs: timedelta = KEPT_JOBS) -> int:
    """Delete old jobs and sessions that are over, then files that nothing names and nobody touched lately.

    Args:
        grace: files touched within this time are spared.
        keep_jobs: jobs that ended within this time are spared, with their pictures.

    Returns:
        How many files were deleted.
    """
    ended = Job.objects.filter(state__in=(JobState.DONE, JobState.FAILED))
    ended.filter(finished_at__lt=Now() - keep_jobs).delete()
    SessionStore.clear_expired()
    return _sweep_blobs(grace) + _sweep_unfinished(grace) + sweep_archives(grace)


def _sweep_blobs(grace: timedelta) -> int:
    removed = 0
    old = Q(touched_at__lt=Now() - grace)
    candidates = list(Blob.objects.filter(old).values_list("pk", "media_type"))
    in_use = _named_by_jobs() | _named_by_findings() | _named_by_calibrations() | _named_by_datasets()
    in_use = in_use.union(*(import_string(namer)() for namer in settings.BLOB_NAMERS))
    for start in range(0, len(candidates), CHUNK):
        chunk = dict(candidates[start : start + CHUNK])
        in_rows = set(Sample.objects.filter(image_sha256__in=chunk).values_list("image_sha256", flat=True))
        cases = ModalityCase.objects.filter(image_sha256__in=chunk)
        in_rows.update(cases.values_list("image_sha256", flat=True))
        for sha256 in sorted(set(chunk) - in_rows - in_use):
            # A writer touches the row before it looks for the file; that waits for this transaction.
            with transaction.atomic():
                if Blob.objects.filter(old, pk=sha256).delete()[0]:
                    blob_path(sha256, chunk[sha256]).unlink(missing_ok=True)
                    removed += 1
    return removed


def _named_by_jobs() -> set[str]:
    rows = Job.objects.values_list("params__image_sha256", "result__image_sha256")
    return {sha256 for pair in rows.iterator(chunk_size=2000) for sha256 in pair if sha256}


def _named_by_findings() -> set[str]:
    return {sha256 for shas in Finding.objects.values_list("thumbnails", flat=True) for sha256 in shas}


def _named_by_calibrations() -> set[str]:
    rows = Calibration.objects.values_list("items", flat=True)
    return {item["image_sha256"] for items in rows.iterator(chunk_size=200) for item in items}


def _named_by_datasets() -> set[str]:
    pictures = DatasetPicture.objects.values_list("image_sha256", flat=True)
    reports = Dataset.objects.values_list("recipe__seeds__report_sha256", flat=True)
    return {*pictures.iterator(chunk_size=2000), *filter(None, reports)}


def _sweep_unfinished(grace: timedelta) -> int:
    root = Path(settings.BLOB_DIR)
    limit = timezone.now().timestamp() - grace.total_seconds()
    leftovers = [path for path in root.glob("??/.new-*") if path.stat().st_mtime < limit]
    for path in leftovers:
        path.unlink(missing_ok=True)
    return len(leftovers)
