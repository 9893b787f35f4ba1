"""Criteria nest, eligibility follows the threshold, and the returned case is chosen as published."""

import pytest

from vlmlab.core.most.objectives import Objectives
from vlmlab.core.most.outcomes import (
    FailureCriterion,
    ReturnReason,
    eligible_iou,
    is_eligible,
    returned_case,
)
from vlmlab.core.most.types import AnswerStatus, Fidelity, Outcome, Query, Thresholds

BOXES, EMPTY, MALFORMED, CALL_ERROR = AnswerStatus
CLEAN_IOU = 0.8


def told(name, status, iou, image, prompt, swtd=0.0, *, is_admissible=True):
    """An outcome whose strategy is its name, so that tests can tell it again."""
    return Outcome(Query((name,)), status, iou, Fidelity(image, prompt, is_admissible), swtd)


def name_and_reason(*outcomes, **settings):
    case = returned_case(outcomes, clean_iou=CLEAN_IOU, thresholds=Thresholds(), **settings)
    return case.outcome.query.strategy[0], case.reason


@pytest.mark.parametrize(
    ("status", "iou", "met"),
    [
        (BOXES, 0.49, ["C1", "C2", "C3"]),
        (BOXES, 0.5, []),
        (EMPTY, 0.0, ["C2", "C3"]),
        (MALFORMED, 0.0, ["C3"]),
        (MALFORMED, 0.9, ["C3"]),  # boxes that were saved do not count
    ],
)
def test_criteria_nest(status, iou, met):
    assert [one.value for one in FailureCriterion if one.is_met(status, iou, iou_threshold=0.5)] == met


def test_criteria_move_with_the_threshold():
    assert FailureCriterion.C1.is_met(BOXES, 0.6, iou_threshold=0.75)
    assert not FailureCriterion.C1.is_met(BOXES, 0.3, iou_threshold=0.25)


def test_a_failed_call_belongs_into_no_rate():
    with pytest.raises(ValueError, match="status must"):
        FailureCriterion.C3.is_met(CALL_ERROR, 0.0, iou_threshold=0.5)


def test_criteria_have_words():
    assert [one.description for one in FailureCriterion] == [
        "Boxes below the IoU threshold", "… or an empty answer", "… or a malformed answer",
    ]  # fmt: skip


@pytest.mark.parametrize(("threshold", "needed"), [(0.25, 0.5), (0.5, 0.5), (0.75, 0.75)])
def test_clean_answers_must_reach_half_and_the_threshold(threshold, needed):
    assert eligible_iou(threshold) == needed
    assert is_eligible(BOXES, needed, iou_threshold=threshold)
    assert not is_eligible(BOXES, needed - 0.01, iou_threshold=threshold)


@pytest.mark.parametrize("status", [EMPTY, MALFORMED, CALL_ERROR])
def test_clean_answers_without_boxes_are_not_eligible(status):
    assert not is_eligible(status, 1.0, iou_threshold=0.5)


def test_the_failure_with_the_highest_swtd_is_returned_among_those_that_none_beats():
    outcomes = (
        told(1, BOXES, 0.40, 0.10, 0.05, swtd=0.60),
        told(2, BOXES, 0.20, 0.15, 0.05, swtd=0.70),
        told(3, BOXES, 0.45, 0.12, 0.06, swtd=0.99),  # beaten by 1 in everything
        told(4, BOXES, 0.60, 0.00, 0.00, swtd=0.95),  # no failure
        told(5, BOXES, 0.00, 0.21, 0.00, swtd=0.95),  # too far from the picture
        told(6, BOXES, 0.00, 0.10, 0.16, swtd=0.95),  # too far from the prompt
        told(7, BOXES, 0.00, 0.00, 0.00, swtd=0.95, is_admissible=False),  # the truth is lost
        told(8, EMPTY, 0.00, 0.00, 0.00, swtd=0.95),  # ends no search, and beats no failure
        told(9, CALL_ERROR, 0.00, 0.00, 0.00, swtd=0.95),
    )

    case = returned_case(outcomes, clean_iou=CLEAN_IOU, thresholds=Thresholds())

    assert case.outcome is outcomes[1]
    assert case.objectives == Objectives(0.25, 0.15, 0.05)
    assert case.reason is ReturnReason.FAILURE


def test_distances_as_large_as_allowed_are_close_enough():
    assert name_and_reason(told(1, BOXES, 0.4, 0.2, 0.15)) == (1, ReturnReason.FAILURE)


def test_swtd_is_measured_only_for_failures_that_none_beats():
    measured = []

    def measure(outcome):
        measured.append(outcome.query.strategy[0])
        return {1: 0.3, 2: 0.4}[outcome.query.strategy[0]]

    outcomes = (
        told(1, BOXES, 0.40, 0.10, 0.05),
        told(2, BOXES, 0.20, 0.15, 0.05),
        told(3, BOXES, 0.45, 0.12, 0.06),
        told(4, BOXES, 0.60, 0.00, 0.00),
    )

    assert name_and_reason(*outcomes, swtd_of=measure) == (2, ReturnReason.FAILURE)
    assert measured == [1, 2]


def test_of_equal_failures_the_first_is_returned():
    assert name_and_reason(*(told(n, BOXES, 0.4, 0.1, 0.05, swtd=0.6) for n in (5, 3)))[0] == 5


def test_without_a_failure_the_closest_faithful_answer_is_returned():
    outcomes = (
        told(1, BOXES, 0.8, 0.0, 0.0),
        told(2, BOXES, 0.6, 0.1, 0.1),
        told(3, BOXES, 0.6, 0.1, 0.0),
        told(4, BOXES, 0.1, 0.3, 0.0),
        told(5, CALL_ERROR, 0.0, 0.0, 0.0),
    )

    assert name_and_reason(*outcomes) == (3, ReturnReason.CLOSEST)


@pytest.mark.parametrize("status", [EMPTY, MALFORMED])
def test_an_answer_without_boxes_comes_closest_but_boxes_that_fail_come_first(status):
    silent = told(1, status, 0.0, 0.1, 0.0)

    assert name_and_reason(told(2, BOXES, 0.6, 0.0, 0.0), silent) == (1, ReturnReason.CLOSEST)
    assert name_and_reason(silent, told(3, BOXES, 0.45, 0.1, 0.0)) == (3, ReturnReason.FAILURE)


def test_without_a_faithful_answer_the_smallest_iou_is_returned_and_says_so():
    outcomes = (told(1, BOXES, 0.3, 0.4, 0.0), told(2, BOXES, 0.2, 0.9, 0.9))

    assert name_and_reason(*outcomes) == (2, ReturnReason.UNFAITHFUL)


def test_a_run_without_an_answer_returns_nothing():
    outcomes = (told(1, CALL_ERROR, 0.0, 0.0, 0.0),)

    assert returned_case(outcomes, clean_iou=CLEAN_IOU, thresholds=Thresholds()) is None
    assert returned_case((), clean_iou=CLEAN_IOU, thresholds=Thresholds()) is None
