"""Archives of seed images: read file by file, and kept on the disk until a worker has imported them."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO
from uuid import UUID, uuid4

from django.conf import settings
from django.utils import timezone

from searches.enums import JobKind
from searches.models import Job
from searches.services.archives import WHOLE_ARCHIVE, Archive, ArchiveError, ArchiveLimits
from searches.services.blobs import storage_error
from searches.services.job_queue import UNFINISHED
from vlmlab.core.errors import VlmLabError
from vlmlab.core.seed_images.files import SkippedFile

FOLDER = "imports"
"""Below the folder of pictures, because all machines of a lab share that one."""


class ZipSource:
    """The files of a ZIP archive; see ``archives`` for what is refused.

    Args:
        file: the archive.
        limits: what it may hold.

    Raises:
        ArchiveError: the archive is refused.
    """

    def __init__(self, file: BinaryIO, limits: ArchiveLimits) -> None:
        self._archive = Archive(file, limits)
        if self._archive.unpacked_bytes > limits.max_bytes:
            raise ArchiveError(
                f"The files of the archive hold {self._archive.unpacked_bytes / 1e9:,.1f} GB together; "
                f"at most {limits.max_bytes / 1e9:,.1f} GB are taken here.",
                hint="Split it, or import it with `manage.py import_dataset --kind seeds`.",
                field=WHOLE_ARCHIVE,
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The paths, sorted."""
        return tuple(sorted(self._archive.names))

    @property
    def skipped(self) -> tuple[SkippedFile, ...]:
        """Nothing: an archive with a link or a device is refused as a whole."""
        return ()

    @contextmanager
    def open(self, name: str) -> Iterator[BinaryIO]:
        """Open a file for reading."""
        with self._archive.stream(name) as stream:
            yield stream


def keep_archive(file: BinaryIO) -> str:
    """Write an uploaded archive to the disk, whole or not at all, and return its name.

    Raises:
        StorageError: the disk is full or the folder cannot be written.
    """
    name = str(uuid4())
    path = archive_path(name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as target:
                file.seek(0)
                shutil.copyfileobj(file, target, 1 << 20)
            Path(temporary).replace(path)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise storage_error(error) from error
    return name


@contextmanager
def kept_archive(name: str) -> Iterator[BinaryIO]:
    """Open a kept archive for reading.

    Raises:
        VlmLabError: it is not there any more.
    """
    try:
        file = archive_path(name).open("rb")
    except OSError as error:
        raise VlmLabError("The uploaded archive is not there any more.", hint="Upload it again.") from error
    with file:
        yield file


def forget_archive(name: str) -> None:
    """Delete a kept archive, if it is there."""
    archive_path(name).unlink(missing_ok=True)


def archive_path(name: str) -> Path:
    """Return where a kept archive lies, whether or not it exists.

    Raises:
        ValueError: ``name`` is none that ``keep_archive`` gave.
    """
    return Path(settings.BLOB_DIR) / FOLDER / f"{UUID(name)}.zip"


def sweep_archives(grace: timedelta) -> int:
    """Delete archives that no waiting import names, such as those of workers that died; return how many."""
    rows = Job.objects.filter(kind=JobKind.IMPORT_SEEDS, state__in=UNFINISHED)
    wanted = {f"{name}.zip" for name in rows.values_list("params__archive", flat=True)}
    limit = timezone.now().timestamp() - grace.total_seconds()
    folder = Path(settings.BLOB_DIR) / FOLDER
    left = [
        path
        for path in (*folder.glob("*.zip"), *folder.glob(".new-*"))
        if path.name not in wanted and path.stat().st_mtime < limit
    ]
    for path in left:
        path.unlink(missing_ok=True)
    return len(left)
