"""Failed calls pause a run, stand outside every rate, and can be asked again on their own."""

import pytest

from searches.enums import RunState
from searches.models import SearchRun, SutRecord
from searches.services.runs import resume_run, retry_call_errors
from searches.services.slice_ends import SliceEnd
from tests.searches.engine import advance, as_new_process, scripted, start_run

pytestmark = pytest.mark.django_db


def test_three_batches_of_failed_calls_pause_the_run_and_a_resume_goes_on():
    sut = scripted(call_error_rate=1.0)
    run = start_run(sut, inference_budget=30)

    assert advance(run) == SliceEnd.PAUSED

    assert run.step == 3
    assert run.error.endswith("in a row: The scripted call failed, as its settings ask.")
    SutRecord.objects.filter(pk=sut.pk).update(params=sut.params | {"call_error_rate": 0.0})
    resume_run(run, by=None)
    assert advance(run) == SliceEnd.FINISHED
    assert run.n_inferences == 30
    assert run.error == ""


def test_asking_the_failed_calls_again_fills_in_their_answers_only():
    sut = scripted(call_error_rate=0.3)
    run = start_run(sut, inference_budget=40)
    advance(run)
    answered = dict(run.samples.filter(verdict__in=["pass", "fail"]).values_list("pk", "verdict"))
    failed, told = run.n_call_errors, list(run.samples.values_list("told_verdict", flat=True))
    SutRecord.objects.filter(pk=sut.pk).update(params=sut.params | {"call_error_rate": 0.0})

    retry_call_errors(run, by=None)
    end = advance(run)

    assert end == SliceEnd.FINISHED
    assert (run.n_call_errors, run.n_inferences, run.n_observations) == (0, 40 + failed, 40)
    assert dict(run.samples.filter(pk__in=answered).values_list("pk", "verdict")) == answered
    assert list(run.samples.values_list("told_verdict", flat=True)) == told
    assert run.n_modes == run.findings.count()
    assert run.trials.filter(call_errors__gt=0).count() == 0


def test_failed_calls_are_asked_again_even_after_the_time_limit():
    sut = scripted(call_error_rate=0.3)
    run = start_run(sut, inference_budget=500, wall_clock_budget_s=0.01)
    advance(run)
    assert run.ending == "the time limit of 0.01 s is reached."
    SutRecord.objects.filter(pk=sut.pk).update(params=sut.params | {"call_error_rate": 0.0})

    retry_call_errors(run, by=None)
    advance(run)

    assert (run.state, run.n_call_errors) == (RunState.SUCCEEDED, 0)


def test_a_run_halted_by_failed_calls_still_replays_after_they_were_asked_again():
    sut = scripted(call_error_rate=1.0)
    run = start_run(sut, inference_budget=30)
    advance(run)
    SutRecord.objects.filter(pk=sut.pk).update(params=sut.params | {"call_error_rate": 0.0})
    retry_call_errors(run, by=None)
    as_new_process()

    end = advance(run)

    assert (end, run.n_observations, run.n_call_errors) == (SliceEnd.PAUSED, 0, 0)
    resume_run(run, by=None)
    assert advance(run) == SliceEnd.FINISHED
    assert run.n_observations == 30
    assert run.n_call_errors == 0
    assert run.n_inferences == 30 + run.samples.filter(told_verdict="call_error").count()


@pytest.mark.parametrize("state", [RunState.PAUSED, RunState.CANCELLED, RunState.FAILED])
def test_asking_the_failed_calls_of_a_halted_run_again_spends_nothing_on_its_search(state):
    sut = scripted(call_error_rate=0.4)
    run = start_run(sut, inference_budget=60)
    advance(run, slice_seconds=0)
    SearchRun.objects.filter(pk=run.pk).update(state=state, owner="", lease_expires=None)
    SutRecord.objects.filter(pk=sut.pk).update(params=sut.params | {"call_error_rate": 0.0})
    run.refresh_from_db()
    observed, failed = run.n_observations, run.n_call_errors

    retry_call_errors(run, by=None)
    end = advance(run)

    assert failed > 0
    assert (end, run.state) == (SliceEnd.PAUSED, RunState.PAUSED)
    assert (run.n_observations, run.n_call_errors, run.n_inferences) == (observed, 0, observed + failed)
    assert run.events.last().text == "The search itself stays halted until somebody resumes it."
