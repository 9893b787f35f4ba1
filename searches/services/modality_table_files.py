"""A table of results before it is a file: columns, rows in full precision, and how LaTeX prints it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from searches.services.modality_latex import LatexTable

Value = str | int | float | bool | None


@dataclass(frozen=True)
class ResultTable:
    """Numbers for a file.

    Attributes:
        columns: names, as programs read them.
        rows: values in full precision.
        about: what the numbers are of: campaign, settings, reading, seed images.
        latex: the same as a paper prints it; None where it is too long for one.
    """

    columns: tuple[str, ...]
    rows: Sequence[tuple[Value, ...]]
    about: Mapping[str, Value]
    latex: LatexTable | None = None
