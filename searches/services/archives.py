"""Uploaded ZIP archives, read by hand: nothing is extracted to the disk, and every byte is counted."""

import io
import stat
import struct
import unicodedata
import zipfile
import zlib
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, BinaryIO

from vlmlab.core.errors import VlmLabError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

CHUNK = 1 << 16
END_RECORD = b"PK\x05\x06"
END_SIZE = 22
LONGEST_COMMENT = 0xFFFF
LOCATOR_64 = b"PK\x06\x07"
LOCATOR_64_SIZE = 20
DIRECTORY_BYTES_A_MEMBER = 1_024
FLAG_ENCRYPTED = 0x1
WHOLE_ARCHIVE = "archive"  # field of an error that is about all files together
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
LITTER = ("__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini")
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, struct.error, NotImplementedError, ValueError)


class ArchiveError(VlmLabError):
    """An uploaded archive is refused."""


@dataclass(frozen=True)
class ArchiveLimits:
    """What an archive may hold.

    Attributes:
        max_members: files and folders.
        max_bytes: of all files together, unpacked.
    """

    max_members: int = 5_000
    max_bytes: int = 1_000_000_000


DEFAULT_ARCHIVE_LIMITS = ArchiveLimits()


class Archive:
    """The files of a ZIP archive; what they hold is counted while it is read, whatever the archive says.

    Args:
        file: the archive, open for reading and seekable.
        limits: what it may hold.

    Raises:
        ArchiveError: it is no ZIP, too large, encrypted, or names a file in a way that could reach outside.
    """

    def __init__(self, file: BinaryIO, limits: ArchiveLimits = DEFAULT_ARCHIVE_LIMITS) -> None:
        self._limits = limits
        self._left = limits.max_bytes
        _check_directory_size(file, limits)
        try:
            self._zip = zipfile.ZipFile(file)
        except DAMAGE as error:
            raise _not_a_zip() from error
        members = self._zip.infolist()
        if len(members) > limits.max_members:
            raise _too_many(limits)
        _check_members(members)
        self._files = {
            member.filename: member
            for member in members
            if not member.is_dir() and not _is_litter(member.filename)
        }

    @property
    def names(self) -> tuple[str, ...]:
        """The paths of its files, with ``/`` between folders; folders and litter of systems are left out."""
        return tuple(self._files)

    def read(self, name: str, *, max_bytes: int) -> bytes:
        """Return the content of a file.

        Args:
            name: one of ``names``.
            max_bytes: what this file may hold.

        Raises:
            ArchiveError: it holds more, all files together hold more than allowed, or it is damaged.
        """
        member, content = self._files[name], bytearray()
        room = min(max_bytes, self._left)
        try:
            with self._zip.open(member) as stream:
                while chunk := stream.read(min(CHUNK, room + 1 - len(content))):
                    content += chunk
                    if len(content) > room:
                        raise self._too_large(name, max_bytes)
        except DAMAGE as error:
            raise _damaged(name) from error
        self._left -= len(content)
        return bytes(content)

    @property
    def unpacked_bytes(self) -> int:
        """What its files hold together, as it claims; ``stream`` never gives more of a file than claimed."""
        return sum(member.file_size for member in self._files.values())

    def stream(self, name: str) -> BinaryIO:
        """Open a file for reading piece by piece; nothing is counted.

        Raises:
            ArchiveError: it is damaged; also while it is read.
        """
        try:
            return io.BufferedReader(_GuardedStream(name, self._zip.open(self._files[name])), CHUNK)
        except DAMAGE as error:
            raise _damaged(name) from error

    def _too_large(self, name: str, max_bytes: int) -> ArchiveError:
        if max_bytes <= self._left:
            return ArchiveError(
                f"{shown(name)} holds more than {max_bytes / 1e6:,.0f} MB.", hint="Make it smaller."
            )
        return ArchiveError(
            f"The files of the archive hold more than {self._limits.max_bytes / 1e6:,.0f} MB together.",
            hint="Split it into smaller ones.",
            field=WHOLE_ARCHIVE,
        )


