"""Charts of one modality run and of severity responses: valid figures, marks that lead somewhere, numbers."""

from dataclasses import replace

import pytest

from searches.charts.severity_responses import failure_chart, iou_chart
from searches.charts.strategy_convergence import descent_chart
from searches.charts.strategy_front import MOST_MARKS, front_chart
from searches.models import SutRecord
from searches.services.lone_strategies import Scope
from searches.services.modality_evaluations import Point
from searches.services.modality_responses import ResponseCurve, ResponsePoint, SeverityResponses
from vlmlab.core.most.outcomes import FailureCriterion
from vlmlab.core.most.types import Thresholds
from vlmlab.web.figures import validate_with_plotly

URL = "/modality/runs/5/"


def point(number, f1, *, f2=0.1, f3=0.05, status="boxes", **values):
    defaults = {"is_admitted": True, "is_hit": False}
    return Point(
        step=number // 8, position=number % 8, number=number, status=status, iou=0.8 * f1, f1=f1, f2=f2,
        f3=f3, **defaults | values,
    )  # fmt: skip


POINTS = [
    point(1, 0.9, is_front=True),
    point(2, 0.95),
    point(3, 0.3, f2=0.4, is_admitted=False, is_front=True),
    point(4, 0.5, is_hit=True, is_front=True),
    point(5, 0.0, status="empty"),
    point(6, 0.55),
]


def front(points=POINTS, **values):
    defaults = {"regime": "joint", "thresholds": Thresholds(), "clean_iou": 0.8, "page_url": URL}
    return front_chart(points, **defaults | values)


def test_the_front_has_a_panel_for_each_distance_of_its_regime():
    for regime, axes in (("image", {"x"}), ("text", {"x"}), ("joint", {"x", "x2"})):
        spec = front(regime=regime).spec
        validate_with_plotly(spec)
        assert {trace["xaxis"] for trace in spec["data"]} == axes
    assert front(regime="text").spec["data"][0]["x"] == [0.05, 0.05]


def test_each_kind_of_mark_is_a_trace_of_its_own_and_leads_to_its_evaluation():
    data = front(returned="0.4").spec["data"][:6]

    assert {trace["name"]: trace["customdata"] for trace in data} == {
        "boxes": ["0.2#evaluation", "0.6#evaluation"],
        "no boxes, f1 = 0": ["0.5#evaluation"],
        "on the front": ["0.1#evaluation", "0.3#evaluation"],
        "on the front, a hit": ["0.4#evaluation"],
        "returned case": ["0.4#evaluation"],
    }
    assert front().spec["layout"]["meta"] == {"href": f"{URL}?e="}


def test_the_numbers_under_the_front_are_those_of_front_and_hits_with_links():
    chart = front()

    assert [row[0] for row in chart.rows] == [1, 3, 4]
    assert chart.row_urls[2] == f"{URL}?e=0.4#evaluation"
    assert chart.sentence == "6 evaluations, 3 on the front, 1 hit."


def test_of_many_marks_only_those_without_a_meaning_of_their_own_are_left_out():
    points = [point(number, 0.9) for number in range(1, 2 * MOST_MARKS + 2)] + [
        point(9000, 0.2, is_front=True)
    ]

    chart = front(points, regime="image")

    drawn = {trace["name"]: len(trace["x"]) for trace in chart.spec["data"]}
    assert drawn == {"boxes": 1001, "on the front": 1}
    assert "2,000 of the other marks are left out" in chart.note


def test_the_descent_counts_answers_with_boxes_that_are_close_enough():
    chart = descent_chart(POINTS, iou_threshold=0.5, clean_iou=0.8, page_url=URL)

    validate_with_plotly(chart.spec)
    assert [row[:2] for row in chart.rows] == [(1, 0.9), (4, 0.5)]
    assert chart.spec["data"][0]["x"] == [0, 1, 4, 6]
    assert chart.spec["layout"]["shapes"][0]["y0"] == 0.625
    assert chart.sentence == "The best f1 is 0.50, found at evaluation 4 of 6 evaluations."


def test_a_descent_without_any_better_answer_says_so():
    chart = descent_chart([point(1, 1.0)], iou_threshold=0.5, clean_iou=0.8, page_url=URL)

    assert chart.rows == ()
    assert chart.sentence.startswith("No answer with boxes")


