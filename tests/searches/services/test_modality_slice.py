"""A MoST run asks what its search asks, stores every evaluation, and ends with its test case."""

from collections import OrderedDict

import numpy as np
import pytest

from searches.enums import AnswerKind, ModalityStatus, RunState
from searches.models import Blob, CachedReply, CleanAnswer, Evaluation, SutRecord
from searches.services import modality_slice, sut_signals
from searches.services.blobs import blob_path
from searches.services.modality_live import live_modality
from searches.services.runs import retry_call_errors
from searches.services.slice_ends import SliceEnd
from searches.services.suts import LoadedSut
from tests.searches.engine import advance, as_new_process
from tests.searches.modality_engine import (
    FAR_OFF,
    breaks_now_and_then,
    breaks_when_misspelt,
    modality_digest,
    never_breaks,
    never_right,
    runs_of,
    seed_pixels,
    start_modality,
    start_modality_run,
)
from vlmlab.core.images import decode_png
from vlmlab.core.most import evaluate
from vlmlab.core.perturb import IMAGE_OPERATORS, TEXT_OPERATORS
from vlmlab.core.suts.base import SutReply

pytestmark = pytest.mark.django_db

EVERYTHING_BUT_SHIFTS = tuple(
    name for name in (*IMAGE_OPERATORS, *TEXT_OPERATORS) if name != "translate_scale"
)
FAILED_CALL = SutReply("", "other", call_error="The device has gone.")


def test_a_run_ends_at_its_first_failure_and_returns_it():
    run = start_modality_run(breaks_when_misspelt(), regimes=("text",), bisection_steps=0, slots=1)

    end = advance(run)

    place, last = run.modality, run.evaluations.last()
    case = place.cases.get()
    assert (end, run.state, place.status) == (SliceEnd.FINISHED, RunState.SUCCEEDED, ModalityStatus.FINISHED)
    assert place.end_reason == "failure_found"
    assert place.first_hit == place.evaluations == run.n_inferences == run.evaluations.count() < 24
    assert [one.is_hit for one in run.evaluations.all()] == [False] * (place.first_hit - 1) + [True]
    assert (case.evaluation, case.kind, case.reason, case.is_failure) == (last, "returned", "failure", True)
    assert (case.status, case.raw_text, case.iou, case.f1) == (AnswerKind.BOXES, FAR_OFF, 0.0, 0.0)
    assert (case.f2, case.ms_ssim, case.image_budget) == (0.0, 1.0, 0.0)
    assert run.ending.startswith(f"a failure after {place.first_hit} evaluation")


def test_the_case_holds_what_makes_its_input_again():
    run = start_modality_run(breaks_now_and_then(), bisection_steps=0)
    advance(run)
    case = run.modality.cases.get()

    live = live_modality(run)
    made = live.perturber.perturbed(tuple(case.evaluation.strategy))

    acting = set(live.perturber.space.image_severities(made.strategy))
    png = blob_path(case.image_sha256).read_bytes()
    assert np.array_equal(decode_png(png), made.pixels)
    assert set(case.severities) == set(case.generator["seeds"]) == acting
    assert case.generator["run_seed"] == run.run_seed
    assert case.generator["seed_image"] == run.modality.picture.image_sha256
    assert case.prompt == made.prompt == run.campaign.clean_answers.get().prompt
    assert Blob.objects.filter(pk=case.image_sha256).count() == 1


def test_a_system_that_never_breaks_takes_the_whole_budget_and_returns_what_came_closest():
    run = start_modality_run(never_breaks())

    advance(run)

    place = run.modality
    assert (place.status, place.end_reason, place.first_hit) == ("finished", "budget_spent", None)
    assert run.n_inferences == run.n_observations == place.evaluations == run.evaluations.count() == 24
    assert (place.cases.get().reason, place.cases.get().is_failure) == ("closest", False)
    assert run.ending == "no failure in 24 evaluations; the budget is used up."


def test_counters_agree_with_the_rows_they_count():
    run = start_modality_run(breaks_now_and_then(call_error_rate=0.2), early_stop=False)

    advance(run)

    statuses = list(run.evaluations.values_list("status", flat=True))
    unanswered, clean_failures = statuses.count("call_error"), run.checkpoint["clean_failures"]
    assert run.n_call_errors == unanswered + clean_failures > clean_failures
    assert run.n_inferences == run.n_observations == len(statuses) - unanswered == 24
    assert run.n_failed == run.evaluations.filter(is_hit=True).count() > 0
    assert run.n_calls == len(statuses) + clean_failures + 1  # a clean answer is nobody's evaluation
    assert SutRecord.objects.get(pk=run.sut_id).n_calls == run.n_calls
    assert run.spend_usd == pytest.approx(0.001 * 25)
    assert run.active_seconds >= run.render_seconds + run.sut_seconds