class _GuardedStream(io.RawIOBase):
    """A file of an archive; damage that is found on the way is told as such."""

    def __init__(self, name: str, stream: IO[bytes]) -> None:
        self._name, self._stream = name, stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer).cast("B")
        try:
            piece = self._stream.read(len(view))
        except DAMAGE as error:
            raise _damaged(self._name) from error
        view[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        self._stream.close()
        super().close()


def shown(name: str) -> str:
    """Return a file's name as a sentence can hold it: printable, and short."""
    plain = "".join(sign if sign.isprintable() else "?" for sign in name)
    return f"“{plain if len(plain) <= 80 else f'…{plain[-79:]}'}”"


def _check_directory_size(file: BinaryIO, limits: ArchiveLimits) -> None:
    """Read the end of the archive before ``zipfile`` reads its whole table of contents into memory."""
    length = file.seek(0, 2)
    file.seek(max(0, length - END_SIZE - LONGEST_COMMENT - LOCATOR_64_SIZE))
    tail = file.read()
    end = len(tail) - END_SIZE
    if end < 0 or tail[end : end + 4] != END_RECORD or tail[-2:] != b"\0\0":
        end = tail.rfind(END_RECORD)
    if end < 0 or len(tail) - end < END_SIZE:
        raise _not_a_zip()
    (directory_bytes,) = struct.unpack("<L", tail[end + 12 : end + 16])
    if tail[max(0, end - LOCATOR_64_SIZE) : end].startswith(LOCATOR_64):
        raise ArchiveError(
            "The archive is written in the ZIP64 format.",
            hint="Pack fewer files, or pack them with another program.",
        )
    if directory_bytes > limits.max_members * DIRECTORY_BYTES_A_MEMBER:
        raise _too_many(limits)
    file.seek(0)


def _check_members(members: list[zipfile.ZipInfo]) -> None:
    seen: dict[str, str] = {}
    for member in members:
        name = member.orig_filename
        fault = _fault_of_name(name) or _fault_of_member(member)
        if fault:
            raise ArchiveError(
                f"The archive is refused: {shown(name)} {fault}.",
                hint="Pack plain files and folders below one folder, without a password.",
            )
        plain = unicodedata.normalize("NFC", name.rstrip("/")).casefold()
        if plain in seen:
            raise ArchiveError(
                f"The archive is refused: {shown(seen[plain])} and {shown(name)} are one file on many "
                "systems.",
                hint="Give each file a name of its own.",
            )
        seen[plain] = name


def _fault_of_name(name: str) -> str:
    """Return what is wrong with the path of a member, "" for nothing."""
    if "\0" in name:
        return "has a NUL in its name"
    if "\\" in name:
        return "has a backslash in its name"
    if name.startswith("/"):
        return "is an absolute path"
    if len(name) > 1 and name[1] == ":":
        return "names a drive"
    if any(part in ("", ".", "..") for part in name.removesuffix("/").split("/")):
        return "is a path that could lead outside"
    return ""


def _fault_of_member(member: zipfile.ZipInfo) -> str:
    """Return why a member is not read whatever its name is, "" for nothing."""
    if member.flag_bits & FLAG_ENCRYPTED:
        return "is encrypted"
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is a link or a device"
    if member.compress_type not in METHODS:
        return "is packed with a method that is rarely used"
    return ""


def _is_litter(name: str) -> bool:
    parts = name.split("/")
    return any(part in LITTER for part in parts) or parts[-1].startswith("._")


def _damaged(name: str) -> ArchiveError:
    return ArchiveError(f"{shown(name)} is damaged in the archive.", hint="Pack it again and send it again.")


def _not_a_zip() -> ArchiveError:
    return ArchiveError("This is not a ZIP archive, or it is damaged.", hint="Pack the folder as a ZIP file.")


def _too_many(limits: ArchiveLimits) -> ArchiveError:
    return ArchiveError(
        f"The archive has more than {limits.max_members:,} files.", hint="Split it into smaller ones."
    )
