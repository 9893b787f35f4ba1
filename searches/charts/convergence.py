"""Failure modes against inferences, as a chart of one or more runs."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from vlmlab.core.revelio.metrics import ConvergencePoint
from vlmlab.web.figures import Cell, Chart, Column, end_label, line_trace
from vlmlab.web.numbers import write_count

TABLE_ROWS = 12


@dataclass(frozen=True)
class Curve:
    """One line: its name in the legend and its points, inferences ascending."""

    name: str
    points: Sequence[ConvergencePoint]


def convergence_chart(
    curves: Sequence[Curve], *, budget: int, note: str = "suspected, before fresh scenes", slug: str = ""
) -> Chart:
    """Return the chart of failure modes found against inferences.

    Args:
        curves: the first one is the main series.
        budget: where the axis of inferences ends at least.
        note: how to read it.
        slug: unique on the page.
    """
    end = max([budget, *(curve.points[-1].inferences for curve in curves if curve.points)])
    top = max((point.modes for curve in curves for point in curve.points), default=0)
    data = [
        line_trace(
            curve.name,
            [point.inferences for point in curve.points],
            y=[point.modes for point in curve.points],
            place=place,
            is_step=True,
        )
        for place, curve in enumerate(curves)
    ]
    return Chart(
        slug=slug or "failure-modes",
        title="Failure modes against inferences",
        spec={"data": data, "layout": _layout(curves, end, top)},
        sentence=". ".join(_sentence(curve) for curve in curves) + ".",
        columns=(Column("Inferences"), *(Column(curve.name) for curve in curves)),
        rows=_rows(curves, end),
        note=note,
    )


def modes_at(points: Sequence[ConvergencePoint], inferences: int) -> int | None:
    """Return how many modes were known after so many inferences; None past the end of the curve."""
    if not points or inferences > points[-1].inferences:
        return None
    place = bisect_right([point.inferences for point in points], inferences)
    return points[place - 1].modes if place else 0


def _layout(curves: Sequence[Curve], end: int, top: int) -> dict[str, object]:
    return {
        "showlegend": len(curves) > 1,
        "legend": {"orientation": "h", "x": 0, "y": 1.14, "xanchor": "left"},
        "margin": {"l": 44, "r": 96, "t": 36 if len(curves) > 1 else 14, "b": 44},
        "xaxis": {"title": {"text": "inferences"}, "range": [0, end], "rangemode": "tozero"},
        "yaxis": {
            "title": {"text": "failure modes found"},
            "range": [0, max(top * 1.12, 4)],
            "tickformat": ",d",
            "nticks": 6,
        },
        "annotations": [
            end_label(write_count(curve.points[-1].modes), curve.points[-1].inferences, y=modes)
            for curve, modes in _ends(curves, top)
        ],
    }


def _ends(curves: Sequence[Curve], top: int) -> list[tuple[Curve, float]]:
    """Return each curve with the height of its end label, pushed apart where labels would touch."""
    gap = max(top, 4) * 0.075
    drawn = sorted((curve for curve in curves if curve.points), key=lambda curve: curve.points[-1].modes)
    placed: list[tuple[Curve, float]] = []
    for curve in drawn:
        height = float(curve.points[-1].modes)
        if placed and curve.points[-1].inferences == placed[-1][0].points[-1].inferences:
            height = max(height, placed[-1][1] + gap)
        placed.append((curve, height))
    return placed


def _sentence(curve: Curve) -> str:
    if not curve.points:
        return f"{curve.name}: nothing yet"
    last = curve.points[-1]
    return f"{curve.name}: {last.modes:,} failure modes after {last.inferences:,} inferences"


def _rows(curves: Sequence[Curve], end: int) -> tuple[tuple[Cell, ...], ...]:
    step = max(end / TABLE_ROWS, 1)
    places = {round(step * number) for number in range(1, TABLE_ROWS + 1) if round(step * number) <= end}
    places |= {curve.points[-1].inferences for curve in curves if curve.points}
    rows = [
        (place, *(modes_at(curve.points, place) for curve in curves)) for place in sorted(places) if place
    ]
    return tuple(row for row in rows if any(value is not None for value in row[1:]))
