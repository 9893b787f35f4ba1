"""Charts of sensitivity profiles: known to Plotly, their numbers below, their marks with addresses."""

import pytest

from searches.charts.modality_operators import budget_chart, ranking_chart
from searches.charts.modality_profile import asr_chart, outcome_chart
from searches.charts.modality_shape import shape_axes, shape_bars, shape_chart
from searches.services.modality_tables import Choice, RegimeNumbers, TableSource
from searches.services.modality_tables_operators import BudgetLine, OperatorLine
from vlmlab.core.most.outcomes import FailureCriterion
from vlmlab.core.most.summaries import Effectiveness, Efficiency, OutcomeCounts, Rate, Spread
from vlmlab.web.figures import validate_with_plotly

C1, C2, C3 = FailureCriterion
NOTHING = Spread(0, None, None)


def numbers_of(regime, *, below=6, empty=2, malformed=0, held=2, baseline=3, ned=0.2):
    likeness = Spread(8, 0.9, 0.1)
    return RegimeNumbers(
        regime,
        Effectiveness(
            OutcomeCounts(below, empty, malformed, held, baseline, 0, 0),
            unfaithful=0,
            iou_drop=Spread(10, 0.4, 0.2),
            ms_ssim=likeness,
            ned=Spread(8, ned, 0.05),
            swtd=Spread(8, 0.6, None),
            swtd_mean=NOTHING,
        ),
        Efficiency(NOTHING, NOTHING, Spread(10, 0.5, 0.1), NOTHING, NOTHING, NOTHING, NOTHING),
        (3, 5),
    )


@pytest.fixture
def source():
    return TableSource(5, Choice(sut="one"), [numbers_of("image"), numbers_of("text", below=0, held=8)], {})


def test_attack_success_is_drawn_with_wilson_intervals(source):
    chart = asr_chart(source, C2)

    validate_with_plotly(chart.spec)
    assert chart.rows[0] == ("Image", "80 %", "49–94 %", 8, 10)
    (bars,) = chart.spec["data"]
    assert bars["x"] == [0.2, 0.8]  # the lowest bar first
    assert bars["error_x"]["array"][1] == pytest.approx(0.9433 - 0.8, abs=1e-4)
    assert chart.row_urls[0] == "/modality/5/runs/?sut=one&regime=image&outcome=c2"
    assert chart.sentence.startswith("Image: 80 %, 8 of 10, 49–94 %")


def test_runs_outside_every_rate_stand_apart(source):
    chart = outcome_chart(source)

    validate_with_plotly(chart.spec)
    names = [trace["name"] for trace in chart.spec["data"]]
    assert names == ["below the threshold", "empty", "malformed", "held", "baseline failure, outside"]
    assert chart.rows[0] == ("Image", 6, 2, 0, 2, 3, 10)
    assert chart.spec["data"][4]["customdata"][1] == (
        "/modality/5/runs/?sut=one&regime=text&outcome=baseline_failure"
    )


def test_every_axis_of_the_shape_lies_between_0_and_1_and_outside_is_more_sensitive():
    axes = {axis.title: axis for axis in shape_axes(numbers_of("image"), C1, budget=2.0)}

    assert [round(axis.value, 6) for axis in axes.values()] == [0.6, 0.4, 0.6, 0.9, 0.8, 0.75]
    assert (axes["SWTD"].low, axes["SWTD"].high) == (None, None)  # one number has no spread
    assert axes["IoU drop"].low == pytest.approx(0.4 - 1.959964 * 0.2 / 10**0.5)


def test_radar_and_bars_show_the_same_numbers(source):
    radar, bars = shape_chart(source, C1, budget=1.0), shape_bars(source, C1, budget=1.0)

    validate_with_plotly(radar.spec)
    validate_with_plotly(bars.spec)
    assert radar.spec["data"][0]["r"][:-1] == bars.spec["data"][0]["y"]
    assert radar.spec["data"][0]["r"][0] == radar.spec["data"][0]["r"][-1]
    assert len(bars.rows) == 12


def test_the_budget_is_a_heatmap_of_five_steps_with_a_dot_where_nothing_can_be():
    lines = [
        BudgetLine("fog", "fog", "image", {"image": 0.5, "text": None}),
        BudgetLine("", "other image, 25", "image", {"image": 0.05, "text": None}),
    ]

    chart = budget_chart(lines, ("image", "text"), address=lambda regime, name: f"/runs/{regime}/{name}")

    validate_with_plotly(chart.spec)
    (cells,) = chart.spec["data"]
    assert cells["z"] == [[4, -1.0], [0, -1.0]]
    assert cells["text"] == [["0.50", "·"], ["0.05", "·"]]
    assert cells["customdata"] == [["/runs/image/fog", ""], ["/runs/image/", ""]]
    assert chart.rows == (("fog", "0.500", "·"), ("other image, 25", "0.050", "·"))
    assert chart.sentence == "Fog takes most: 0.50 of the budget in the regime image."


def test_the_ranking_shows_the_first_fifteen():
    lines = [
        OperatorLine(
            f"op_{number}", f"op {number}", "image", Rate(20 - number, 20), Rate(0, 5), Rate(1, 2), 0.3
        )
        for number in range(20)
    ]

    chart = ranking_chart(lines, regime=None, address=lambda regime, name: f"/{regime}{name}")

    validate_with_plotly(chart.spec)
    assert len(chart.rows) == 15
    assert chart.rows[0][:3] == ("op 0", "20 / 20", "100 %")
    assert chart.row_urls[1] == "/op_1"


def test_charts_without_a_number_can_be_drawn():
    source = TableSource(5, Choice(sut="one"), [], {})

    for chart in (
        asr_chart(source, C3),
        outcome_chart(source),
        shape_chart(source, C3, budget=1.0),
        shape_bars(source, C3, budget=1.0),
        budget_chart([], (), address=lambda *_: ""),
        ranking_chart([], regime=None, address=lambda *_: ""),
    ):
        validate_with_plotly(chart.spec)
        assert chart.rows == ()