def response(severity, mean_iou, *, n=4, below=0, empty=0, is_far=False, level=None, spread=0.0):
    return ResponsePoint(
        severity - spread, severity + spread, severity, n, mean_iou, 0.1, below=below, empty=empty,
        malformed=0, is_far=is_far, level=level,
    )  # fmt: skip


@pytest.fixture
def responses():
    names = ("fog", "rain", "snow", "frost", "contrast", "saturate", "pixelate", "casing")
    curves = tuple(
        ResponseCurve(
            name,
            "text" if name == "casing" else "image",
            (
                response(0.2, 0.6 + 0.01 * place, level=1),
                response(0.4, 0.1 + 0.05 * place, below=2, empty=1, is_far=True, level=2),
            ),
        )
        for place, name in enumerate(names)
    )
    return SeverityResponses(
        sut=SutRecord(slug="pocket", name="Pocket"), scope=Scope(1, 1), curves=curves,
        clean=response(0.0, 0.9), n_seeds=4, iou_threshold=0.5, is_sweep=True, is_cut=False,
    )  # fmt: skip


def address(curve, point):
    return f"/x/?operator={curve.operator}&low={point.low}"


def test_six_operators_are_coloured_and_the_others_grey(responses):
    chart = iou_chart(responses, address_of=address)

    validate_with_plotly(chart.spec)
    grey = [trace["name"] for trace in chart.spec["data"] if trace["mode"] == "lines"]
    assert grey == ["pixelate", "casing"]
    coloured = chart.spec["data"][2]
    assert (coloured["name"], coloured["x"], coloured["y"]) == ("fog", [0.0, 0.2, 0.4], [0.9, 0.6, 0.1])
    assert coloured["customdata"] == ["", "/x/?operator=fog&low=0.2", "/x/?operator=fog&low=0.4"]
    assert coloured["marker"]["symbol"] == ["circle", "circle", "circle-open"]
    assert chart.spec["layout"]["shapes"][0]["y0"] == 0.5
    assert "grey: 2 other operators" in chart.note


def test_levels_of_a_sweep_are_joined_and_other_points_are_not(responses):
    searched = (response(0.3, 0.5), response(0.6, 0.2, n=1))
    loose = replace(responses, curves=tuple(replace(one, points=searched) for one in responses.curves))

    joined, apart = (iou_chart(one, address_of=address) for one in (responses, loose))

    validate_with_plotly(apart.spec)
    assert {trace["mode"] for trace in joined.spec["data"]} == {"lines", "lines+markers"}
    assert {trace["mode"] for trace in apart.spec["data"]} == {"markers"}
    assert "each point: one level on all seed images, at its mean severity" in joined.note
    assert "not joined, because points rest on different pictures" in apart.note


def test_a_level_over_several_severities_has_their_mean_and_span(responses):
    capped = replace(responses.curves[0], points=(response(0.4, 0.5, level=1, spread=0.2),))

    chart = iou_chart(replace(responses, curves=(capped,)), address_of=address)

    assert chart.rows[0][1] == "0.40 (0.20–0.60)"
    assert chart.spec["layout"]["xaxis"]["title"]["text"] == "mean severity"


def test_chosen_operators_are_coloured_instead(responses):
    chart = iou_chart(responses, chosen=["casing", "nothing"], address_of=address)

    assert [trace["name"] for trace in chart.spec["data"] if trace["mode"] != "lines"] == ["casing"]


def test_every_row_of_the_numbers_leads_to_its_evaluations_and_has_n_and_interval(responses):
    chart = iou_chart(responses, address_of=address)

    assert len(chart.rows) == len(chart.row_urls) == 16
    operator, severity, n, value, low, high = chart.rows[0]
    assert (operator, severity, n, value) == ("fog", "0.20", 4, 0.6)
    assert low < value < high
    assert chart.row_urls[0] == "/x/?operator=fog&low=0.2"


def test_the_share_of_failures_follows_its_criterion(responses):
    shares = {
        criterion: failure_chart(responses, criterion=criterion, address_of=address).rows[1][3]
        for criterion in FailureCriterion
    }

    assert list(shares.values()) == [0.5, 0.75, 0.75]
    validate_with_plotly(failure_chart(responses, address_of=address).spec)
