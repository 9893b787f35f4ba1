"""Reads foreign tables row by row: any separator, byte-order marks, quotes, line breaks within quotes."""

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO

from vlmlab.core.seed_images.faults import FaultError
from vlmlab.core.seed_images.files import SourceFiles, opened
from vlmlab.core.seed_images.settings import ImportLimits

SEPARATORS = ",;\t|"
HEAD_BYTES = 1 << 16


@dataclass(frozen=True)
class TableRow:
    """One row.

    Attributes:
        number: of the row from 1, the header counted; rows with line breaks in them count once.
        cells: its texts.
    """

    number: int
    cells: list[str]


class _Counted(io.RawIOBase):
    """A stream that ends with a fault where it holds too much."""

    def __init__(self, stream: BinaryIO, max_bytes: int) -> None:
        self._stream, self._left, self._most = stream, max_bytes, max_bytes

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]  # what io hands in
        """Read into a buffer."""
        piece = self._stream.read(len(buffer))
        self._left -= len(piece)
        if self._left < 0:
            raise FaultError("file", f"holds more than {self._most / 1e6:,.3g} MB")
        buffer[: len(piece)] = piece
        return len(piece)


def table_rows(
    stream: BinaryIO, *, separator: str, max_bytes: int, max_characters: int
) -> Iterator[TableRow]:
    """Give the rows of a table; empty ones are passed over.

    Args:
        stream: UTF-8, or UTF-16 with a byte-order mark.
        separator: between cells; a blank stands for any number of blanks.
        max_bytes: of the table.
        max_characters: of a row.

    Raises:
        FaultError: another encoding, a quote that is never closed, or too much.
    """
    buffered = io.BufferedReader(_Counted(stream, max_bytes), HEAD_BYTES)
    encoding = "utf-16" if buffered.peek(2)[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    text = io.TextIOWrapper(buffered, encoding=encoding, newline="")
    rows = csv.reader(
        _lines(text, max_characters), delimiter=separator, strict=True, skipinitialspace=separator == " "
    )
    number = 0
    try:
        for cells in rows:
            number += 1
            if any(cell.strip() for cell in cells):
                yield TableRow(number, cells)
    except csv.Error as error:
        raise FaultError(
            "file",
            f"is no table from row {number + 1} on: {error}",
            hint="Save it again as CSV; a quote within quotes is written twice.",
        ) from error
    except UnicodeError as error:
        raise FaultError("file", "is not written in UTF-8", hint="Save it again as CSV UTF-8.") from error


def _lines(text: io.TextIOWrapper, max_characters: int) -> Iterator[str]:
    while line := text.readline(max_characters + 1):
        if len(line) > max_characters:
            raise FaultError("file", f"has a line of more than {max_characters:,} characters")
        if "\0" in line:
            raise FaultError("file", "is no text: it holds a NUL")
        yield line


def first_line(head: bytes) -> str:
    """Return the first line of a file's beginning that is not empty, "" where it is no text."""
    encoding = "utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    text = head.decode(encoding, errors="replace")
    return next((line for line in text.splitlines() if line.strip()), "")


def separator_of(line: str) -> str:
    """Return the separator that a header was written with."""
    unquoted = "".join(part for place, part in enumerate(line.split('"')) if place % 2 == 0)
    return max(SEPARATORS, key=unquoted.count)


def column_names(cells: Sequence[str]) -> list[str]:
    """Return the names of columns in one spelling: small letters, ``_`` for blanks and dashes."""
    return [cell.strip().casefold().replace(" ", "_").replace("-", "_") for cell in cells]


@dataclass(frozen=True)
class OpenTable:
    """A table whose head was read.

    Attributes:
        columns: names of its columns in one spelling.
        separator: between its cells.
        rows: those that follow, once.
    """

    columns: list[str]
    separator: str
    rows: Iterator[TableRow]


@contextmanager
def open_table(files: SourceFiles, name: str, *, limits: ImportLimits) -> Iterator[OpenTable]:
    """Open a table of a source and read its head.

    Raises:
        FaultError: it is empty, too large, or no text; also while its rows are read.
    """
    separator = separator_of(first_line(head_of(files, name)))
    with opened(files, name) as stream:
        rows = table_rows(
            stream,
            separator=separator,
            max_bytes=limits.max_note_bytes,
            max_characters=limits.max_row_characters,
        )
        head = next(rows, None)
        if head is None:
            raise FaultError("file", "is empty")
        yield OpenTable(column_names(head.cells), separator, rows)


def head_of(files: SourceFiles, name: str) -> bytes:
    """Return the first bytes of a file.

    Raises:
        FaultError: the source refuses to read it.
    """
    with opened(files, name) as stream:
        return stream.read(HEAD_BYTES)
