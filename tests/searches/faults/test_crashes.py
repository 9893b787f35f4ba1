"""F2: workers killed with -9 at named places and at random moments; the run ends as if nothing had been."""

import random
import signal
import time

import pytest

from searches.enums import RunState
from searches.models import Blob
from searches.services.blobs import blob_path
from searches.services.crashes import CRASH_POINTS
from tests.patience import PATIENCE_SECONDS
from tests.searches.engine import run_digest
from tests.searches.faults.lab import tidy_up, wait_for

FIRST = ("after_claim", "after_answers", "inside_commit_last", "after_commit")


def crash_and_recover(lab, place: str, **config) -> None:
    run, wanted = lab.pair(**{"inference_budget": 40, "sut": {"call_error_rate": 0.1}} | config)

    assert lab.start_worker(crash_point=place).wait() == -signal.SIGKILL
    lab.start_worker()
    lab.finish(run)

    assert run_digest(run) == wanted
    assert all(blob_path(sha256).exists() for sha256 in Blob.objects.values_list("pk", flat=True))


@pytest.mark.parametrize("place", FIRST)
def test_a_worker_killed_at_a_named_place_changes_nothing(lab, place):
    crash_and_recover(lab, place)


ONCE_A_RUN = {"before_ending"}
NOT_AFTER_THE_LAST_BATCH = {"before_release", "after_release"}
BATCHES = [
    (place, batch)
    for place in CRASH_POINTS
    for batch in (1, 2, 5)  # the first, a middle one, the last
    if not (batch > 1 and place in ONCE_A_RUN)
    if not (batch == 5 and place in NOT_AFTER_THE_LAST_BATCH)
]


@pytest.mark.slow
@pytest.mark.parametrize(("place", "batch"), BATCHES)
def test_a_worker_killed_at_any_named_place_in_any_batch_changes_nothing(lab, settings, place, batch):
    settings.SLICE_SECONDS = 0  # a batch a slice, so that every place is passed once a batch

    crash_and_recover(lab, f"{place}@{batch}", algorithm="random", sut={})


def test_a_worker_command_killed_and_started_again_resumes_the_run(lab):
    run, wanted = lab.pair(inference_budget=60, sut={"latency_ms": 60})
    patient = {"VLMLAB_LEASE_SECONDS": "3600"}  # a restart on the same machine does not wait for its end
    first = lab.start_command("worker", "--queues", "cpu", **patient)
    wait_for(lambda: run.samples.count() >= 16)
    first.kill()
    first.wait()

    second = lab.start_command("worker", "--queues", "cpu", **patient)
    lab.finish(run)
    second.terminate()

    assert second.wait(timeout=PATIENCE_SECONDS) == 0
    assert run_digest(run) == wanted


def kill_at_random(lab, *, runs: int, seed: int) -> int:
    moments = random.Random(seed)
    kills = 0
    for number in range(runs):
        run, wanted = lab.pair(
            inference_budget=48, run_seed=number, sut={"latency_ms": 15, "call_error_rate": 0.05}
        )
        while True:
            worker = lab.start_worker()
            time.sleep(moments.uniform(0.02, 0.25))
            run.refresh_from_db()
            if run.is_final:
                worker.kill()
                break
            worker.kill()
            kills += 1
            tidy_up()
            run.refresh_from_db()
            if run.state == RunState.FAILED:  # three kills without a batch: a person resumes it
                assert run.error.startswith("Three workers in a row")
                break
            if kills % 4 == 3:
                lab.start_worker()
                lab.finish(run)
                break
        if run.state != RunState.FAILED:
            assert run_digest(run) == wanted
        for worker in lab.workers:
            if worker.is_alive:
                worker.kill()
    return kills


def test_workers_killed_at_random_moments_change_nothing(lab):
    assert kill_at_random(lab, runs=3, seed=1) >= 3


@pytest.mark.slow
def test_many_workers_killed_at_random_moments_change_nothing(lab):
    assert kill_at_random(lab, runs=8, seed=2) >= 8
