"""The transfer matrix of test cases as a heatmap."""

from typing import Any

from searches.charts.modality_profile import NAMED_AXIS
from searches.charts.stepped_cells import step_of, stepped_cells
from searches.services.case_transfers import TransferCell, TransferMatrix
from vlmlab.web.figures import Chart, Column
from vlmlab.web.numbers import write_interval, write_percent


def transfer_chart(matrix: TransferMatrix, *, campaign_id: int, address: str) -> Chart:
    """Return the share of each system's cases that fail on each system asked.

    Args:
        matrix: the numbers.
        campaign_id: of the follow-up.
        address: page of its items.
    """
    return Chart(
        slug=f"case-transfer-{campaign_id}",
        title="Which cases fail elsewhere",
        note="share of the cases found on the system of the row whose own input the system of the column "
        "answers wrongly; only pictures that it answers rightly without a perturbation count",
        spec={"data": [_heatmap(matrix, address)], "layout": _layout(matrix)},
        sentence=_sentence(matrix),
        columns=(
            Column("Found on", is_number=False), Column("Asked", is_number=False), Column("Fails"),
            Column("Cases"), Column("Share"), Column("95 % interval"), Column("Not eligible"),
            Column("Unanswered"), Column("Random fails"), Column("Random asked"),
        ),
        rows=tuple(
            (matrix.names[source], matrix.names[target], *_numbers(cell))
            for source, line in matrix.rows
            for target, cell in line
        ),
    )  # fmt: skip


def _heatmap(matrix: TransferMatrix, address: str) -> dict[str, Any]:
    cells = [[cell for _, cell in line] for _, line in matrix.rows]
    trace = stepped_cells(
        [matrix.names[one] for one in matrix.targets],
        [matrix.names[one] for one in matrix.sources],
        z=[[step_of(cell.share) for cell in line] for line in cells],
        text=[[_label(cell) for cell in line] for line in cells],
        hovertemplate="%{y} on %{x}: %{text}<extra></extra>",
    )
    links = [[f"{address}?state=fails" if cell.fails else "" for cell in line] for line in cells]
    return trace | {"customdata": links}


def _layout(matrix: TransferMatrix) -> dict[str, Any]:
    return {
        "height": max(250, 76 + 44 * len(matrix.sources)),
        "margin": {"l": 170, "r": 32, "t": 36, "b": 24},
        "xaxis": {"side": "top", "showline": False, "tickfont": {"color": "$text"}, "type": "category"},
        "yaxis": NAMED_AXIS | {"autorange": "reversed", "type": "category"},
    }


def _label(cell: TransferCell) -> str:
    return "·" if cell.share is None else f"{write_percent(cell.share)} ({cell.fails}/{cell.n})"


def _numbers(cell: TransferCell) -> tuple[str, ...]:
    interval = cell.interval
    return (
        str(cell.fails), str(cell.n), "–" if cell.share is None else write_percent(cell.share),
        "–" if interval is None else write_interval(interval.low, interval.high), str(cell.ineligible),
        str(cell.unanswered), str(cell.random_fails), str(cell.random_n),
    )  # fmt: skip


def _sentence(matrix: TransferMatrix) -> str:
    others = [(pair, cell) for pair, cell in matrix.cells.items() if pair[0] != pair[1] and cell.n]
    if not others:
        return "No case has been answered by another system yet."
    pair, cell = max(others, key=lambda one: (one[1].share or 0.0, one[1].n))
    source, target = (matrix.names[one] for one in pair)
    said = f"Most of what breaks {source} breaks {target}" if (cell.share or 0) > 0.5 else (
        f"Of what breaks {source}, {target} is broken by the most"
    )  # fmt: skip
    return f"{said}: {cell.fails} of {cell.n} cases."
