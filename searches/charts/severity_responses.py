"""Severity-response curves: mean IoU and the share of failures of each operator alone, against severity."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.text import capfirst

from searches.services.modality_responses import (
    HIGHLIGHTED,
    ResponseCurve,
    ResponsePoint,
    SeverityResponses,
)
from vlmlab.core.most.outcomes import FailureCriterion
from vlmlab.core.stats import Interval
from vlmlab.web.figures import DASHES, SEQUENCE, Cell, Chart, Column, end_label
from vlmlab.web.numbers import write_many

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross")
LEAST_GAP = 0.055
BY_LEVEL = "each point: one level on all seed images, at its mean severity"
NOT_JOINED = "not joined, because points rest on different pictures"
AddressOf = Callable[[ResponseCurve, ResponsePoint], str]


@dataclass(frozen=True)
class _Measure:
    """What a chart shows of a point.

    Attributes:
        value, interval: of a point, in [0, 1].
        digits: of the numbers under the chart.
    """

    slug: str
    title: str
    axis: str
    note: str
    columns: tuple[str, str, str]
    value: Callable[[ResponsePoint], float]
    interval: Callable[[ResponsePoint], Interval]


def iou_chart(
    responses: SeverityResponses, *, chosen: Iterable[str] = (), address_of: AddressOf, slug: str = ""
) -> Chart:
    """Return the chart of the mean IoU against severity; answers without boxes count as 0.

    Args:
        responses: of one system.
        chosen: operators to draw in colour, at most six; the ones that break most where none is chosen.
        address_of: where a point leads.
        slug: unique on the page.
    """
    measure = _Measure(
        slug=slug or "severity-iou",
        title="Mean IoU against severity",
        axis="mean IoU",
        note="one operator at a time; bars: 95 % interval of the mean (Student); dashed: the IoU threshold",
        columns=("Mean IoU", "From", "To"),
        value=lambda point: point.mean_iou,
        interval=lambda point: point.iou_interval,
    )
    return _chart(responses, measure, chosen=chosen, address_of=address_of, line=responses.iou_threshold)


def failure_chart(
    responses: SeverityResponses,
    *,
    criterion: FailureCriterion = FailureCriterion.C1,
    chosen: Iterable[str] = (),
    address_of: AddressOf,
    slug: str = "",
) -> Chart:
    """Return the chart of the share of answers that fail against severity; see ``iou_chart``."""
    measure = _Measure(
        slug=slug or "severity-failures",
        title="Share of failures against severity",
        axis="share that fails",
        note=f"criterion {criterion.value}, whatever the distances; bars: 95 % Wilson interval",
        columns=("Share that fails", "From", "To"),
        value=lambda point: point.failures(criterion) / point.n,
        interval=lambda point: point.failure_interval(criterion),
    )
    return _chart(responses, measure, chosen=chosen, address_of=address_of, line=None)


def _chart(
    responses: SeverityResponses,
    measure: _Measure,
    *,
    chosen: Iterable[str],
    address_of: AddressOf,
    line: float | None,
) -> Chart:
    shown = responses.highlighted(chosen)
    others = [curve for curve in responses.curves if curve not in shown]
    start = responses.clean
    data = [_grey(curve, start, measure, address_of) for curve in others]
    data += [_coloured(curve, start, measure, address_of, place=place) for place, curve in enumerate(shown)]
    is_by_level = all(curve.is_by_level for curve in responses.curves)
    note = measure.note + ("; " + (BY_LEVEL if is_by_level else NOT_JOINED) if responses.curves else "")
    if any(point.is_far for curve in shown for point in curve.points):
        note += "; hollow marks: on average further from the clean input than a failure may be"
    if others:
        note += f"; grey: {write_many(len(others), 'other operator')}"
    rows, urls = _table(responses.curves, measure, address_of)
    return Chart(
        slug=measure.slug,
        title=measure.title,
        note=note,
        spec={"data": data, "layout": _layout(shown, measure, line)},
        sentence=_sentence(shown, measure),
        columns=(
            Column("Operator", is_number=False), Column("Severity"), Column("Answers"),
            *(Column(title) for title in measure.columns),
        ),
        rows=rows,
        row_urls=urls,
    )  # fmt: skip


def _values(
    curve: ResponseCurve, start: ResponsePoint | None, measure: _Measure
) -> tuple[list[float], list[float]]:
    """Return severities and values, from the clean answers on."""
    points = ([start] if start is not None else []) + list(curve.points)
    return [round(one.severity, 4) for one in points], [round(measure.value(one), 4) for one in points]


def _grey(
    curve: ResponseCurve, start: ResponsePoint | None, measure: _Measure, address_of: AddressOf
) -> dict[str, Any]:
    x, y = _values(curve, start, measure)
    return {
        "type": "scatter",
        "mode": "lines" if curve.is_by_level else "markers",
        "name": curve.title,
        "showlegend": False,
        "x": x,
        "y": y,
        "customdata": _addresses(curve, start, address_of),
        "hovertemplate": f"{curve.title}: %{{y:.2f}} at %{{x:.2f}}<extra></extra>",
        "line": {"color": "$line-strong", "width": 0.7, "dash": "solid"},
        "marker": {"color": "$line-strong", "size": 4},
    }


def _coloured(
    curve: ResponseCurve,
    start: ResponsePoint | None,
    measure: _Measure,
    address_of: AddressOf,
    *,
    place: int,
) -> dict[str, Any]:
    x, y = _values(curve, start, measure)
    points = ([start] if start is not None else []) + list(curve.points)
    bounds = [measure.interval(point) for point in points]
    symbols = [SYMBOLS[place] + ("-open" if point.is_far else "") for point in points]
    return {
        "type": "scatter",
        "mode": "lines+markers" if curve.is_by_level else "markers",
        "name": curve.title,
        "x": x,
        "y": y,
        "text": [f"{point.n:,}" for point in points],
        "customdata": _addresses(curve, start, address_of),
        "hovertemplate": f"{curve.title}: %{{y:.2f}} at %{{x:.2f}}, n = %{{text}}<extra></extra>",
        "line": {"color": SEQUENCE[place], "dash": DASHES[place], "width": 2.5 if place == 0 else 2},
        "marker": {"symbol": symbols, "size": 7, "color": SEQUENCE[place]},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [round(bound.high - value, 4) for bound, value in zip(bounds, y, strict=True)],
            "arrayminus": [round(value - bound.low, 4) for bound, value in zip(bounds, y, strict=True)],
            "thickness": 1,
            "width": 3,
            "color": SEQUENCE[place],
        },
    }


def _addresses(curve: ResponseCurve, start: ResponsePoint | None, address_of: AddressOf) -> list[str]:
    first = [""] if start is not None else []
    return first + [address_of(curve, point) for point in curve.points]


def _layout(shown: Sequence[ResponseCurve], measure: _Measure, line: float | None) -> dict[str, Any]:
    shapes = []
    if line is not None:
        shapes.append(
            {
                "type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": line, "y1": line,
                "line": {"color": "$text", "width": 1.2, "dash": "4px,3px"},
            }
        )  # fmt: skip
    return {
        "showlegend": False,
        "height": 340,
        "margin": {"l": 48, "r": 156, "t": 14, "b": 44},
        "xaxis": {"title": {"text": _axis(shown)}, "range": [-0.02, 1.02], "nticks": 6},
        "yaxis": {"title": {"text": measure.axis}, "range": [0, 1.03], "nticks": 6},
        "shapes": shapes,
        "annotations": [
            end_label(curve.title, curve.points[-1].severity, y=height) | {"bgcolor": "$surface"}
            for curve, height in _end_heights(shown, measure)
        ],
    }


def _axis(shown: Sequence[ResponseCurve]) -> str:
    is_mean = any(point.high - point.low >= 0.005 for curve in shown for point in curve.points)
    return "mean severity" if is_mean else "severity"


def _end_heights(shown: Sequence[ResponseCurve], measure: _Measure) -> list[tuple[ResponseCurve, float]]:
    """Return each curve with the height of its end label, pushed apart where labels would touch."""
    placed: list[tuple[ResponseCurve, float]] = []
    for curve in sorted(shown, key=lambda one: measure.value(one.points[-1])):
        height, end = measure.value(curve.points[-1]), curve.points[-1].severity
        below = [at for other, at in placed if abs(other.points[-1].severity - end) < LEAST_GAP]
        if below:
            height = max(height, below[-1] + LEAST_GAP)
        placed.append((curve, round(height, 4)))
    return placed


def _table(
    curves: Sequence[ResponseCurve], measure: _Measure, address_of: AddressOf
) -> tuple[tuple[tuple[Cell, ...], ...], tuple[str, ...]]:
    rows: list[tuple[Cell, ...]] = []
    urls: list[str] = []
    for curve in curves:
        for point in curve.points:
            bounds = measure.interval(point)
            numbers = (measure.value(point), bounds.low, bounds.high)
            rows.append((curve.title, _span(point), point.n, *(round(number, 3) for number in numbers)))
            urls.append(address_of(curve, point))
    return tuple(rows), tuple(urls)


def _span(point: ResponsePoint) -> str:
    if point.high - point.low < 0.005:
        return f"{point.severity:.2f}"
    span = f"{point.low:.2f}–{point.high:.2f}"
    return span if point.level is None else f"{point.severity:.2f} ({span})"


def _sentence(shown: Sequence[ResponseCurve], measure: _Measure) -> str:
    if not shown:
        return "No operator was asked alone."
    ends = [
        f"{curve.title} {measure.value(curve.points[-1]):.2f} at severity {curve.points[-1].severity:.2f}"
        for curve in shown[:HIGHLIGHTED]
    ]
    return f"{capfirst(measure.axis)}: {'; '.join(ends)}."
