"""The files of a source: a folder, an archive, an upload; names are checked before any is opened."""

import os
import stat
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Protocol

from vlmlab.core.errors import VlmLabError
from vlmlab.core.seed_images.faults import FaultError, SeedImportError
from vlmlab.core.storable_values import UNSTORABLE

PICTURE_ENDINGS = (
    *(".png", ".jpg", ".jpeg", ".jpe", ".webp", ".bmp", ".gif"),
    *(".tif", ".tiff", ".heic", ".heif", ".avif", ".jp2", ".ppm", ".pgm"),
)
"""What rows may name; those of the second line are then refused as pictures that cannot be read."""

LITTER = frozenset({"__MACOSX", "Thumbs.db", "desktop.ini"})
CHUNK = 1 << 20


@dataclass(frozen=True)
class SkippedFile:
    """A file that is there and is not read, with the reason."""

    name: str
    reason: str


class SourceFiles(Protocol):
    """Files with paths relative to the source, ``/`` between folders; read one at a time."""

    @property
    def names(self) -> tuple[str, ...]:
        """The paths, sorted."""
        ...

    @property
    def skipped(self) -> tuple[SkippedFile, ...]:
        """What is there and may not be read."""
        ...

    def open(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Open a file of ``names`` for reading; it may be opened again later."""
        ...


class FolderSource:
    """The files below a folder; links, devices and hidden files are not read.

    Args:
        folder: an existing folder.
        max_files: how many are taken.

    Raises:
        SeedImportError: there is no such folder, or it has too many files.
    """

    def __init__(self, folder: Path, *, max_files: int = 200_000) -> None:
        if not folder.is_dir():
            raise SeedImportError(f"There is no folder {folder}.", hint="Check the path.", field="path")
        self._folder = folder
        self._names: list[str] = []
        self._skipped: list[SkippedFile] = []
        for root, folders, files in os.walk(folder, followlinks=False):
            self._take(Path(root), folders, files)
            if len(self._names) > max_files:
                raise SeedImportError(
                    f"The folder has more than {max_files:,} files.", hint="Import it in parts.", field="path"
                )

    @property
    def names(self) -> tuple[str, ...]:
        """The paths, sorted."""
        return tuple(sorted(self._names))

    @property
    def skipped(self) -> tuple[SkippedFile, ...]:
        """Links, devices, and files whose names cannot be written."""
        return tuple(self._skipped)

    @contextmanager
    def open(self, name: str) -> Iterator[BinaryIO]:
        """Open a file; one that became a link or a device since the folder was read is refused."""
        # O_NONBLOCK: a pipe without a writer would hold this process for ever.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        try:
            handle = os.open(self._folder / name, flags)
        except OSError as error:
            raise FaultError("file", f"cannot be read: {error.strerror}") from error
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise FaultError("name", "is no plain file")
            yield file

    def _take(self, root: Path, folders: list[str], files: list[str]) -> None:
        for name in list(folders):
            if (root / name).is_symlink():
                self._skip(root / name, "is a link to a folder")
                folders.remove(name)
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in LITTER)
        for name in sorted(files):
            path = root / name
            if name.startswith(".") or name in LITTER:
                continue
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                self._skip(path, "is a link")
            elif not stat.S_ISREG(mode):
                self._skip(path, "is no plain file")
            else:
                self._names.append(path.relative_to(self._folder).as_posix())

    def _skip(self, path: Path, reason: str) -> None:
        self._skipped.append(SkippedFile(path.relative_to(self._folder).as_posix(), reason))


class ReadFiles:
    """A source made of a list of names and a function that reads a whole file.

    Args:
        names: paths of all files.
        read: returns the content of a file; may raise ``VlmLabError`` for one it refuses.
    """

    def __init__(self, names: tuple[str, ...], read: Callable[[str], bytes]) -> None:
        self._names, self._read = tuple(sorted(names)), read

    @property
    def names(self) -> tuple[str, ...]:
        """The paths, sorted."""
        return self._names

    @property
    def skipped(self) -> tuple[SkippedFile, ...]:
        """Nothing: whoever made the list left it out."""
        return ()

    @contextmanager
    def open(self, name: str) -> Iterator[BinaryIO]:
        """Open a file, all of it in memory."""
        yield BytesIO(self._read(name))


def fault_of_name(name: str) -> str:
    """Return why a path is not used, "" for nothing; the answer is the end of a sentence."""
    if not name or UNSTORABLE.search(name):
        return "has a name that cannot be stored"
    if any(unicodedata.category(sign) == "Cc" for sign in name):
        return "has a control character in its name"
    if "\\" in name:
        return "has a backslash in its name"
    if name.startswith("/") or (len(name) > 1 and name[1] == ":"):
        return "has an absolute path"
    if any(part in ("", ".", "..") for part in name.split("/")):
        return "has a path that could lead outside"
    if len(name) > 500:
        return "has a path of more than 500 characters"
    return ""


@contextmanager
def opened(files: SourceFiles, name: str) -> Iterator[BinaryIO]:
    """Open a file of a source; what the source says against it, now or while it is read, becomes a fault.

    Raises:
        FaultError: the source refuses to read it.
        SeedImportError: the source ends the whole import.
    """
    try:
        with files.open(name) as stream:
            yield stream
    except SeedImportError:
        raise
    except VlmLabError as error:
        raise FaultError("file", f"cannot be read: {error.message.rstrip('.')}", hint=error.hint) from error
    except OSError as error:
        raise FaultError("file", f"cannot be read: {error.strerror or 'it is damaged'}") from error


def read_bounded(files: SourceFiles, name: str, *, max_bytes: int) -> bytes:
    """Return the content of a file.

    Raises:
        FaultError: it holds more than ``max_bytes``, or the source refuses to read it.
    """
    content = bytearray()
    with opened(files, name) as stream:
        while chunk := stream.read(min(CHUNK, max_bytes + 1 - len(content))):
            content += chunk
            if len(content) > max_bytes:
                raise FaultError("file", f"holds more than {max_bytes / 1e6:,.3g} MB")
    return bytes(content)
