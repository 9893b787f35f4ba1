"""The shape of a system's sensitivity: six numbers from 0 to 1, as a radar and as bars."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from searches.charts.modality_profile import REGIME_COLOURS
from searches.services.modality_tables import REGIME_TITLES, RegimeNumbers, TableSource
from vlmlab.core.most.outcomes import FailureCriterion
from vlmlab.core.most.summaries import Spread
from vlmlab.core.most.types import Regime
from vlmlab.web.figures import DASHES, Chart, Column

REGIME_DASHES: dict[Regime, str] = {"image": DASHES[0], "text": DASHES[1], "joint": DASHES[2]}
NORMAL_95 = 1.959964


@dataclass(frozen=True)
class Axis:
    """One axis of the shape: a number from 0 to 1, outside is more sensitive, with its interval."""

    title: str
    value: float | None
    low: float | None
    high: float | None


def shape_axes(one: RegimeNumbers, criterion: FailureCriterion, *, budget: float) -> list[Axis]:
    """Return the axes of the shape of one regime.

    Args:
        one: its numbers.
        criterion: of its attack success.
        budget: perturbation budget of the search, which "budget left" is a share of.
    """
    rate = one.effectiveness.outcomes.attack_success(criterion)
    low, high = rate.interval()
    spent = one.efficiency.total_budget
    return [
        Axis("ASR", rate.value, *((low, high) if rate.denominator else (None, None))),
        _mean_axis("IoU drop", one.effectiveness.iou_drop),
        _mean_axis("SWTD", one.effectiveness.swtd),
        _mean_axis("MS-SSIM kept", one.effectiveness.ms_ssim),
        _mean_axis("Text kept", _flipped(one.effectiveness.ned, 1.0)),
        _mean_axis("Budget left", _flipped(spent, budget)),
    ]


def shape_chart(source: TableSource, criterion: FailureCriterion, *, budget: float) -> Chart:
    """Return the shape of a system's sensitivity as a radar, one line a regime."""
    shapes = {one.regime: shape_axes(one, criterion, budget=budget) for one in source.numbers}
    titles = [axis.title for axis in next(iter(shapes.values()), [])]
    data = [_shape_trace(source, regime, axes) for regime, axes in shapes.items()]
    return Chart(
        slug="sensitivity-shape",
        title="Sensitivity shape",
        note="each axis 0 to 1, outside is more sensitive",
        spec={
            "data": data,
            "layout": {
                "height": 330,
                "margin": {"l": 76, "r": 92, "t": 44, "b": 28},
                "legend": {"orientation": "h", "x": 0, "y": 1.12, "xanchor": "left", "yanchor": "bottom"},
                "polar": {
                    "bgcolor": "rgba(0,0,0,0)",
                    "gridshape": "linear",
                    "radialaxis": {
                        "range": [0, 1], "tickvals": [0.5, 1], "showline": False, "gridcolor": "$grid",
                        "tickfont": {"color": "$muted"}, "angle": 90, "tickangle": 90,
                    },
                    "angularaxis": {
                        "rotation": 90, "direction": "clockwise", "gridcolor": "$grid",
                        "linecolor": "$line-strong", "tickfont": {"color": "$text"},
                    },
                },
            },
        },
        sentence=". ".join(_shape_sentence(regime, axes) for regime, axes in shapes.items()) + ".",
        columns=(Column("Regime", is_number=False), *(Column(title) for title in titles)),
        rows=tuple(
            (REGIME_TITLES[regime], *(_written(axis.value) for axis in axes))
            for regime, axes in shapes.items()
        ),
        row_urls=tuple(source.address(regime) for regime in shapes),
    )  # fmt: skip


