"""Reads both tables of Udacity's driving dataset: CrowdAI's with a head, Autti's without, with blanks."""

import re
from collections.abc import Iterator

from vlmlab.core.seed_images.faults import FaultError
from vlmlab.core.seed_images.files import opened
from vlmlab.core.seed_images.pictures import NotedPicture
from vlmlab.core.seed_images.reading import Reading
from vlmlab.core.seed_images.report import Place
from vlmlab.core.seed_images.table import TableNotes, read_table
from vlmlab.core.seed_images.table_columns import TableColumns
from vlmlab.core.seed_images.tables import first_line, head_of, table_rows

AUTTI_ROW = re.compile(
    r'"?[^\s,]+\.(jpe?g|png)"?[ ,]+(-?\d+[ ,]+){4}[01][ ,]+"?\w+"?([ ,]+"?\w*"?)?\s*',
    re.ASCII | re.IGNORECASE,
)
AUTTI_COLUMNS = TableColumns(file=0, label=6, sides=(1, 2, 3, 4), attributes=7, flags={"occluded": 5})
LEAST_CELLS = 7


def read_udacity(reading: Reading) -> Iterator[NotedPicture]:
    """Give the pictures that the tables of a source describe, each table in its own layout."""
    for name in reading.files_named(".csv", ".txt"):
        try:
            line = first_line(head_of(reading.files, name))
        except FaultError as fault:
            reading.report.refuse("file", Place(name), fault)
            continue
        if is_autti(line):
            yield from _read_autti(reading, name, separator="," if "," in line else " ")
        elif is_crowdai(line):
            yield from read_table(reading, name)


def is_autti(line: str) -> bool:
    """Return whether a line is a row of Autti's table, which has no head."""
    return AUTTI_ROW.fullmatch(line) is not None


def is_crowdai(line: str) -> bool:
    """Return whether a line is the head of CrowdAI's table."""
    columns = {cell.strip(' "').casefold() for cell in line.split(",")}
    return {"xmin", "xmax", "ymin", "ymax", "frame", "label"} <= columns


def _read_autti(reading: Reading, name: str, *, separator: str) -> Iterator[NotedPicture]:
    notes = TableNotes(reading, name)
    limits = reading.limits
    try:
        with opened(reading.files, name) as stream:
            for row in table_rows(
                stream,
                separator=separator,
                max_bytes=limits.max_note_bytes,
                max_characters=limits.max_row_characters,
            ):
                if len(row.cells) < LEAST_CELLS:
                    raise FaultError("file", f"has only {len(row.cells)} cells in row {row.number}")
                notes.take(row, AUTTI_COLUMNS)
    except FaultError as fault:
        reading.report.refuse("file", Place(name), fault)
        return
    yield from notes.pictures()
