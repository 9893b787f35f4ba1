"""Charts of answers: outcomes by expected answer, and the attribution waterfall."""

from typing import Any

from searches.charts.modality_profile import NAMED_AXIS
from searches.services.explain_answers import INVALID, OUTCOMES, RIGHT, AnswerPage
from searches.services.explain_attribution import AttributionPage, StepLine
from vlmlab.web.figures import Chart, Column
from vlmlab.web.numbers import write_count, write_interval, write_percent

OUTCOME_COLOURS = {
    RIGHT: "$sunken",
    "under-reaction": "$c1",
    "insufficient": "$c2",
    "over-reaction": "$c3",
    "missed-hazard": "$c4",
    "over-caution": "$c5",
    "other": "$c6",
    INVALID: "$muted",
}
STEP_COLOURS = {"call_error": "$muted", "right": "$sunken", "not_probed": "$line-strong"}


def outcome_chart(page: AnswerPage) -> Chart:
    """Return answers by outcome, one stacked bar an expected answer, each as long as its answers."""
    return Chart(
        slug="answers-by-expected",
        title="Answers by expected answer and direction of the error",
        note="all answers, curtailed sets included: how many there are says what was asked, not how often "
        "the system fails",
        spec={
            "data": [_outcome_trace(page, name) for name in page.outcomes],
            "layout": {
                "barmode": "stack", "showlegend": True,
                "legend": {"orientation": "h", "y": 1.15, "traceorder": "normal"},
                "height": 130 + 40 * max(2, len(page.lines)), "bargap": 0.35,
                "margin": {"l": 150, "r": 32, "t": 40, "b": 40},
                "xaxis": {"rangemode": "tozero", "showgrid": True, "title": {"text": "answers"}},
                "yaxis": NAMED_AXIS | {"automargin": True, "autorange": "reversed"},
            },
        },
        sentence=f"{write_count(page.total.fails)} of {write_count(page.total.answers)} answers are wrong, "
        f"{write_count(page.total.invalid)} of them invalid.",
        columns=(Column("Expected answer", is_number=False), Column("Answers"),
                 *(Column(OUTCOMES[name]) for name in page.outcomes)),
        rows=tuple(
            (line.label, line.answers, *(line.outcomes.get(name, 0) for name in page.outcomes))
            for line in [*page.lines, page.total]
        ),
    )  # fmt: skip


def waterfall_chart(page: AttributionPage) -> Chart:
    """Return the waterfall: every step takes its calls from those that are left."""
    lines = page.lines
    return Chart(
        slug="attribution",
        title="Where wrong answers come from",
        note="every call has one place: the first step that fits, from the top. Steps below the right "
        "answers add up to the wrong ones",
        spec={
            "data": [
                {
                    "type": "bar", "orientation": "h",
                    "x": [line.calls for line in lines],
                    "base": [line.left - line.calls for line in lines],
                    "y": [line.title for line in lines],
                    "text": [write_count(line.calls) for line in lines],
                    "textposition": "outside", "cliponaxis": False,
                    "marker": {"color": [_step_colour(line) for line in lines],
                               "line": {"color": "$line-strong", "width": 1}},
                    "hovertemplate": "%{y}: %{text}<extra></extra>",
                }
            ],
            "layout": {
                "showlegend": False, "height": 90 + 30 * len(lines), "bargap": 0.3,
                "margin": {"l": 170, "r": 48, "t": 8, "b": 40},
                "xaxis": {"rangemode": "tozero", "showgrid": True, "title": {"text": "calls left"}},
                "yaxis": NAMED_AXIS | {"automargin": True, "autorange": "reversed"},
            },
        },
        sentence=f"{write_count(page.found.fails)} of {write_count(page.found.answers)} answers are wrong; "
        f"{write_count(page.found.counts['recognition'])} of them go back to recognition and "
        f"{write_count(page.found.reasoning)} to reasoning.",
        columns=(Column("Step", is_number=False), Column("Calls"), Column("Share of wrong answers"),
                 Column("95 % interval")),
        rows=tuple(
            (line.title, line.calls, write_percent(line.share),
             "–" if line.low is None or line.high is None else write_interval(line.low, line.high))
            for line in lines
        ),
    )  # fmt: skip


def _outcome_trace(page: AnswerPage, name: str) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "name": OUTCOMES[name],
        "x": [line.outcomes.get(name, 0) for line in page.lines],
        "y": [line.label for line in page.lines],
        "marker": {"color": OUTCOME_COLOURS[name], "line": {"color": "$line-strong", "width": 1}},
        "hovertemplate": f"%{{y}}, {OUTCOMES[name].lower()}: %{{x}}<extra></extra>",
    }


def _step_colour(line: StepLine) -> str:
    return "$c3" if line.is_reasoning else STEP_COLOURS.get(line.name, "$c1")
