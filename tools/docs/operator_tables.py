"""Writes the tables of ``docs/operators.md`` from the operators.

python -m tools.docs.operator_tables
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from tools.docs.tables import ROOT, table_on_page
from vlmlab.core.perturb.image_levels import LEVEL_SEVERITIES
from vlmlab.core.perturb.image_operator import ImageOperator
from vlmlab.core.perturb.image_operators import IMAGE_OPERATORS
from vlmlab.core.perturb.text import TEXT_OPERATORS
from vlmlab.core.perturb.text_summaries import TEXT_SUMMARIES

PAGE = ROOT / "docs" / "operators.md"


def image_table() -> str:
    """Return one row an operator on pictures, in their physical order."""
    rows = [
        (
            f"`{name}`",
            one.family,
            one.summary,
            f"{one.parameter_name}: {one.quantity.unit}",
            f"{one.parameter(0.0):g} to {one.parameter(1.0):g}",
            _truth(one),
        )
        for name, one in IMAGE_OPERATORS.items()
    ]
    return _table(("Operator", "Family", "What it looks like", "Severity sets", "From 0 to 1", "Truth"), rows)


def text_table() -> str:
    """Return one row an operator on prompts, in the order they act."""
    rows = [(f"`{name}`", one.family, TEXT_SUMMARIES[name]) for name, one in TEXT_OPERATORS.items()]
    return _table(("Operator", "Family", "What it does"), rows)


def level_table() -> str:
    """Return the severity at each level of ImageNet-C."""
    rows = [
        (f"`{name}`", *(f"{severity:.3f}" for severity in LEVEL_SEVERITIES[name]))
        for name in IMAGE_OPERATORS
        if name in LEVEL_SEVERITIES
    ]
    return _table(("Operator", *(f"Level {level}" for level in range(1, 6))), rows)


OPERATOR_TABLES: dict[str, Callable[[], str]] = {
    "## Operators on pictures": image_table,
    "## Operators on prompts": text_table,
    "## Severities and the levels of ImageNet-C": level_table,
}


def rewritten(page: str) -> str:
    """Return the page with every table written again below its heading."""
    for heading, table in OPERATOR_TABLES.items():
        before, after = page.split(f"\n{heading}\n", 1)
        page = f"{before}\n{heading}\n{after.replace(table_on_page(page, heading), table(), 1)}"
    return page


def _truth(one: ImageOperator) -> str:
    return "moves" if one.moves_boxes else "may be hidden" if one.hides else "stays"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main(page: Path = PAGE) -> None:
    """Write the tables of the page again."""
    page.write_text(rewritten(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
