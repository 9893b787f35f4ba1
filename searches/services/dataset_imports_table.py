"""Reads tables of concepts: a row a picture, or a row a thing with its box."""

import csv
import io
import re
from collections.abc import Mapping

from searches.services.dataset_imports_rows import (
    MOST_LABEL_CHARACTERS,
    ConceptNames,
    ImportRefusedError,
    NotedThing,
    Notes,
    PictureFinder,
    Refusal,
    RowError,
    number_in,
    printable,
)
from vlmlab.core.scenes.concepts import Domain

FILE_COLUMNS = ("file", "file_name", "filename")
SIDES = ("x_min", "y_min", "x_max", "y_max")
MOST_ROWS = 1_000_000
Row = Mapping[str, str]


def table_rows(text: bytes, *, name: str) -> list[Row] | None:
    """Return the rows of a table that has the columns ``file`` and ``concepts``, or None of another one.

    Raises:
        ImportRefusedError: it is no text in UTF-8, or no table.
    """
    try:
        plain = text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ImportRefusedError(
            f"{name} is not written in UTF-8.", hint="Save it again as CSV UTF-8."
        ) from error
    head = plain.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    try:
        rows = list(csv.DictReader(io.StringIO(plain), delimiter=delimiter, restval=""))
    except csv.Error as error:
        raise ImportRefusedError(f"{name} is no table: {error}.", hint="Save it again as CSV.") from error
    cleaned = [_cleaned(row) for row in rows[:MOST_ROWS]]
    columns = {column.strip().casefold() for column in next(csv.reader([head], delimiter=delimiter), [])}
    return cleaned if "concepts" in columns and columns & set(FILE_COLUMNS) else None


def read_table(
    rows: list[Row], notes: Notes, *, file: str, domain: Domain, names: ConceptNames, finder: PictureFinder
) -> None:
    """Add what a table says to notes; a wrong row is refused, and its picture with it."""
    for number, row in enumerate(rows, start=2):  # the first row holds the names of the columns
        where = f"{file}, row {number}"
        named = next((row[column] for column in FILE_COLUMNS if row.get(column)), "")
        try:
            picture = notes.picture(finder.find(named, beside=file), where)
        except RowError as error:
            notes.refused.append(Refusal(where, f"{error}."))
            continue
        try:
            concepts = _concepts(row["concepts"], names, domain)
            thing = _thing(row, concepts, where=where, names=names)
        except RowError as error:
            picture.faults.append(Refusal(where, f"{error}."))
            continue
        picture.concepts.update(concepts)
        if thing is not None:
            picture.things.append(thing)
            picture.concepts.update({thing.concept} - {""})


def _concepts(text: str, names: ConceptNames, domain: Domain) -> list[str]:
    found = []
    for name in filter(None, (part.strip() for part in re.split(r"[;|+,]", text))):
        concept = names.find(name)
        if concept is None:
            raise RowError(f"“{name[:80]}” is no concept of {domain.title}")
        if concept:
            found.append(concept)
    return found


def _thing(row: Row, concepts: list[str], *, where: str, names: ConceptNames) -> NotedThing | None:
    sides = [row.get(side, "") for side in SIDES]
    if not any(sides):
        return None
    if not all(sides):
        raise RowError("the box lacks a side")
    x_min, y_min, x_max, y_max = map(number_in, sides)
    label = printable(row.get("label", "")[:MOST_LABEL_CHARACTERS])
    concept = names.find(label) if label else None
    if concept is None and len(concepts) == 1:
        concept = concepts[0]
    if not label and not concept:
        raise RowError("the box has no label, and not exactly one concept")
    return NotedThing(where, label or str(concept), concept or "", (x_min, y_min, x_max, y_max))


def _cleaned(row: Mapping[str | None, object]) -> Row:
    return {
        name.strip().casefold(): value.strip()
        for name, value in row.items()
        if isinstance(name, str) and isinstance(value, str)
    }
