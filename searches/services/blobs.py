"""Content-addressed files on disk: written whole or not at all, touched on every reuse."""

import errno
import hashlib
import os
import tempfile
from pathlib import Path
from typing import BinaryIO

from django.conf import settings
from django.db.models.functions import Now
from django.utils import timezone

from searches.models import Blob
from vlmlab.core.errors import VlmLabError

SUFFIXES = {"image/png": ".png", "application/json": ".json"}
FULL_DISK = frozenset({errno.ENOSPC, errno.EDQUOT})


class StorageError(VlmLabError):
    """A file cannot be written or read; work waits until a person makes room or repairs the folder."""


def digest_of(content: bytes) -> str:
    """Return the SHA-256 of a file's content, which is its name."""
    return hashlib.sha256(content).hexdigest()


def blob_path(sha256: str, media_type: str = "image/png") -> Path:
    """Return where a file lies, whether or not it exists.

    Raises:
        ValueError: ``sha256`` is not 64 hexadecimal digits.
    """
    if len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef"):
        raise ValueError(f"sha256 must be 64 hexadecimal digits, got {sha256!r}")
    return Path(settings.BLOB_DIR) / sha256[:2] / f"{sha256}{SUFFIXES[media_type]}"


def write_file(content: bytes, media_type: str = "image/png") -> str:
    """Put a file on the disk, whole or not at all, and return its SHA-256; the row comes separately.

    Raises:
        StorageError: the disk is full or the folder cannot be written.
    """
    sha256 = digest_of(content)
    path = blob_path(sha256, media_type)
    try:
        if path.exists() and path.stat().st_size == len(content):
            return sha256
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.replace(temporary, path)  # noqa: PTH105 - the call that tests break to fill the disk
        except OSError:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise storage_error(error) from error
    return sha256


def storage_error(error: OSError) -> StorageError:
    """Return the sentence for a failed write."""
    if error.errno in FULL_DISK:
        return StorageError(
            "The disk for pictures is full.",
            hint="Make room on the disk of VLMLAB_BLOB_DIR (`manage.py collect_garbage` deletes pictures "
            "that nothing names any more), then resume; nothing that was answered is lost.",
        )
    return StorageError(
        f"A picture could not be stored: {os.strerror(error.errno or 0)}.",
        hint="Check the folder in VLMLAB_BLOB_DIR: it must exist and this user must be able to write to it.",
    )


def record_blobs(sizes: dict[str, int], media_type: str = "image/png") -> None:
    """Write the rows of files about to be written, and touch those that exist, to keep collection away."""
    now = timezone.now()
    rows = [
        Blob(sha256=sha256, size=size, media_type=media_type, touched_at=now)
        for sha256, size in sorted(sizes.items())  # one order for all writers: no deadlock
    ]
    Blob.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["sha256"], update_fields=["touched_at"]
    )


def store_blob(content: bytes, media_type: str = "image/png") -> str:
    """Store a file with its row and return its SHA-256.

    Raises:
        StorageError: the disk is full or the folder cannot be written.
    """
    record_blobs({digest_of(content): len(content)}, media_type)
    return write_file(content, media_type)


def open_blob(sha256: str) -> BinaryIO:
    """Open a stored file for reading.

    Raises:
        StorageError: it is not stored (any more).
    """
    try:
        return blob_path(sha256).open("rb")
    except (FileNotFoundError, ValueError):
        raise StorageError(
            "This picture is not kept.", hint="Pictures of passed samples can be drawn again from their seed."
        ) from None


def touch_blob(sha256: str) -> None:
    """Note that a stored file is used again, which keeps collection away until its new user is written."""
    Blob.objects.filter(pk=sha256).update(touched_at=Now())
