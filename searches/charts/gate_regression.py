"""How much more often the newer system fails, mode by mode, with intervals and the margin."""

from django.urls import reverse

from searches.charts.gate_marks import marks_layout, marks_trace
from searches.services.regressions import ModeLine, RegressionPage
from vlmlab.core.verdicts.regress import MODE_WORDS
from vlmlab.web.figures import Chart, Column
from vlmlab.web.numbers import write_decimals, write_many, write_percent

COLOURS = {"worse": "$bad", "fixed": "$ok", "pass": "$c1"}
SYMBOLS = {
    "worse": "square",
    "fixed": "diamond",
    "pass": "circle",
    "still_failing": "x",
    "flaky": "triangle-up",
}


def difference_chart(page: RegressionPage) -> Chart:
    """Return the differences of all modes that were compared, the newer rate minus the older one."""
    lines = [line for line in page.modes if line.counts.n and line.reading is not None]
    places = list(range(len(lines), 0, -1))
    margin, sure = 100 * page.config.margin, write_percent(1 - 2 * page.config.level)
    traces = []
    for word, label in MODE_WORDS.items():
        chosen = [(line, place) for line, place in zip(lines, places, strict=True) if line.verdict == word]
        if chosen:
            traces.append(_trace(word, label, chosen))
    return Chart(
        slug=f"regression-{page.campaign.pk}-differences",
        title="How much more often the candidate fails",
        note=f"points of failure rate, candidate minus baseline, on scenes that both answered; bars: {sure} "
        f"interval (score), whose upper end is held against the margin of {margin:g} points (dashed)",
        spec={"data": traces, "layout": _layout(lines, margin)},
        sentence=f"{write_many(len(lines), 'mode')}: "
        + "; ".join(f"{line.words} {write_decimals(_points(line.difference), 1)}" for line in lines[:6])
        + (" and more." if len(lines) > 6 else "."),
        columns=(
            Column("Mode", is_number=False), Column("Verdict", is_number=False), Column("Difference, points"),
            Column("From"), Column("To"), Column("Scenes"),
        ),
        rows=tuple(
            (
                line.words, MODE_WORDS.get(line.verdict, line.verdict), _points(line.difference),  # type: ignore[call-overload]  # "not_drawn" stands as it is
                _points(line.interval.low), _points(line.interval.high), line.counts.n,
            )
            for line in lines
        ),
        row_urls=tuple(
            f"{reverse('regression_detail', args=[page.campaign.pk])}?mode={page.modes.index(line)}#scenes"
            for line in lines
        ),
    )  # fmt: skip


def _trace(word: str, label: str, chosen: list[tuple[ModeLine, int]]) -> dict[str, object]:
    return marks_trace(
        label,
        [_points(line.difference) for line, _ in chosen],
        [place for _, place in chosen],
        words=[line.words for line, _ in chosen],
        unit="points",
        above=[round(_points(line.interval.high) - _points(line.difference), 1) for line, _ in chosen],
        below=[round(_points(line.difference) - _points(line.interval.low), 1) for line, _ in chosen],
        colour=COLOURS.get(word, "$warn"),
        symbol=SYMBOLS.get(word, "circle-open"),
    )


def _layout(lines: list[ModeLine], margin: float) -> dict[str, object]:
    xaxis = {"title": {"text": "points more often"}, "zeroline": True, "zerolinecolor": "$line-strong"}
    layout = marks_layout([line.words for line in lines], row_height=26, most_characters=34, xaxis=xaxis)
    limit = {
        "type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": margin, "x1": margin,
        "line": {"color": "$text", "width": 1.2, "dash": "4px,3px"},
    }  # fmt: skip
    return layout | {"shapes": [limit]}


def _points(share: float) -> float:
    return round(100 * share, 1) + 0.0  # adding turns a negative zero into zero
