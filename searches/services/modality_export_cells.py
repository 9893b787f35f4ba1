"""Cells of a modality campaign for its files: each scene type for itself, then all of them together."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from searches.models import Campaign
from searches.services.modality_results import ResultRow
from searches.services.modality_tables import ALL_STRATA, Choice, Families, families_of, shown_rows
from vlmlab.core.most.summaries import Cell, by_cell

Scope = Literal["scene type", "all scene types"]
ONE_TYPE: Scope = "scene type"
POOLED: Scope = "all scene types"
SCOPES = (ONE_TYPE, POOLED)
POOLED_NAME = "all"
"""Scene type of rows over all of them; their scope tells them from a scene type of that name."""

CELL_COLUMNS = ("scope", "sut", "scene_type", "regime")
ScopedFamilies = Mapping[Scope, Families]


@dataclass(frozen=True)
class FileCell:
    """The runs of one system and regime, of one scene type or of all.

    Attributes:
        cell: system, scene type and regime; the scene type of a pooled one is that of its comparisons.
        rows: its runs.
        is_repeated: whether all its runs are of one scene type, so that a row before says the same.
    """

    scope: Scope
    cell: Cell
    rows: tuple[ResultRow, ...]
    is_repeated: bool

    @property
    def values(self) -> tuple[str, str, str, str]:
        """What files write in ``CELL_COLUMNS``."""
        sut, scene_type, regime = self.cell
        return self.scope, sut, scene_type_value(scene_type, self.scope), regime


def scene_type_value(scene_type: str, scope: Scope) -> str:
    """Return how files name a scene type."""
    return POOLED_NAME if scope == POOLED else scene_type


def file_cells(campaign: Campaign, choice: Choice) -> Iterator[FileCell]:
    """Yield the cells of each system: by scene type, then over all of them where none was chosen."""
    for _, rows in rows_by_sut(campaign, choice):
        has_one_type = len({row.result.scene_type for row in rows}) == 1
        yield from _grouped(rows, ONE_TYPE, is_repeated=False)
        if not choice.stratum:
            yield from _grouped(rows, POOLED, is_repeated=has_one_type)


def scoped_families(campaign: Campaign, choice: Choice) -> ScopedFamilies:
    """Return the comparisons by scene type and those over all of them: families of their own."""
    return {scope: families_of(campaign, choice, is_pooled=scope == POOLED) for scope in SCOPES}


def rows_by_sut(campaign: Campaign, choice: Choice) -> Iterator[tuple[str, list[ResultRow]]]:
    """Yield the runs that a choice names, a system at a time."""
    rows = sorted(shown_rows(campaign, choice), key=lambda row: row.result.sut)
    for sut, of_sut in groupby(rows, key=lambda row: row.result.sut):
        yield sut, list(of_sut)


def _grouped(rows: Sequence[ResultRow], scope: Scope, *, is_repeated: bool) -> Iterator[FileCell]:
    results = [replace(row.result, scene_type=ALL_STRATA) if scope == POOLED else row.result for row in rows]
    by_result = {id(result): row for result, row in zip(results, rows, strict=True)}
    for cell, found in by_cell(results).items():
        yield FileCell(scope, cell, tuple(by_result[id(one)] for one in found), is_repeated)
