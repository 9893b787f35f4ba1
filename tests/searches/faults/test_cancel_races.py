"""F4: a cancel at any moment gives exactly one final state, and nothing is written after it."""

import random
import time

import pytest

from searches.enums import RunState
from searches.models import RunEvent, SearchRun
from searches.services.runs import cancel_run, pause_run, resume_run
from tests.searches.faults.lab import wait_for
from vlmlab.core.errors import VlmLabError


def state_of(run: SearchRun) -> str:
    return SearchRun.objects.values_list("state", flat=True).get(pk=run.pk)


def endings(run: SearchRun) -> list[str]:
    texts = RunEvent.objects.filter(run=run).values_list("text", flat=True)
    return [text for text in texts if text.startswith(("Ended early", "Finished"))]


def test_a_cancel_while_queued_ends_the_run_at_once(lab):
    run = lab.queued(inference_budget=40)

    cancel_run(run, by=None)
    lab.start_worker()
    time.sleep(0.3)

    assert (state_of(run), run.samples.count()) == (RunState.CANCELLED, 0)


def test_a_cancel_in_the_middle_of_a_batch_ends_the_run_after_it(lab):
    run = lab.queued(inference_budget=400, sut={"latency_ms": 100})
    lab.start_worker()
    wait_for(lambda: run.samples.count() >= 8)

    cancel_run(run, by=None)
    cancel_run(run, by=None)  # twice is once
    lab.finish(run)

    assert run.state == RunState.CANCELLED
    assert run.samples.count() == run.n_inferences < 400
    assert endings(run) == ["Ended early."]


def test_a_cancel_of_a_run_whose_worker_is_frozen_ends_it_when_the_lease_is_over(lab):
    run = lab.queued(inference_budget=400, sut={"latency_ms": 50})
    frozen = lab.start_worker()
    wait_for(lambda: run.samples.count() >= 8)
    lab.freeze(frozen)
    cancel_run(run, by=None)
    lab.start_worker()

    lab.finish(run)
    written = run.samples.count()
    frozen.wake()
    time.sleep(0.5)

    assert (state_of(run), run.samples.count()) == (RunState.CANCELLED, written)


def test_a_cancel_of_a_run_whose_worker_is_dead_ends_it(lab):
    run = lab.queued(inference_budget=400, sut={"latency_ms": 50})
    worker = lab.start_worker()
    wait_for(lambda: run.samples.count() >= 8)
    worker.kill()
    cancel_run(run, by=None)
    lab.start_worker()

    lab.finish(run)

    assert run.state == RunState.CANCELLED
    assert len(endings(run)) == 1


def race(lab, *, runs: int, seed: int) -> None:
    moments = random.Random(seed)
    for number in range(runs):
        run = lab.queued(inference_budget=24, run_seed=number, sut={"latency_ms": 8})
        lab.start_worker()
        time.sleep(moments.uniform(0.0, 0.25))
        for act in moments.sample([cancel_run, pause_run, resume_run, cancel_run, pause_run], k=4):
            try:
                act(SearchRun.objects.get(pk=run.pk), by=None)
            except VlmLabError as error:
                assert "it is" in error.message  # noqa: PT017 - only the loser of a race may be refused
            time.sleep(moments.choice([0.0, 0.01]))
        if state_of(run) == RunState.PAUSED:
            resume_run(SearchRun.objects.get(pk=run.pk), by=None)
        lab.finish(run)

        counted = run.samples.filter(verdict__in=["pass", "fail"]).count()
        assert run.state in (RunState.CANCELLED, RunState.SUCCEEDED)
        assert run.n_inferences == counted
        assert run.n_trials == run.trials.count()
        assert run.n_modes == run.findings.count()
        assert run.owner == ""
        lab.workers.pop().kill()


def test_cancel_pause_and_resume_at_the_same_moment_end_in_one_state(lab):
    race(lab, runs=3, seed=5)


@pytest.mark.slow
def test_many_races_of_cancel_pause_and_resume_end_in_one_state(lab):
    race(lab, runs=12, seed=6)
