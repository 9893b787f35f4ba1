"""Charts of concepts and pairs: F with intervals, recognition against failure, lift and interaction."""

from collections.abc import Callable, Sequence
from typing import Any

from searches.charts.modality_profile import NAMED_AXIS
from searches.services.explain_concepts import REGIME_LABELS, ConceptLine, ConceptPage
from searches.services.explain_pairs import PairLine, PairPage
from vlmlab.core.stats import Interval
from vlmlab.core.verdicts.regimes import Regime
from vlmlab.web.figures import Chart, Column
from vlmlab.web.numbers import write_decimals, write_interval, write_percent

Address = Callable[[Sequence[str]], str]
"""Concepts -> the sets that contain all of them."""
MOST_BARS = 25
REGIME_LOOKS: dict[Regime, tuple[str, str]] = {
    "reasoning": ("$c1", "circle"),
    "recognition": ("$c2", "square"),
    "mixed": ("$c3", "diamond"),
    "low_f": ("$c4", "triangle-up"),
    "undetermined": ("$muted", "circle-open"),
}
SHARE_AXIS: dict[str, Any] = {"range": [0, 1.02], "tickvals": [0, 0.25, 0.5, 0.75, 1], "tickformat": ".0%"}


def failure_chart(page: ConceptPage, *, address: Address) -> Chart:
    """Return F of the concepts with enough sets as bars with intervals, the highest first."""
    shown = page.lines[:MOST_BARS]
    top = shown[0] if shown else None
    return Chart(
        slug="failure-by-concept",
        title="Failure rate by concept, F",
        note="mean over the sets that contain it, with 95 % score intervals, one observation a set; the "
        "upright line is the mean of all sets" + _first(len(page.lines)),
        spec={
            "data": [_bars(shown, address)],
            "layout": _named(len(shown)) | {"xaxis": SHARE_AXIS | {"showgrid": True, "showline": False},
                                            "shapes": [_upright(page.overall.value)]},
        },
        sentence=f"{top.label} has the highest F, {write_percent(top.failure.value)} over "
        f"{top.failure.sets} sets." if top else "No concept stands in enough sets.",
        columns=(Column("Concept", is_number=False), Column("F"), Column("95 % interval"), Column("Sets"),
                 Column("Wrong answers"), Column("Answers")),
        rows=tuple(
            (line.label, write_percent(line.failure.value), _interval(line.reading.failure),
             line.failure.sets, line.failure.fails, line.failure.samples)
            for line in page.lines
        ),
        row_urls=tuple(address((line.concept,)) for line in page.lines),
    )  # fmt: skip


def recognition_chart(page: ConceptPage, *, address: Address) -> Chart:
    """Return recognition against failure of the concepts that have both, a series a regime."""
    both = [line for line in page.lines if line.recognition.value is not None]
    at = page.thresholds
    traces = [
        _points([line for line in both if line.reading.regime == regime], regime, address)
        for regime in REGIME_LOOKS
    ]
    return Chart(
        slug="recognition-against-failure",
        title="Recognition against failure",
        note="every point a concept; both intervals at 95 %; dotted lines are the thresholds. A point whose "
        "interval holds a threshold is undetermined",
        spec={
            "data": [trace for trace in traces if trace["x"]],
            "layout": {
                "height": 380, "showlegend": True, "hovermode": "closest",
                "legend": {"orientation": "h", "y": 1.12},
                "xaxis": SHARE_AXIS | {"title": {"text": "recognition R"}, "showgrid": True},
                "yaxis": SHARE_AXIS | {"title": {"text": "failure rate F"}},
                "shapes": [
                    _upright(at.recognition), _upright(at.reasoning),
                    {"type": "line", "x0": 0, "x1": 1, "xref": "paper", "y0": at.low_failure,
                     "y1": at.low_failure, "line": {"color": "$muted", "width": 1, "dash": "dot"}},
                ],
            },
        },
        sentence=f"{len(both)} concepts have both numbers: "
        + ", ".join(f"{count} {label}" for label, count in page.small_counts) + ".",
        columns=(Column("Concept", is_number=False), Column("R"), Column("95 % interval of R"),
                 Column("Replies"), Column("F"), Column("95 % interval of F"), Column("Sets"),
                 Column("Regime", is_number=False)),
        rows=tuple(
            (line.label, write_percent(line.recognition.value), _interval(line.reading.recognition),
             line.recognition.replies, write_percent(line.failure.value), _interval(line.reading.failure),
             line.failure.sets, line.regime)
            for line in both
        ),
        row_urls=tuple(address((line.concept,)) for line in both),
    )  # fmt: skip


def lift_chart(page: PairPage, *, address: Address) -> Chart:
    """Return the published lift of pairs as bars, with the line where a pair without effect lies."""
    shown = page.charted
    line = page.no_effect or 0.0
    return Chart(
        slug="pair-lift",
        title="Lift of pairs, as published",
        note="failure rate of the sets with both, less F(a) + F(b) − F(a) F(b); the upright line is where a "
        f"pair without any effect lies, f² − f = {write_decimals(line)}" + _both_ends(page),
        spec={
            "data": [
                {
                    "type": "bar", "orientation": "h",
                    "x": [one.effect.lift for one in shown], "y": [one.words for one in shown],
                    "customdata": [address(one.effect.pair) for one in shown],
                    "marker": {"color": "$c1"}, "hovertemplate": "%{y}: %{x:.2f}<extra></extra>",
                }
            ],
            "layout": _named(len(shown)) | {"xaxis": {"showgrid": True, "showline": False, "zeroline": True},
                                            "shapes": [_upright(line)]},
        },
        sentence=_lift_words(page),
        columns=(Column("Pair", is_number=False), Column("Lift"), Column("Rate with both"), Column("Base"),
                 Column("Sets with both"), Column("Line of no effect")),
        rows=tuple(
            (one.words, write_decimals(one.effect.lift), write_percent(one.effect.both.value),
             write_percent(one.effect.base), one.effect.both.sets, write_decimals(one.effect.no_effect))
            for one in page.lines
        ),
        row_urls=tuple(address(one.effect.pair) for one in page.lines),
    )  # fmt: skip


