"""The matrix of a transfer as a heatmap: sources in rows, targets in columns, failure rates with counts."""

from textwrap import wrap

from django.utils.html import escape

from searches.charts.stepped_cells import step_of, stepped_cells
from searches.services.transfer_pages import RANDOM, TransferPage
from vlmlab.core.stats import RatioInterval
from vlmlab.core.verdicts.regimes import MeanRate
from vlmlab.web.figures import Cell, Chart, Column, distinct_names
from vlmlab.web.numbers import write_decimals, write_interval, write_percent

LINE = 14  # characters of a label before it is broken
MOST_LINES = 3


def matrix_chart(page: TransferPage) -> Chart:
    """Return the failure rates of each source's sets on each target, and of random sets in the last row."""
    matrix = page.matrix
    labels = _labels(page)
    targets = [labels[target] for target in matrix.targets]
    rates = [
        [matrix.cells[source, target].rate if (source, target) in matrix.cells else None
         for target in matrix.targets]
        for source in matrix.sources
    ]  # fmt: skip
    random = [_random_rate(page, target) for target in matrix.targets]
    titles = [labels[source] for source in matrix.sources]
    if any(one is not None and one.sets for one in random):
        rates.append(random)
        titles.append(labels[""])
    return Chart(
        slug="transfer-matrix",
        title="Failure rates on other systems",
        note="fresh scenes only, the same for every target; the diagonal is measured again, not taken from "
        "the search",
        spec={
            "data": [
                stepped_cells(
                    targets,
                    titles,
                    z=[[step_of(None if one is None else one.value) for one in row] for row in rates],
                    text=[[_text(one) for one in row] for row in rates],
                    hovertemplate="%{y} on %{x}: %{text}<extra></extra>",
                )
            ],
            "layout": {
                "height": 120 + 60 * max(1, len(titles)),
                "margin": {"l": 120, "r": 12, "t": 72, "b": 8},
                "xaxis": {"side": "top", "showline": False, "tickfont": {"color": "$text"}, "tickangle": 0,
                          "type": "category"},
                "yaxis": {"autorange": "reversed", "showline": False, "tickfont": {"color": "$text"},
                          "automargin": True, "type": "category"},
            },
        },
        sentence=page.sentence,
        columns=(
            Column("Sets of", is_number=False), Column("Target", is_number=False), Column("Wrong answers"),
            Column("Mean failure rate"), Column("95 % interval"), Column("Ratio to random sets"),
        ),
        rows=tuple(_rows(page)),
    )  # fmt: skip


def write_ratio(ratio: RatioInterval | None) -> str:
    """Return a ratio with its interval: ``2.1 (1.2 to 3.9)``."""
    if ratio is None or ratio.value is None:
        return "–"
    return f"{_number(ratio.value)} ({_number(ratio.low)} to {_number(ratio.high)})"


def _number(value: float) -> str:
    return "∞" if value == float("inf") else write_decimals(value, 1)


def _random_rate(page: TransferPage, target: str) -> MeanRate | None:
    found = [cell.random for (_, one), cell in page.matrix.cells.items() if one == target]
    return found[0] if found and found[0].sets else None


def _labels(page: TransferPage) -> dict[str, str]:
    """Return the label of each system, and of random sets as "": names that were cut are told apart, too."""
    slugs = {*page.matrix.sources, *page.matrix.targets}
    names = {slug: _label(page.names.get(slug, slug)) for slug in sorted(slugs)}
    taken = names.values()
    return distinct_names(names) | {"": RANDOM if RANDOM not in taken else f"{RANDOM} (drawn)"}


def _label(name: str) -> str:
    """Return a name broken into lines, cut where it is very long."""
    lines = wrap(name, LINE)
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], lines[MOST_LINES - 1] + "…"]
    return "<br>".join(escape(line) for line in lines)


def _text(rate: MeanRate | None) -> str:
    if rate is None or rate.value is None:
        return "·"
    return f"{write_percent(rate.value)}<br>{rate.fails:,} / {rate.samples:,}"


def _rows(page: TransferPage) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for (source, target), cell in page.matrix.cells.items():
        interval = cell.rate.interval()
        rows.append(
            (
                page.names.get(source, source),
                page.names.get(target, target) + (" (measured again)" if cell.is_own else ""),
                f"{cell.rate.fails:,} / {cell.rate.samples:,}",
                write_percent(cell.rate.value),
                write_interval(interval.low, interval.high),
                write_ratio(cell.ratio),
            )
        )
    for target in page.matrix.targets:
        random = _random_rate(page, target)
        if random is not None:
            interval = random.interval()
            rows.append(
                (
                    RANDOM, page.names.get(target, target), f"{random.fails:,} / {random.samples:,}",
                    write_percent(random.value), write_interval(interval.low, interval.high), None,
                )
            )  # fmt: skip
    return rows