def test_an_ineligible_seed_image_ends_a_run_before_its_search():
    run = start_modality_run(never_right())

    advance(run)

    place = run.modality
    assert (run.state, place.status, place.evaluations) == (RunState.SUCCEEDED, "baseline_failure", 0)
    assert (run.n_inferences, run.evaluations.count(), place.cases.count()) == (0, 0, 0)
    assert run.ending == (
        "the answer without a perturbation has IoU 0.000; IoU 0.500 is needed, so this seed image is not "
        "tested on this system."
    )


@pytest.mark.parametrize(
    ("answer", "status", "words"),
    [("[]", "empty", "names no box"), ("I like trains.", "malformed", "cannot be read")],
)
def test_a_clean_answer_without_boxes_is_a_baseline_failure(answer, status, words):
    run = start_modality_run(never_right(answer))

    advance(run)

    assert (run.modality.status, run.modality.clean_answer.status) == ("baseline_failure", status)
    assert words in run.ending


def test_regimes_and_replicates_share_one_clean_answer(asked):
    campaign = start_modality(
        never_breaks(), regimes=("image", "text", "joint"), replicates=2, inference_budget=2
    )

    for run in runs_of(campaign):
        advance(run)

    clean = CleanAnswer.objects.get()
    untouched = [one for one in asked if (one.prompt, decode_png(one.image_png).tobytes()) == (
        clean.prompt, seed_pixels(0).tobytes()
    )]  # fmt: skip
    assert len(untouched) == 1
    assert [run.modality.clean_answer for run in runs_of(campaign)] == [clean] * 6
    assert [run.n_calls - run.n_inferences for run in runs_of(campaign)] == [1, 0, 0, 0, 0, 0]


def test_a_run_that_loses_the_race_for_the_clean_answer_reads_the_winners(monkeypatch):
    first, second = runs_of(start_modality(never_breaks(), regimes=("image", "text"), inference_budget=2))
    answer = modality_slice.answer_questions

    def beaten(run, live, questions, **values):
        monkeypatch.setattr(modality_slice, "answer_questions", answer)
        advance(second)
        return answer(run, live, questions, **values)

    monkeypatch.setattr(modality_slice, "answer_questions", beaten)
    advance(first)

    clean = CleanAnswer.objects.get()
    second.refresh_from_db()
    assert (first.modality.clean_answer, second.modality.clean_answer) == (clean, clean)
    assert (first.n_calls - first.n_inferences, second.n_calls - second.n_inferences) == (1, 1)  # both paid
    assert first.state == second.state == RunState.SUCCEEDED


@pytest.mark.parametrize(
    "config",
    [
        {"algorithm": "screen", "bisection_steps": 3},
        {"algorithm": "random", "early_stop": False},
        {"algorithm": "nsga2", "population_size": 8, "generations": 2, "early_stop": False},
        {"algorithm": "random", "fidelity_first": False, "regimes": ("joint",)},
        {"algorithm": "sweep", "early_stop": False},
    ],
)
def test_slices_in_fresh_processes_end_like_one_undisturbed_run(config):
    config = {"slots": 5, "inference_budget": 20} | config
    sut = breaks_now_and_then(call_error_rate=0.1)
    whole, sliced = start_modality_run(sut, **config), start_modality_run(sut, **config)
    advance(whole)
    CachedReply.objects.all().delete()  # a question that comes twice is only found among a run's own
    slices = 0

    while not sliced.is_final:
        as_new_process()
        advance(sliced, slice_seconds=0)
        slices += 1

    assert slices >= 3
    assert modality_digest(sliced) == modality_digest(whole)


def test_a_run_that_stays_in_memory_ends_like_one_that_is_replayed():
    sut = breaks_now_and_then()
    kept, replayed = start_modality_run(sut, slots=3), start_modality_run(sut, slots=3)

    while not kept.is_final:
        advance(kept, slice_seconds=0)
    CachedReply.objects.all().delete()
    while not replayed.is_final:
        as_new_process()
        advance(replayed, slice_seconds=0)

    assert modality_digest(kept) == modality_digest(replayed)