def interaction_chart(page: PairPage, *, address: Address) -> Chart:
    """Return the interaction of pairs on the scale of log odds, each with its interval."""
    known = [line for line in page.lines if line.effect.interaction is not None]
    known.sort(key=lambda line: -_value(line))
    shown = known if len(known) <= MOST_BARS else [*known[: MOST_BARS // 2], *known[-MOST_BARS // 2 :]]
    return Chart(
        slug="pair-interaction",
        title="Interaction of pairs",
        note="log odds ratio of four cells (neither, one, the other, both), with 95 % intervals widened "
        "where sets of a cell differ; 0 is no interaction. Not adjusted for other concepts of the sets",
        spec={
            "data": [_forest(shown, address)],
            "layout": _named(len(shown)) | {"xaxis": {"showgrid": True, "showline": False, "zeroline": True,
                                                      "title": {"text": "log odds"}}},
        },
        sentence=f"Of {len(known)} pairs, {len(page.synergy)} surely reinforce and {len(page.interference)} "
        "surely weaken each other.",
        columns=(Column("Pair", is_number=False), Column("Log odds"), Column("Low"), Column("High"),
                 Column("Design effect"), Column("Reading", is_number=False)),
        rows=tuple(
            (line.words, write_decimals(_value(line)), write_decimals(found.low), write_decimals(found.high),
             write_decimals(found.design_effect), found.direction)
            for line in known
            if (found := line.effect.interaction) is not None
        ),
        row_urls=tuple(address(line.effect.pair) for line in known),
    )  # fmt: skip


def _bars(lines: Sequence[ConceptLine], address: Address) -> dict[str, Any]:
    values = [line.failure.value or 0.0 for line in lines]
    return {
        "type": "bar",
        "orientation": "h",
        "x": values,
        "y": [line.label for line in lines],
        "customdata": [address((line.concept,)) for line in lines],
        "marker": {"color": "$c1"},
        "hovertemplate": "%{y}: %{x:.0%}<extra></extra>",
        "error_x": _whiskers(values, [line.reading.failure for line in lines]),
    }


def _points(lines: Sequence[ConceptLine], regime: Regime, address: Address) -> dict[str, Any]:
    colour, symbol = REGIME_LOOKS[regime]
    x = [line.recognition.value or 0.0 for line in lines]
    y = [line.failure.value or 0.0 for line in lines]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": REGIME_LABELS[regime],
        "x": x,
        "y": y,
        "text": [line.label for line in lines],
        "customdata": [address((line.concept,)) for line in lines],
        "marker": {"color": colour, "symbol": symbol, "size": 9},
        "error_x": _whiskers(x, [line.reading.recognition for line in lines]) | {"color": "$line-strong"},
        "error_y": _whiskers(y, [line.reading.failure for line in lines]) | {"color": "$line-strong"},
        "hovertemplate": "%{text}: R %{x:.0%}, F %{y:.0%}<extra></extra>",
    }


def _forest(lines: Sequence[PairLine], address: Address) -> dict[str, Any]:
    found = [line.effect.interaction for line in lines]
    values = [one.value for one in found if one is not None]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": values,
        "y": [line.words for line in lines],
        "customdata": [address(line.effect.pair) for line in lines],
        "marker": {"color": "$c1", "size": 8},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [one.high - one.value for one in found if one is not None],
            "arrayminus": [one.value - one.low for one in found if one is not None],
            "color": "$text",
            "thickness": 1.2,
            "width": 3,
        },
        "hovertemplate": "%{y}: %{x:.2f}<extra></extra>",
    }


def _whiskers(values: Sequence[float], intervals: Sequence[Interval]) -> dict[str, Any]:
    return {
        "type": "data",
        "symmetric": False,
        "array": [one.high - value for value, one in zip(values, intervals, strict=True)],
        "arrayminus": [value - one.low for value, one in zip(values, intervals, strict=True)],
        "color": "$text",
        "thickness": 1.2,
        "width": 3,
    }


def _named(rows: int) -> dict[str, Any]:
    return {
        "showlegend": False,
        "height": 80 + 24 * max(rows, 3),
        "bargap": 0.35,
        "margin": {"l": 150, "r": 32, "t": 8, "b": 40},
        "yaxis": NAMED_AXIS | {"automargin": True, "autorange": "reversed"},
    }


def _upright(at: float | None) -> dict[str, Any]:
    place = at or 0.0
    line = {"color": "$text", "width": 1.2, "dash": "dot"}
    return {"type": "line", "x0": place, "x1": place, "y0": 0, "y1": 1, "yref": "paper", "line": line}


def _interval(found: Interval) -> str:
    return write_interval(found.low, found.high)


def _value(line: PairLine) -> float:
    return line.effect.interaction.value if line.effect.interaction is not None else 0.0


def _first(total: int) -> str:
    return (
        f". The first {MOST_BARS} of {total} are drawn; all stand in the numbers" if total > MOST_BARS else ""
    )


def _both_ends(page: PairPage) -> str:
    cut = len(page.lines) - len(page.charted)
    return f". The largest and smallest are drawn, {cut} between them stand in the numbers" if cut else ""


def _lift_words(page: PairPage) -> str:
    if not page.lines:
        return "No pair stands in enough sets."
    top = page.lines[0]
    return f"{top.words} has the largest lift, {write_decimals(top.effect.lift)}."
