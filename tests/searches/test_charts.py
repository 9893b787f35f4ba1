"""Charts carry their numbers as a table and a sentence."""

import itertools
import re
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders

from searches.charts.convergence import Curve, convergence_chart, modes_at
from vlmlab.core.revelio.metrics import ConvergencePoint
from vlmlab.web.figures import validate_with_plotly

STEPS = [ConvergencePoint(0, 0), ConvergencePoint(10, 1), ConvergencePoint(30, 2), ConvergencePoint(60, 2)]


@pytest.mark.parametrize(
    ("inferences", "modes"), [(0, 0), (9, 0), (10, 1), (29, 1), (30, 2), (60, 2), (61, None)]
)
def test_modes_at_reads_the_steps_of_a_curve(inferences, modes):
    assert modes_at(STEPS, inferences) == modes


def test_the_chart_is_drawn_as_svg_and_known_to_plotly():
    chart = convergence_chart([Curve("This run", STEPS), Curve("Minimal only", STEPS[:2])], budget=100)

    validate_with_plotly(chart.spec)
    assert [trace["type"] for trace in chart.spec["data"]] == ["scatter", "scatter"]
    assert chart.spec["data"][0]["y"] == [0, 1, 2, 2]
    assert chart.spec["layout"]["xaxis"]["range"] == [0, 100]


def test_the_numbers_under_the_chart_are_those_of_the_curves():
    chart = convergence_chart([Curve("First", STEPS), Curve("Second", STEPS[:2])], budget=60)

    assert [column.title for column in chart.columns] == ["Inferences", "First", "Second"]
    assert (10, 1, 1) in chart.rows
    assert (60, 2, None) in chart.rows


def test_the_numbers_end_where_the_last_curve_ends():
    chart = convergence_chart([Curve("This run", STEPS)], budget=1000)

    assert chart.rows == ((60, 2),)


def test_the_sentence_says_where_each_curve_ends():
    chart = convergence_chart([Curve("This run", STEPS)], budget=100)

    assert chart.sentence == "This run: 2 failure modes after 60 inferences."


def test_labels_of_curves_that_end_together_do_not_touch():
    chart = convergence_chart([Curve("a", STEPS), Curve("b", STEPS), Curve("c", STEPS)], budget=60)

    heights = sorted(label["y"] for label in chart.spec["layout"]["annotations"])
    assert all(higher - lower >= 0.29 for lower, higher in itertools.pairwise(heights))


def test_a_run_without_an_answer_has_a_chart():
    chart = convergence_chart([Curve("This run", [ConvergencePoint(0, 0)])], budget=60)

    validate_with_plotly(chart.spec)
    assert chart.spec["layout"]["yaxis"]["range"] == [0, 4]


def test_plotly_still_looks_for_the_name_under_which_its_map_styles_are_held_back():
    script = Path(finders.find("js/plot.js")).read_text(encoding="utf-8")
    name = re.search(r'MAP_STYLE = "([0-9a-f]{64})"', script)
    library = Path(finders.find("plotly/plotly.min.js")).read_text(encoding="utf-8")

    assert name is not None
    assert library.count(f'if(!document.getElementById("{name[1]}"))') == 1