def shape_bars(source: TableSource, criterion: FailureCriterion, *, budget: float) -> Chart:
    """Return the same numbers as bars with intervals, which can be compared to the eye."""
    shapes = {one.regime: shape_axes(one, criterion, budget=budget) for one in source.numbers}
    data = [_axis_bars(source, regime, axes) for regime, axes in shapes.items()]
    rows = [
        (axis.title, REGIME_TITLES[regime], _written(axis.value), _interval(axis))
        for regime, axes in shapes.items()
        for axis in axes
    ]
    return Chart(
        slug="sensitivity-bars",
        title="The same in bars",
        note="95 % intervals: Wilson for ASR, normal for means",
        spec={
            "data": data,
            "layout": {
                "barmode": "group",
                "height": 330,
                "margin": {"l": 40, "r": 44, "t": 44, "b": 40},
                "legend": {"orientation": "h", "x": 0, "y": 1.06, "xanchor": "left", "yanchor": "bottom"},
                "yaxis": {"range": [0, 1.05], "tickvals": [0, 0.25, 0.5, 0.75, 1]},
                "xaxis": {"tickfont": {"color": "$text"}, "tickangle": 0},
            },
        },
        sentence=". ".join(_shape_sentence(regime, axes) for regime, axes in shapes.items()) + ".",
        columns=(
            Column("Axis", is_number=False), Column("Regime", is_number=False), Column("Value"),
            Column("95 % interval"),
        ),
        rows=tuple(rows),
        row_urls=tuple(source.address(regime) for regime, axes in shapes.items() for _ in axes),
    )  # fmt: skip


def _shape_trace(source: TableSource, regime: Regime, axes: Sequence[Axis]) -> dict[str, Any]:
    closed = [*axes, axes[0]]
    return {
        "type": "scatterpolar",
        "mode": "lines+markers",
        "name": REGIME_TITLES[regime],
        "r": [axis.value or 0.0 for axis in closed],
        "theta": [axis.title for axis in closed],
        "customdata": [source.address(regime) for _ in closed],
        "line": {"color": REGIME_COLOURS[regime], "dash": REGIME_DASHES[regime], "width": 2},
        "marker": {"size": 5},
        "hovertemplate": "%{theta}: %{r:.2f}<extra>" + REGIME_TITLES[regime] + "</extra>",
    }


def _axis_bars(source: TableSource, regime: Regime, axes: Sequence[Axis]) -> dict[str, Any]:
    return {
        "type": "bar",
        "name": REGIME_TITLES[regime],
        "x": [axis.title.replace(" ", "<br>", 1) for axis in axes],
        "y": [axis.value or 0.0 for axis in axes],
        "customdata": [source.address(regime) for _ in axes],
        "marker": {"color": REGIME_COLOURS[regime]},
        "hovertemplate": "%{x}: %{y:.2f}<extra>" + REGIME_TITLES[regime] + "</extra>",
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [_over(axis.high, axis.value) for axis in axes],
            "arrayminus": [_over(axis.value, axis.low) for axis in axes],
            "color": "$text",
            "thickness": 1.2,
            "width": 2,
        },
    }


def _over(high: float | None, low: float | None) -> float:
    return max(0.0, high - low) if high is not None and low is not None else 0.0


def _mean_axis(title: str, numbers: Spread) -> Axis:
    if numbers.mean is None or numbers.sd is None:
        return Axis(title, numbers.mean, None, None)
    half = NORMAL_95 * numbers.sd / numbers.n**0.5
    return Axis(title, numbers.mean, max(0.0, numbers.mean - half), min(1.0, numbers.mean + half))


def _flipped(numbers: Spread, whole: float) -> Spread:
    if numbers.mean is None:
        return numbers
    sd = None if numbers.sd is None else numbers.sd / whole
    return Spread(numbers.n, min(1.0, max(0.0, 1.0 - numbers.mean / whole)), sd)


def _shape_sentence(regime: Regime, axes: Sequence[Axis]) -> str:
    return f"{REGIME_TITLES[regime]}: " + ", ".join(f"{axis.title} {_written(axis.value)}" for axis in axes)


def _written(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _interval(axis: Axis) -> str:
    return "–" if axis.low is None or axis.high is None else f"{axis.low:.2f}–{axis.high:.2f}"
