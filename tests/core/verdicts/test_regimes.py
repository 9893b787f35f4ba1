"""Recognition and regimes by hand, and the labels of the paper against its own rule."""

import pytest

from vlmlab.core.revelio.published import published
from vlmlab.core.stats import score_interval_of_mean
from vlmlab.core.verdicts.regimes import (
    MeanRate,
    Recognition,
    RegimeThresholds,
    StatementSaid,
    mean_failure_rate,
    point_regime,
    pooled,
    recognise,
    regime_of,
)

NO_LOW = RegimeThresholds(low_failure=0.0)


def seen(right: int, of: int) -> Recognition:
    return Recognition(right, of, right, of, 0, of)


def failing(rate: float, sets: int) -> MeanRate:
    return MeanRate(rate, sets)


def test_recognition_is_the_mean_of_both_accuracies_and_silence_is_not_right():
    replies = [
        [StatementSaid("cone", True, True), StatementSaid("cone", False, True)],
        [StatementSaid("cone", True, None), StatementSaid("cone", False, False)],
        [StatementSaid("fog", True, False)],
    ]

    found = recognise(replies)

    assert found == {
        "cone": Recognition(1, 2, 1, 2, unanswered=1, replies=2),
        "fog": Recognition(0, 1, 0, 0, unanswered=0, replies=1),
    }
    assert (found["cone"].positive_accuracy, found["cone"].negative_accuracy) == (0.5, 0.5)
    assert found["cone"].value == 0.5
    assert (found["fog"].negative_accuracy, found["fog"].value) == (None, None)


def test_a_system_that_always_says_true_has_a_recognition_of_one_half():
    replies = [[StatementSaid("cone", True, True), StatementSaid("cone", False, True)]] * 8

    assert recognise(replies)["cone"].value == 0.5


def test_recognition_of_two_runs_is_pooled_by_counts():
    assert pooled([Recognition(1, 2, 3, 4, 5, 6), Recognition(10, 20, 30, 40, 50, 60)]) == Recognition(
        11, 22, 33, 44, 55, 66
    )


def test_both_statements_of_a_reply_count_as_one_observation():
    interval = seen(18, 20).interval()

    assert (interval.low, interval.high) == pytest.approx((0.699, 0.972), abs=1e-3)
    assert Recognition().interval().high == 1.0


def test_mean_failure_rate_gives_each_set_the_same_weight():
    rate = mean_failure_rate([(5, 5), (0, 10), (1, 0)])

    assert rate == MeanRate(0.5, sets=2, fails=5, samples=15)
    assert rate.interval() == score_interval_of_mean(0.5, 2)
    assert mean_failure_rate([]) == MeanRate(None, 0)
    assert mean_failure_rate([]).interval().low == 0.0


@pytest.mark.parametrize(
    ("recognition", "failure", "regime", "why", "point"),
    [
        (seen(95, 100), failing(0.5, 60), "reasoning", "", "reasoning"),
        (seen(10, 100), failing(0.5, 60), "recognition", "", "recognition"),
        (seen(50, 100), failing(0.5, 60), "mixed", "", "mixed"),
        (seen(95, 100), failing(0.05, 60), "low_f", "", "low_f"),
        (Recognition(), failing(0.05, 60), "low_f", "", None),
        (seen(15, 20), failing(0.5, 60), "undetermined", "recognition_straddles", "reasoning"),
        (seen(95, 100), failing(0.22, 60), "undetermined", "failure_straddles", "reasoning"),
        (seen(95, 100), failing(0.9, 9), "undetermined", "too_few", "reasoning"),
        (seen(9, 9), failing(0.9, 60), "undetermined", "too_few", "reasoning"),
        (Recognition(), failing(0.9, 60), "undetermined", "too_few", None),
    ],
)
def test_regime_is_said_only_where_intervals_leave_no_doubt(recognition, failure, regime, why, point):
    reading = regime_of(recognition, failure)

    assert (reading.regime, reading.why, reading.point) == (regime, why, point)


def test_thresholds_belong_to_the_regimes_they_open():
    assert point_regime(0.7, 0.2) == "reasoning"
    assert point_regime(0.3, 0.2) == "recognition"
    assert point_regime(0.69, 0.2) == point_regime(0.31, 0.2) == "mixed"
    assert point_regime(0.9, 0.1999) == "low_f"


def test_thresholds_that_cross_are_refused():
    with pytest.raises(ValueError, match="recognition must be below reasoning"):
        RegimeThresholds(reasoning=0.3, recognition=0.7)
    with pytest.raises(ValueError, match="low_failure"):
        RegimeThresholds(low_failure=1.5)


def test_the_paper_labels_two_driving_concepts_against_its_rule():
    rows = published().table_13
    by_rule = {row.concept: point_regime(row.recognition / 100, row.failure / 100, NO_LOW) for row in rows}

    against = [row.concept for row in rows if row.regime.lower() != by_rule[row.concept]]

    assert against == ["obstruction_far", "cyclist"]
    assert [by_rule[concept] for concept in against] == ["reasoning", "reasoning"]
    # With the regime that its indoor table has, both would be low-F, and so would two that it calls mixed.
    low = [row.concept for row in rows if point_regime(row.recognition / 100, row.failure / 100) == "low_f"]
    assert low == ["emergency_vehicle", "cone", "obstruction_far", "cyclist"]


def test_the_paper_labels_its_indoor_concepts_by_its_rule():
    words = {"reasoning": "Reasoning", "recognition": "Recognition", "mixed": "Mixed", "low_f": "Low-F"}

    rows = published().table_14

    assert [row.regime for row in rows] == [
        words[point_regime(row.recognition / 100, row.failure / 100)] for row in rows
    ]
    assert len(rows) == 10
