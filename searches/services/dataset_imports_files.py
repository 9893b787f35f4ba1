"""The files of an upload, in a ZIP archive or in a folder, read one at a time."""

import os
from pathlib import Path
from typing import BinaryIO, Protocol

from searches.services.archives import Archive, ArchiveLimits, shown
from searches.services.dataset_imports_rows import ImportRefusedError


class UploadFiles(Protocol):
    """Files with paths relative to the upload, ``/`` between folders."""

    @property
    def names(self) -> tuple[str, ...]:
        """The paths, sorted."""
        ...

    def read(self, name: str, *, max_bytes: int) -> bytes:
        """Return the content of a file; raises ``VlmLabError`` when it is too large or cannot be read."""
        ...


class ZipFiles:
    """The files of a ZIP archive; see ``archives`` for what is refused.

    Raises:
        ArchiveError: the archive is refused.
    """

    def __init__(self, file: BinaryIO, limits: ArchiveLimits) -> None:
        self._archive = Archive(file, limits)

    @property
    def names(self) -> tuple[str, ...]:
        """The paths, sorted."""
        return tuple(sorted(self._archive.names))

    def read(self, name: str, *, max_bytes: int) -> bytes:
        """Return the content of a file."""
        return self._archive.read(name, max_bytes=max_bytes)


class FolderFiles:
    """The files below a folder; links are not followed.

    Raises:
        ImportRefusedError: there is no such folder, or it has too many files.
    """

    def __init__(self, folder: Path, limits: ArchiveLimits) -> None:
        if not folder.is_dir():
            raise ImportRefusedError(f"There is no folder {folder}.", hint="Check the path.", field="path")
        self._paths: dict[str, Path] = {}
        for root, folders, files in os.walk(folder, followlinks=False):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(files):
                path = Path(root) / name
                if not name.startswith(".") and not path.is_symlink():
                    self._paths[path.relative_to(folder).as_posix()] = path
            if len(self._paths) > limits.max_members:
                raise ImportRefusedError(
                    f"The folder has more than {limits.max_members:,} files.", hint="Import it in parts."
                )

    @property
    def names(self) -> tuple[str, ...]:
        """The paths, sorted."""
        return tuple(sorted(self._paths))

    def read(self, name: str, *, max_bytes: int) -> bytes:
        """Return the content of a file."""
        path = self._paths[name]
        try:
            with path.open("rb") as file:
                content = file.read(max_bytes + 1)
        except OSError as error:
            raise ImportRefusedError(f"{shown(name)} cannot be read: {error.strerror}.") from error
        if len(content) > max_bytes:
            raise ImportRefusedError(f"{shown(name)} holds more than {max_bytes / 1e6:,.0f} MB.")
        return content
