"""Writes tables of the manual from the settings of searches and from the stored benchmark results.

python -m tools.docs.tables
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from vlmlab.core.most.config import PRESETS as MOST_PRESETS
from vlmlab.core.most.config import MostConfig
from vlmlab.core.revelio.config import PRESETS, RevelioConfig

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "searches.md"
MODALITY_PAGE = ROOT / "docs" / "modality.md"
RESULTS = ROOT / "benchmarks" / "results"
COLUMNS = {
    "sets of up to 5": "search.md",
    "sets of up to 4": "search_size4.md",
    "sets of up to 3, all stop early": "search_size3_curtailed.md",
}
RATIOS = (
    "true modes: sits / gpts",
    "true modes: sits / beam",
    "true modes: sits-minimal / gpts",
    "minimal modes: sits / gpts",
    "minimal modes: sits-minimal / gpts",
)
RIVALS = ("beam", "gpts", "sits", "sits-minimal")


class HasValues(Protocol):
    """A preset of a search."""

    @property
    def title(self) -> str:
        """What it is called."""
        ...

    @property
    def description(self) -> str:
        """What it is for."""
        ...

    @property
    def values(self) -> Mapping[str, object]:
        """What it sets."""
        ...


def settings_table(model: type[BaseModel] = RevelioConfig) -> str:
    """Return one row a setting, in the order of the configuration."""
    rows = [_setting(name, info) for name, info in model.model_fields.items()]
    return _table(("Setting", "On the page", "Default", "Allowed", "What it does"), rows)


def presets_table(presets: Mapping[str, HasValues] = PRESETS) -> str:
    """Return one row a preset: what it is called, what it is for, what it sets."""
    rows = [
        (
            one.title,
            one.description,
            ", ".join(f"`{name}` {_word(value)}" for name, value in one.values.items()),
        )
        for one in presets.values()
    ]
    return _table(("Preset", "What it is for", "What it sets"), rows)


def benchmark_table() -> str:
    """Return the ratios (geometric mean over families) and the false reports (mean of families)."""
    texts = [(RESULTS / name).read_text(encoding="utf-8") for name in COLUMNS.values()]
    rows = [(ratio, *(_ratio(text, ratio) for text in texts)) for ratio in RATIOS]
    rows += [(f"false reports of {name}", *(_false_reports(text, name) for text in texts)) for name in RIVALS]
    return _table(("Compared", *COLUMNS), rows)


TABLES: dict[str, Callable[[], str]] = {
    "## Presets": presets_table,
    "## Every setting": settings_table,
    "## What was measured": benchmark_table,
}

MODALITY_TABLES: dict[str, Callable[[], str]] = {
    "## Presets": lambda: presets_table(MOST_PRESETS),
    "## Every setting": lambda: settings_table(MostConfig),
}


def table_on_page(text: str, heading: str) -> str:
    """Return the first table below a heading, as it stands in the page.

    Raises:
        ValueError: the heading or the table is missing.
    """
    if f"\n{heading}\n" not in text:
        raise ValueError(f"the page lacks the heading {heading!r}")
    lines = text.split(f"\n{heading}\n", 1)[1].split("\n")
    first = next((at for at, line in enumerate(lines) if line.startswith("|")), None)
    if first is None:
        raise ValueError(f"there is no table below {heading!r}")
    last = next((at for at in range(first, len(lines)) if not lines[at].startswith("|")), len(lines))
    return "\n".join(lines[first:last])


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def _setting(name: str, info: FieldInfo) -> tuple[str, ...]:
    return (f"`{name}`", info.title or "", _word(info.default), _allowed(info), info.description or "")


def _word(value: object) -> str:
    if value is None or value in ((), ""):
        return "empty"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _allowed(info: FieldInfo) -> str:
    kinds = get_args(info.annotation)
    if get_origin(info.annotation) is Literal:
        return ", ".join(str(one) for one in kinds)
    if info.annotation is bool:
        return "on, off"
    if get_origin(info.annotation) is tuple:
        return _allowed_items(kinds[0], info)
    if info.annotation is str:
        return "a short name"
    limits = _limits(info)
    return f"{limits}, or empty" if type(None) in kinds else limits


def _allowed_items(kind: object, info: FieldInfo) -> str:
    """Return what a list may hold."""
    if get_origin(kind) is Literal:
        return f"any of {', '.join(str(one) for one in get_args(kind))}"
    return "operators" if "perator" in (info.description or "") else "concept ids"


def _limits(info: FieldInfo) -> str:
    """Return the range of a number: ``1 to 100``, ``above 0, at most 1``."""
    found = {
        sign: f"{getattr(limit, sign):,.10g}"
        for limit in info.metadata
        for sign in ("ge", "gt", "le", "lt")
        if getattr(limit, sign, None) is not None
    }
    if {"ge", "le"} <= set(found):
        return f"{found['ge']} to {found['le']}"
    words = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}
    return ", ".join(f"{words[sign]} {value}" for sign, value in found.items())


def _ratio(text: str, name: str) -> str:
    """Return ``7.6 [6.1, 10.3]`` from the row of a ratio, "–" where that run did not measure it."""
    row = next((line for line in text.splitlines() if line.startswith(f"| {name} |")), "")
    found = re.search(r"\| ([\d.]+) \[([\d.]+), ([\d.]+)\] \|", row)
    return f"{float(found[1]):.1f} [{float(found[2]):.1f}, {float(found[3]):.1f}]" if found else "–"


def _false_reports(text: str, name: str) -> str:
    found = re.search(rf"^- {re.escape(name)}: false reports ([\d.]+) %", text, re.MULTILINE)
    return f"{float(found[1]):.0f} %" if found else "–"


def rewritten(page: str, tables: Mapping[str, Callable[[], str]] = TABLES) -> str:
    """Return the page with every table written again below its heading."""
    for heading, table in tables.items():
        before, after = page.split(f"\n{heading}\n", 1)
        page = f"{before}\n{heading}\n{after.replace(table_on_page(page, heading), table(), 1)}"
    return page


if __name__ == "__main__":
    for path, tables in ((PAGE, TABLES), (MODALITY_PAGE, MODALITY_TABLES)):
        path.write_text(rewritten(path.read_text(encoding="utf-8"), tables), encoding="utf-8")
