"""Charts of an experiment: failure modes against inferences with a band over seeds, and curves over tau."""

from collections.abc import Sequence
from typing import Any

from searches.services.experiment_pages import ArmBand, ArmTaus
from vlmlab.core.revelio.arm_summaries import BandPoint
from vlmlab.web.figures import DASHES, SEQUENCE, Cell, Chart, Column, end_label, line_trace
from vlmlab.web.numbers import write_decimals, write_many

GREY = "$line-strong"
BAND_OPACITY = 0.16
TABLE_ROWS = 10
LABEL_GAP = 0.07


def bands_chart(bands: Sequence[ArmBand], *, budget: int, n_seeds: int) -> Chart:
    """Return the mean failure modes of each arm against inferences, with Student's interval over seeds.

    Args:
        bands: one an arm; past six, the others are grey.
        budget: where the axis of inferences ends.
        n_seeds: run seeds an arm.
    """
    drawn = [one for one in bands if one.points]
    data: list[dict[str, Any]] = []
    for place, one in enumerate(drawn):
        if n_seeds > 1 and len(drawn) <= len(SEQUENCE):
            data += _interval(one.points, SEQUENCE[place])
    data += [_mean(one, place) for place, one in enumerate(drawn)]
    top = max((point.high or point.mean for one in drawn for point in one.points), default=0.0)
    ends = _spread([(one.arm.name, one.points[-1].mean) for one in drawn], top)
    note = "mean over run seeds; suspected, before fresh scenes"
    if n_seeds > 1:
        note = f"mean over {n_seeds} run seeds with Student's 95 % interval; suspected, before fresh scenes"
    return Chart(
        slug="failure-modes",
        title="Failure modes against inferences",
        note=note,
        spec={
            "data": data,
            "layout": {
                "showlegend": True,
                "height": 380,
                "legend": {"orientation": "h", "x": 0, "y": 1.02, "xanchor": "left", "yanchor": "bottom"},
                "margin": {"l": 48, "r": 56, "t": 30, "b": 44},
                "xaxis": {"title": {"text": "inferences"}, "range": [0, budget * 1.04]},
                "yaxis": {"title": {"text": "failure modes found"}, "range": [0, max(top * 1.05, 4)]},
                "annotations": [
                    end_label(
                        write_decimals(one.points[-1].mean, 1),
                        one.points[-1].inferences,
                        y=ends[one.arm.name],
                    )
                    for one in drawn
                ],
            },
        },
        sentence=". ".join(_sentence(one.arm.name, one.points[-1]) for one in drawn) + "."
        if drawn
        else "Nothing was found yet.",
        columns=(Column("Inferences"), *(Column(one.arm.name) for one in drawn)),
        rows=_rows(drawn),
    )


def taus_chart(taus: Sequence[ArmTaus]) -> Chart:
    """Return the share of full sets whose failure rate reaches a threshold, against the threshold."""
    data = [
        {
            **line_trace(
                one.arm.name,
                [tau for tau, _, _ in one.lines],
                y=[round(seeds.mean, 4) if seeds else 0.0 for _, _, seeds in one.lines],
                place=place,
            ),
            "hovertemplate": "τ %{x}: %{y:.1%}<extra></extra>",
        }
        for place, one in enumerate(taus)
    ]
    for trace in data:
        trace["line"]["shape"] = "vh"  # a share counts from just above one threshold up to the next
    rows: list[tuple[Cell, ...]] = [
        (
            f"{tau:g}",
            *(f"{one.lines[place][1].numerator:,} / {one.lines[place][1].denominator:,}" for one in taus),
        )
        for place, (tau, _, _) in enumerate(taus[0].lines)
    ] if taus else []  # fmt: skip
    return Chart(
        slug="tau-curve",
        title="Sets that reach a threshold",
        note="share of sets whose failure rate is at least τ, mean over run seeds; full sets only, as the "
        "searches chose them",
        spec={
            "data": data,
            "layout": {
                "showlegend": True,
                "height": 340,
                "legend": {"orientation": "h", "x": 0, "y": 1.02, "xanchor": "left", "yanchor": "bottom"},
                "margin": {"l": 48, "r": 16, "t": 30, "b": 44},
                "xaxis": {"title": {"text": "failure rate threshold τ"}, "range": [0, 1.04]},
                "yaxis": {"range": [0, 1], "tickformat": ".0%", "rangemode": "tozero"},
            },
        },
        sentence="; ".join(_tau_sentence(one) for one in taus) + "." if taus else "No arm has full sets.",
        columns=(Column("τ"), *(Column(one.arm.name) for one in taus)),
        rows=tuple(rows),
    )


def _mean(one: ArmBand, place: int) -> dict[str, Any]:
    trace = line_trace(
        one.arm.name,
        [point.inferences for point in one.points],
        y=[round(point.mean, 3) for point in one.points],
        place=place,
    )
    if place >= len(SEQUENCE):
        trace["line"] = {"color": GREY, "width": 1.5, "dash": DASHES[place % len(DASHES)]}
    return trace


def _interval(points: Sequence[BandPoint], colour: str) -> list[dict[str, Any]]:
    known = [(point.inferences, point.low, point.high) for point in points
             if point.low is not None and point.high is not None]  # fmt: skip
    if not known:
        return []
    x = [inferences for inferences, _, _ in known]
    high = [round(one, 3) for _, _, one in known]
    low = [round(one, 3) for _, one, _ in known]
    return [
        {
            "type": "scatter", "mode": "lines", "x": [*x, *reversed(x)],
            "y": [*high, *reversed(low)],
            "fill": "toself", "fillcolor": colour, "opacity": BAND_OPACITY, "line": {"width": 0},
            "showlegend": False, "hoverinfo": "skip",
        }
    ]  # fmt: skip


def _spread(ends: Sequence[tuple[str, float]], top: float) -> dict[str, float]:
    """Return the heights of end labels, pushed apart where they would touch."""
    gap = max(top, 4.0) * LABEL_GAP
    placed: dict[str, float] = {}
    last = -gap
    for name, height in sorted(ends, key=lambda one: one[1]):
        last = max(height, last + gap)
        placed[name] = last
    return placed


def _rows(drawn: Sequence[ArmBand]) -> tuple[tuple[Cell, ...], ...]:
    if not drawn:
        return ()
    longest = max((one.points for one in drawn), key=len)
    step = max(1, len(longest) // TABLE_ROWS)
    places = sorted({*range(step, len(longest), step), len(longest) - 1})
    return tuple(
        (longest[place].inferences, *(_cell(one.points, place) for one in drawn)) for place in places
    )


def _cell(points: Sequence[BandPoint], place: int) -> str | None:
    if place >= len(points):
        return None
    point = points[place]
    if point.low is None or point.high is None:
        return write_decimals(point.mean, 1)
    return (
        f"{write_decimals(point.mean, 1)} ({write_decimals(point.low, 1)} to {write_decimals(point.high, 1)})"
    )


def _sentence(name: str, point: BandPoint) -> str:
    return f"{name}: {write_decimals(point.mean, 1)} failure modes after {point.inferences:,} inferences"


def _tau_sentence(one: ArmTaus) -> str:
    _, whole, _ = one.lines[0]
    return f"{one.arm.name}: {write_many(whole.denominator, 'full set')}"
