"""Charts of explanations: Plotly knows all their properties, and each has its numbers."""

import pytest

from tests.factories import make_sut, make_trial
from tests.searches.explained import CONE, ask_fresh, follow_up, say, searched
from tests.searches.pages.people import browser_of
from vlmlab.web.figures import validate_with_plotly
from vlmlab.web.roles import Role

pytestmark = pytest.mark.django_db

PAGES = {
    "?least_sets=1": ["failure-by-concept", "recognition-against-failure"],
    "pairs/?least_sets=1": ["pair-interaction", "pair-lift"],
    "answers/": ["answers-by-expected"],
    "attribution/": ["attribution"],
    "coverage/": ["pair-coverage"],
}


def test_every_chart_is_one_that_plotly_draws_and_has_rows():
    run = searched()
    make_trial(run, ("town_town01",), verdicts="PPPPP", expected_action="continue")
    say(ask_fresh(follow_up(run, "probe"), (CONE,), verdicts="FFPPP"), right={CONE: True})
    client = browser_of(Role.REVIEWER)

    for path, slugs in PAGES.items():
        charts = client.get(f"/explain/run/{run.pk}/{path}").context["charts"]
        assert [chart.slug for chart in charts] == slugs
        for chart in charts:
            validate_with_plotly(chart.spec)
            assert chart.rows


def test_the_heatmap_across_systems_writes_a_number_or_nothing_in_each_cell():
    for number in range(3):
        searched(sut=make_sut(f"system-{number}"))

    chart = browser_of(Role.REVIEWER).get("/explain/?least_sets=2").context["chart"]

    validate_with_plotly(chart.spec)
    trace = chart.spec["data"][0]
    assert trace["text"] == [["60"] * 3, ["50"] * 3]
    assert trace["z"] == [[3] * 3, [2] * 3]  # fifths of [0, 1]
    assert trace["hovertext"][0][0].endswith("2 sets")


def test_systems_of_one_name_have_a_column_each():
    for slug, name in (("old", "7"), ("new", "7"), ("other", "8")):
        searched(sut=make_sut(slug, name=name))

    chart = browser_of(Role.REVIEWER).get("/explain/?least_sets=2").context["chart"]

    assert sorted(chart.spec["data"][0]["x"]) == ["7 (new)", "7 (old)", "8"]
    assert chart.spec["layout"]["xaxis"]["type"] == "category"  # else Plotly takes them for numbers


def test_the_waterfall_takes_every_step_from_what_is_left():
    run = searched()

    (chart,) = browser_of(Role.REVIEWER).get(f"/explain/run/{run.pk}/attribution/").context["charts"]

    bars = chart.spec["data"][0]
    steps = dict(zip(bars["y"], zip(bars["base"], bars["x"], strict=True), strict=True))
    assert steps["Call errors"] == (15, 1)  # of 16 calls
    assert steps["Right answers"] == (6, 9)
    assert steps["Invalid answers"] == (5, 1)
    assert steps["Not probed"] == (0, 5)
