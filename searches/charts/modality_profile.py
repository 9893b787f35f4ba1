"""Charts of a sensitivity profile: how often each regime succeeds, and how its runs ended."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from searches.services.modality_outcomes import CRITERION_WORDS
from searches.services.modality_tables import REGIME_TITLES, RegimeNumbers, TableSource
from vlmlab.core.most.outcomes import FailureCriterion
from vlmlab.core.most.summaries import OutcomeCounts, Rate
from vlmlab.core.most.types import Regime
from vlmlab.web.figures import Cell, Chart, Column, end_label
from vlmlab.web.numbers import write_interval, write_percent

REGIME_COLOURS: dict[Regime, str] = {"image": "$c1", "text": "$c2", "joint": "$c3"}
NAMED_AXIS: dict[str, Any] = {
    "showgrid": False, "tickfont": {"color": "$text"}, "ticks": "outside", "ticklen": 6,
    "tickcolor": "rgba(0,0,0,0)",
}  # fmt: skip


@dataclass(frozen=True)
class OutcomeBar:
    """One part of the bars that say how runs ended.

    Attributes:
        outcome: as lists of runs name it.
        title: in the legend.
        colour: of the figure's palette.
        count: reads its number.
        is_in_rate: whether it is in the denominator of a rate.
    """

    outcome: str
    title: str
    colour: str
    count: Callable[[OutcomeCounts], int]
    is_in_rate: bool = True


OUTCOME_BARS: tuple[OutcomeBar, ...] = (
    OutcomeBar("below", "below the threshold", "$c4", lambda one: one.below),
    OutcomeBar("empty", "empty", "$c5", lambda one: one.empty),
    OutcomeBar("malformed", "malformed", "$c6", lambda one: one.malformed),
    OutcomeBar("held", "held", "$h2", lambda one: one.held),
    OutcomeBar(
        "baseline_failure", "baseline failure, outside", "$still-soft", lambda one: one.baseline_failures,
        is_in_rate=False,
    ),
    OutcomeBar(
        "call_error", "call error, outside", "$warn-soft", lambda one: one.call_errors, is_in_rate=False
    ),
    OutcomeBar("unfinished", "unfinished, outside", "$sunken", lambda one: one.unfinished, is_in_rate=False),
)  # fmt: skip


def asr_chart(source: TableSource, criterion: FailureCriterion) -> Chart:
    """Return attack success by regime as bars with Wilson intervals."""
    numbers = list(source.numbers)
    rates = {one.regime: one.effectiveness.outcomes.attack_success(criterion) for one in numbers}
    addresses = {one: source.address(one, outcome=criterion.value.lower()) for one in rates}
    rows: list[tuple[Cell, ...]] = []
    for regime, rate in rates.items():
        low, high = rate.interval()
        interval = write_interval(low, high) if rate.denominator else "–"
        share = write_percent(rate.value)
        rows.append((REGIME_TITLES[regime], share, interval, rate.numerator, rate.denominator))
    most = max((rate.denominator for rate in rates.values()), default=0)
    return Chart(
        slug="attack-success",
        title="Attack success rate by regime",
        note=f"criterion {criterion.value}: {CRITERION_WORDS[criterion]}; 95 % Wilson intervals, at most "
        f"{most:,} finished runs a bar",
        spec={
            "data": [_rate_bars(rates, addresses)],
            "layout": {
                "showlegend": False,
                "margin": {"l": 60, "r": 44, "t": 8, "b": 36},
                "bargap": 0.45,
                "xaxis": _share_axis(1.12),
                "annotations": [
                    end_label(write_percent(rate.value), rate.interval()[1], y=REGIME_TITLES[regime])
                    for regime, rate in rates.items()
                    if rate.denominator
                ],
                "yaxis": NAMED_AXIS,
            },
        },
        sentence=". ".join(f"{row[0]}: {row[1]}, {row[3]} of {row[4]}, {row[2]}" for row in rows) + ".",
        columns=(
            Column("Regime", is_number=False), Column("ASR"), Column("95 % interval"), Column("Failing"),
            Column("Finished"),
        ),
        rows=tuple(rows),
        row_urls=tuple(addresses[regime] for regime in rates),
    )  # fmt: skip


def outcome_chart(source: TableSource) -> Chart:
    """Return how the runs of each regime ended, as stacked bars; what is in no rate stands outside."""
    numbers = list(source.numbers)
    shown = [
        bar
        for bar in OUTCOME_BARS
        if bar.is_in_rate or any(bar.count(one.effectiveness.outcomes) for one in numbers)
    ]
    data = [_outcome_bars(source, numbers, bar) for bar in shown]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            one.title,
            *(bar.count(one.effectiveness.outcomes) for bar in shown),
            one.effectiveness.outcomes.finished,
        )
        for one in numbers
    )
    return Chart(
        slug="outcomes",
        title="How runs ended",
        note="one run a seed image; pale bars are in no rate",
        spec={
            "data": data,
            "layout": {
                "barmode": "stack",
                "height": 300,
                "bargap": 0.45,
                "margin": {"l": 60, "r": 44, "t": 64, "b": 40},
                "legend": {
                    "orientation": "h", "x": 0, "y": 1.05, "xanchor": "left", "yanchor": "bottom",
                    "traceorder": "normal",
                },
                "xaxis": {"title": {"text": "runs"}, "tickformat": ",d", "showgrid": True},
                "yaxis": NAMED_AXIS | {"autorange": "reversed"},
            },
        },
        sentence=". ".join(_outcome_sentence(one) for one in numbers) + ".",
        columns=(
            Column("Regime", is_number=False), *(Column(bar.title.capitalize()) for bar in shown),
            Column("Finished"),
        ),
        rows=rows,
        row_urls=tuple(source.address(one.regime) for one in numbers),
    )  # fmt: skip


def _rate_bars(rates: dict[Regime, Rate], addresses: dict[Regime, str]) -> dict[str, Any]:
    shown = list(reversed(rates))  # Plotly draws the first bar lowest
    values = [rates[one].value or 0.0 for one in shown]
    bounds = [rates[one].interval() for one in shown]
    is_drawn = [bool(rates[one].denominator) for one in shown]
    return {
        "type": "bar",
        "orientation": "h",
        "x": values,
        "y": [REGIME_TITLES[one] for one in shown],
        "customdata": [addresses[one] for one in shown],
        "marker": {"color": [REGIME_COLOURS[one] for one in shown]},
        "text": [f"{write_percent(rates[one].value)}" for one in shown],
        "textposition": "none",
        "hovertemplate": "%{y}: %{text}, see the runs<extra></extra>",
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [
                high - value if drawn else 0.0
                for (_, high), value, drawn in zip(bounds, values, is_drawn, strict=True)
            ],
            "arrayminus": [
                value - low if drawn else 0.0
                for (low, _), value, drawn in zip(bounds, values, is_drawn, strict=True)
            ],
            "color": "$text",
            "thickness": 1.3,
            "width": 4,
        },
    }  # fmt: skip


def _share_axis(end: float) -> dict[str, Any]:
    return {
        "range": [0, end],
        "tickvals": [0, 0.25, 0.5, 0.75, 1],
        "tickformat": ".0%",
        "showgrid": True,
        "showline": False,
    }


def _outcome_bars(source: TableSource, numbers: Sequence[RegimeNumbers], bar: OutcomeBar) -> dict[str, Any]:
    marker: dict[str, Any] = {"color": bar.colour}
    if not bar.is_in_rate:
        marker["line"] = {"color": "$line-strong", "width": 1}
    counts = [bar.count(one.effectiveness.outcomes) for one in numbers]
    return {
        "type": "bar",
        "orientation": "h",
        "name": bar.title,
        "x": counts,
        "y": [one.title for one in numbers],
        "customdata": [source.address(one.regime, outcome=bar.outcome) for one in numbers],
        "marker": marker,
        "text": [str(count) if count else "" for count in counts],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "hovertemplate": f"%{{y}}, {bar.title}: %{{x}}<extra></extra>",
    }


def _outcome_sentence(one: RegimeNumbers) -> str:
    found = one.effectiveness.outcomes
    return (
        f"{one.title}: {found.below} below the threshold, {found.empty} empty, {found.malformed} malformed, "
        f"{found.held} held; outside {found.baseline_failures} baseline failures, {found.call_errors} call "
        f"errors, {found.unfinished} unfinished"
    )
