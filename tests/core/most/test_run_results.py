"""Runs hold together, and tables keep the seed images and systems that belong there."""

import pytest

from tests.core.most.finished_runs import numbers, run, wrong_from_the_start
from vlmlab.core.most.genotype import SpentBudget
from vlmlab.core.most.objectives import Objectives
from vlmlab.core.most.outcomes import ReturnedCase, ReturnReason, RunStatus
from vlmlab.core.most.run_results import CaseNumbers, case_numbers, on_common_seeds, retained_suts
from vlmlab.core.most.types import AnswerStatus, Fidelity, Outcome, Query, Thresholds


def test_numbers_of_a_returned_case():
    outcome = Outcome(Query((0.5, 0.25)), AnswerStatus.BOXES, 0.2, Fidelity(0.1, 0.05))
    case = ReturnedCase(outcome, Objectives(0.25, 0.1, 0.05), ReturnReason.FAILURE)

    found = case_numbers(
        case,
        clean_iou=0.8,
        thresholds=Thresholds(),
        spent=SpentBudget(image=0.5, text=0.25),
        ms_ssim=0.9,
        ned=0.2,
    )

    # Three quarters lost; 0.9 * 0.8 = 0.72 kept of the input, or 0.85 in the mean.
    assert found == CaseNumbers(
        AnswerStatus.BOXES, 0.2, True, 0.9, 0.2, pytest.approx(0.735), pytest.approx(0.8), 0.5, 0.25
    )
    assert found.total_budget == 0.75


def test_a_malformed_case_has_lost_all_and_an_unfaithful_one_says_so():
    outcome = Outcome(Query((0.5,)), AnswerStatus.MALFORMED, 0.7, Fidelity(0.3, 0.0))
    case = ReturnedCase(outcome, Objectives(0.0, 0.3, 0.0), ReturnReason.UNFAITHFUL)

    found = case_numbers(
        case, clean_iou=0.8, thresholds=Thresholds(), spent=SpentBudget(0.5, 0.0), ms_ssim=0.6, ned=0.0
    )

    assert (found.iou, found.is_faithful, found.has_boxes) == (0.0, False, False)
    assert found.swtd == pytest.approx(0.8)


def test_only_a_finished_run_on_an_eligible_seed_image_has_a_case():
    with pytest.raises(ValueError, match="case must belong"):
        run(status=RunStatus.UNFINISHED, case=numbers())
    with pytest.raises(ValueError, match="case must be an answer"):
        run(case=numbers(status=AnswerStatus.CALL_ERROR))
    with pytest.raises(ValueError, match="right on the clean input"):
        run(clean_status=AnswerStatus.EMPTY)


def test_common_seeds_are_eligible_for_every_system():
    results = [
        run("both"),
        run("both", sut="kimi"),
        run("one"),
        wrong_from_the_start("one", sut="kimi"),
        run("alone"),
        run("both", sut="kimi", scene_type="kitchen"),  # another picture of the same name
    ]

    assert on_common_seeds(results) == results[:2]


def test_common_seeds_take_all_regimes_and_runs_that_ended_early():
    results = [
        run("s1", "image"),
        run("s1", "joint", status=RunStatus.CALL_ERROR),
        run("s1", "image", sut="kimi", status=RunStatus.UNFINISHED),
    ]

    assert on_common_seeds(results) == results


def test_a_seed_image_whose_clean_answer_never_came_is_not_common():
    results = [run("s1"), run("s1", sut="kimi", status=RunStatus.CALL_ERROR, clean_status=None)]

    assert on_common_seeds(results) == []


def test_systems_stay_with_one_run_in_twenty_that_ends_with_boxes():
    def silent(sut, count):
        return [
            wrong_from_the_start(f"s{n}", sut=sut, clean_status=AnswerStatus.MALFORMED) for n in range(count)
        ]

    results = [
        run("good", sut="just"),
        *silent("just", 19),
        run("good", sut="short"),
        *silent("short", 20),
        run("bad", sut="mute", case=numbers(status=AnswerStatus.EMPTY)),
        wrong_from_the_start(sut="wrong"),  # it answers with boxes, only wrong ones
        run(sut="away", status=RunStatus.CALL_ERROR, clean_status=None),
    ]

    assert retained_suts(results) == {
        "away": False, "just": True, "mute": False, "short": False, "wrong": True,
    }  # fmt: skip
    assert retained_suts(results, share=0.04)["short"]


def test_seven_of_a_hundred_and_forty_are_five_percent():
    results = [run(f"s{n}", case=numbers(status=AnswerStatus.EMPTY)) for n in range(133)]

    assert retained_suts([*results, *(run(f"b{n}") for n in range(7))]) == {"qwen": True}
