"""What a report is made of: sections of texts, facts, tables, figures and cards with pictures."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from searches.services.exports import csv_lines
from vlmlab.web.figures import Cell, Chart


def data_address(content: bytes, media_type: str) -> str:
    """Return a file as a ``data:`` address."""
    return f"data:{media_type};base64,{base64.b64encode(content).decode('ascii')}"


def csv_address(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table as the ``data:`` address of a CSV file."""
    return data_address("".join(csv_lines(columns, rows)).encode(), "text/csv;charset=utf-8")


@dataclass(frozen=True)
class Text:
    """One paragraph; ``is_code`` for commands, ``is_muted`` for how to read what stands above."""

    words: str
    is_code: bool = False
    is_muted: bool = False
    kind: ClassVar[str] = "text"


@dataclass(frozen=True)
class Facts:
    """Names with values."""

    rows: Sequence[tuple[str, str]]
    title: str = ""
    kind: ClassVar[str] = "facts"


@dataclass(frozen=True)
class Table:
    """A table with its own file.

    Attributes:
        slug: name of the file, unique in the report.
        numbers: places of the columns that hold numbers.
        note: how to read it.
        left_out: how many rows are not shown here; the file holds all of them.
        all_rows: rows of the file, where they are others than those shown.
    """

    slug: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    numbers: frozenset[int] = frozenset()
    note: str = ""
    all_rows: Sequence[Sequence[Cell]] = ()
    kind: ClassVar[str] = "table"

    @property
    def cells(self) -> list[list[tuple[Cell, bool]]]:
        """Rows of (value, whether it is a number)."""
        return [[(value, place in self.numbers) for place, value in enumerate(row)] for row in self.rows]

    @property
    def headings(self) -> list[tuple[str, bool]]:
        """Columns with whether they hold numbers."""
        return [(title, place in self.numbers) for place, title in enumerate(self.columns)]

    @property
    def left_out(self) -> int:
        """How many rows only the file holds."""
        return max(0, len(self.all_rows) - len(self.rows))

    @property
    def address(self) -> str:
        """All rows as a CSV file inside the report."""
        return csv_address(self.columns, self.all_rows or self.rows)


@dataclass(frozen=True)
class Figure:
    """A chart with its numbers."""

    chart: Chart
    kind: ClassVar[str] = "figure"

    @property
    def address(self) -> str:
        """Its numbers as a CSV file inside the report."""
        return csv_address([column.title for column in self.chart.columns], self.chart.rows)

    @property
    def payload(self) -> dict[str, Any]:
        """What the drawing script reads; marks lead nowhere, for there is no site behind a file."""
        return self.chart.payload | {"figure": _without_addresses(self.chart.payload["figure"])}


@dataclass(frozen=True)
class Picture:
    """One picture with what stands below it; ``address`` is "" where it is left out."""

    address: str
    words: str
    caption: str
    tone: str = ""


@dataclass(frozen=True)
class Card:
    """One finding or test case.

    Attributes:
        title: what it is.
        state, tone: badge beside the title.
        sentence: its evidence in one sentence.
        facts, tables, pictures: the rest.
        texts: longer texts with a title each: a prompt, an answer, a note.
    """

    title: str
    state: str
    tone: str
    sentence: str
    facts: Sequence[tuple[str, str]] = ()
    tables: Sequence[Table] = ()
    pictures: Sequence[Picture] = ()
    texts: Sequence[tuple[str, str]] = ()
    kind: ClassVar[str] = "card"

    @property
    def badge(self) -> str:
        """Class of its badge."""
        return {"bad": "failed", "ok": "done", "warn": "paused"}.get(self.tone, "queued")


Block = Text | Facts | Table | Figure | Card


@dataclass(frozen=True)
class Section:
    """A heading with what stands below it."""

    slug: str
    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Head:
    """The top of a report: what it is about, in a title and two lines."""

    title: str
    lede: str
    facts: Sequence[tuple[str, str]] = field(default=())


def json_words(value: object) -> str:
    """Return stored JSON as text that people can read and programs can copy."""
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True, default=str)


def _without_addresses(value: Any) -> Any:
    """Return a figure without ``customdata`` and without the address before it."""
    if isinstance(value, dict):
        return {
            name: _without_addresses(inner)
            for name, inner in value.items()
            if name != "customdata" and not (name == "meta" and isinstance(inner, dict) and "href" in inner)
        }
    if isinstance(value, list | tuple):
        return [_without_addresses(inner) for inner in value]
    return value
