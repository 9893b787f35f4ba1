"""LaTeX tables for papers: booktabs, every word escaped."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

_ESCAPES = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{",
    "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}", "±": r"$\pm$", "–": "--",
    "\n": " ", "\r": " ", "\t": " ",
}  # fmt: skip


@dataclass(frozen=True)
class Raw:
    """LaTeX of ours that must not be escaped, such as a line of stars."""

    text: str


@dataclass(frozen=True)
class LatexTable:
    r"""A table of a paper.

    Attributes:
        caption: one or more sentences, not escaped yet.
        label: what ``\ref`` names.
        alignment: one letter a column, such as ``llrr``.
        head: titles of the columns.
        rows: cells; a ``Raw`` is taken as it is.
        rules_before: numbers of rows that begin a new group.
    """

    caption: str
    label: str
    alignment: str
    head: Sequence[str]
    rows: Sequence[Sequence[str | Raw]]
    rules_before: frozenset[int] = frozenset()


def latex_escaped(text: str) -> str:
    """Return a text that LaTeX prints as it stands; control characters are left out."""
    return "".join(_ESCAPES.get(sign, sign if sign.isprintable() else "") for sign in text)


def latex_lines(table: LatexTable) -> Iterator[str]:
    r"""Return a table environment, line by line; it needs ``\usepackage{booktabs}``."""
    yield "% \\usepackage{booktabs}\n"
    yield "\\begin{table}\n\\centering\n"
    yield f"\\caption{{{latex_escaped(table.caption)}}}\n\\label{{{table.label}}}\n"
    yield f"\\begin{{tabular}}{{{table.alignment}}}\n\\toprule\n"
    yield _line(table.head)
    yield "\\midrule\n"
    for number, row in enumerate(table.rows):
        if number and number in table.rules_before:
            yield "\\addlinespace\n"
        yield _line(row)
    yield "\\bottomrule\n\\end{tabular}\n\\end{table}\n"


def starred(text: str, stars: str) -> Raw:
    """Return a cell with its stars of significance raised behind it."""
    return Raw(latex_escaped(text) + (f"$^{{{stars}}}$" if stars else ""))


def _line(cells: Iterable[str | Raw]) -> str:
    written = (cell.text if isinstance(cell, Raw) else latex_escaped(cell) for cell in cells)
    return " & ".join(written) + " \\\\\n"