def test_stored_evaluations_that_the_search_would_not_ask_fail_the_run():
    run = start_modality_run(never_breaks())
    advance(run, slice_seconds=0)
    advance(run, slice_seconds=0)
    evaluation = run.evaluations.first()
    Evaluation.objects.filter(pk=evaluation.pk).update(strategy=[0.5] * len(evaluation.strategy))
    as_new_process()

    end = advance(run)

    assert (end, run.state) == (SliceEnd.FAILED, RunState.FAILED)
    assert run.error == "The stored samples are not what this version of the search would ask."


def test_a_clean_input_that_is_never_answered_ends_the_run_outside_every_rate(monkeypatch):
    run = start_modality_run(never_breaks())
    with monkeypatch.context() as patch:
        patch.setattr(LoadedSut, "generate", lambda self, requests: [FAILED_CALL] * len(requests))
        advance(run)

    assert (run.state, run.modality.status) == (RunState.SUCCEEDED, ModalityStatus.CALL_ERROR)
    assert (run.n_call_errors, run.evaluations.count(), CleanAnswer.objects.count()) == (3, 0, 0)
    assert run.ending == "the question without a perturbation failed 3 times: The device has gone."

    retry_call_errors(run, by=None)
    advance(run)

    run.modality.refresh_from_db()
    assert (run.modality.status, run.n_inferences) == (ModalityStatus.FINISHED, 24)


def test_a_search_that_got_answers_has_no_failed_calls_left_to_retry():
    run = start_modality_run(never_breaks(call_error_rate=0.2))
    advance(run)

    with pytest.raises(Exception, match="asks failed calls again by itself"):
        retry_call_errors(run, by=None)


def test_a_system_that_answers_nothing_any_more_halts_the_run(monkeypatch):
    run = start_modality_run(never_breaks(), slots=4)
    advance(run, slice_seconds=0)
    monkeypatch.setattr(LoadedSut, "generate", lambda self, requests: [FAILED_CALL] * len(requests))

    advance(run)

    assert (run.state, run.n_call_errors) == (RunState.PAUSED, 12)
    assert run.error == f"{run.sut.name} answered none of 3 batches in a row: The device has gone."


def test_a_time_limit_ends_a_run_with_what_it_has():
    run = start_modality_run(never_breaks(latency_ms=40), slots=2, wall_clock_budget_s=0.2)

    advance(run)

    place = run.modality
    assert (place.status, place.end_reason) == (ModalityStatus.FINISHED, "time_limit")
    assert 0 < place.evaluations == run.n_inferences < 24
    assert run.ending.startswith("the time limit of 0.2 s is reached: no failure in ")


def test_a_clean_answer_just_below_what_is_needed_is_not_rounded_up_to_it():
    almost = '[{"bbox_2d": [250.2, 250, 750, 750], "label": "bus"}]'
    run = start_modality_run(never_right(almost), iou_threshold=1.0)

    advance(run)

    assert run.modality.status == ModalityStatus.BASELINE_FAILURE
    assert run.ending.startswith("the answer without a perturbation has IoU 0.999; IoU 1.000 is needed")


def test_a_search_that_may_ask_nothing_blames_no_call():
    run = start_modality_run(never_breaks(), max_image_distance=1e-9)

    advance(run)

    place = run.modality
    assert (run.state, run.n_call_errors, run.evaluations.count()) == (RunState.SUCCEEDED, 0, 0)
    assert (place.status, place.end_reason) == (ModalityStatus.UNFINISHED, "nothing_left")
    assert run.ending == (
        "nothing was asked, because no perturbation of this seed image stays within the thresholds."
    )


def test_a_time_limit_that_the_clean_question_used_up_blames_no_call():
    run = start_modality_run(never_breaks(latency_ms=40), wall_clock_budget_s=0.001)

    advance(run)

    assert (run.modality.status, run.evaluations.count()) == (ModalityStatus.UNFINISHED, 0)
    assert run.ending == "the time limit of 0.001 s is reached: the search had asked nothing yet."


def test_measuring_before_the_first_question_is_a_sign_of_life(monkeypatch):
    run = start_modality_run(never_breaks(), excluded_operators=EVERYTHING_BUT_SHIFTS)
    beats = []
    monkeypatch.setattr(sut_signals, "_on_progress", lambda: beats.append(True))
    monkeypatch.setattr(evaluate, "_caps_known", OrderedDict())
    live = live_modality(run)

    space = live.perturber.space
    probes = len(beats)
    live.memory(space.strategy({"translate_scale": 0.05}))
    live.memory(space.strategy({"translate_scale": 0.05}))

    assert probes >= 2  # what each operator may do at most is looked for
    assert len(beats) == probes + 1  # what is known is not measured again
