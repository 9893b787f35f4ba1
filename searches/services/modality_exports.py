"""Results of a modality campaign as files: CSV and JSON in full precision, LaTeX as a paper prints them."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from searches.models import Campaign
from searches.services.exports import MEDIA_TYPES, csv_lines
from searches.services.modality_export_tables import (
    budget_table,
    comparisons_table,
    effectiveness_table,
    efficiency_table,
    operators_table,
    outcomes_table,
    runs_table,
)
from searches.services.modality_latex import latex_lines
from searches.services.modality_table_files import ResultTable
from searches.services.modality_tables import Choice

FORMATS: Mapping[str, str] = MEDIA_TYPES | {"tex": "application/x-tex"}
"""Ending of a file -> its media type."""


@dataclass(frozen=True)
class Export:
    """One table that can be taken away.

    Attributes:
        title: what it is.
        table: makes it.
        has_latex: whether it is small enough for a paper.
    """

    title: str
    table: Callable[[Campaign, Choice], ResultTable]
    has_latex: bool = True


EXPORTS: dict[str, Export] = {
    "effectiveness": Export("Effectiveness (ASR, MS-SSIM, NED, SWTD)", effectiveness_table),
    "efficiency": Export("Efficiency (budgets, evaluations, time)", efficiency_table),
    "outcomes": Export("Outcomes", outcomes_table),
    "comparisons": Export("Comparisons of regimes", comparisons_table),
    "budget": Export("Perturbation budget by operator", budget_table),
    "operators": Export("Operators in failures", operators_table),
    "runs": Export("Runs, one a line", runs_table, has_latex=False),
}
"""What can be exported, by its name in the address."""


def export_lines(campaign: Campaign, choice: Choice, *, what: str, fmt: str) -> Iterator[str] | None:
    """Return a file piece by piece, or None where there is no such file.

    Args:
        campaign: of the method "most".
        choice: what of it.
        what: a key of ``EXPORTS``.
        fmt: "csv", "json" or "tex".
    """
    export = EXPORTS.get(what)
    if export is None or fmt not in FORMATS or (fmt == "tex" and not export.has_latex):
        return None
    table = export.table(campaign, choice)
    if fmt == "csv":
        return csv_lines(table.columns, table.rows)
    return latex_lines(table.latex) if fmt == "tex" and table.latex else json_lines(table)


def json_lines(table: ResultTable) -> Iterator[str]:
    """Return a table as JSON: what it is about, and one object a row."""
    yield json.dumps({"about": table.about}, ensure_ascii=False)[:-1] + ', "rows": ['
    for number, row in enumerate(table.rows):
        yield ("\n" if number == 0 else ",\n") + json.dumps(_object(table.columns, row), ensure_ascii=False)
    yield "\n]}\n"


def _object(columns: Sequence[str], row: Sequence[object]) -> dict[str, object]:
    return dict(zip(columns, row, strict=True))
