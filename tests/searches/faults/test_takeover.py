"""F1 and frozen workers: however many wake-ups and workers there are, one at a time has a run."""

import json
import os
import time

from searches.models import SearchRun
from searches.services import work
from searches.services.leases import take_lease
from searches.services.owners import this_owner
from tests.searches.engine import run_digest
from tests.searches.faults.lab import tidy_up, wait_for

WAKE_UPS = 20


def test_the_same_run_announced_twenty_times_to_three_workers_is_claimed_once(lab, settings):
    settings.LEASE_SECONDS = settings.SLICE_SECONDS = 600
    run, wanted = lab.pair(inference_budget=40, sut={"latency_ms": 100})

    def answer_wake_ups(name: str) -> None:
        took = []
        for _ in range(WAKE_UPS):
            began = time.monotonic()
            did_work = work.work_once(this_owner(), ["cpu"])
            took.append([did_work, began, time.monotonic()])
        (lab.folder / name).write_text(json.dumps(took))

    workers = [lab.start(lambda name=name: answer_wake_ups(name)) for name in ("a", "b", "c")]
    assert [worker.wait() for worker in workers] == [0, 0, 0]

    lab.finish(run)
    calls = [call for name in ("a", "b", "c") for call in json.loads((lab.folder / name).read_text())]
    ((_, work_began, work_ended),) = [call for call in calls if call[0]]
    idle = [(began, ended) for did_work, began, ended in calls if not did_work]
    assert run.fence == 1
    assert len(idle) == 3 * WAKE_UPS - 1
    middle = (work_began + work_ended) / 2
    assert not [one for one in idle if one[0] < middle and one[1] > work_ended]  # none waited for the run
    assert run_digest(run) == wanted


def test_a_frozen_worker_that_wakes_after_a_takeover_writes_nothing(lab):
    run, wanted = lab.pair(inference_budget=60, sut={"latency_ms": 50})
    frozen = lab.start_worker()
    wait_for(lambda: run.samples.count() >= 16)
    lab.freeze(frozen)
    before = SearchRun.objects.get(pk=run.pk).fence

    other = lab.start_worker()
    wait_for(lambda: SearchRun.objects.get(pk=run.pk).fence > before)
    frozen.wake()
    lab.finish(run)

    assert run_digest(run) == wanted
    assert frozen.is_alive
    assert other.is_alive


def test_a_worker_frozen_for_less_than_its_lease_goes_on(lab, settings):
    settings.LEASE_SECONDS = 30
    settings.SLICE_SECONDS = 60
    run, wanted = lab.pair(inference_budget=60, sut={"latency_ms": 50})
    worker = lab.start_worker()
    wait_for(lambda: run.samples.count() >= 16)
    lab.freeze(worker)
    tidy_up()
    time.sleep(0.5)
    worker.wake()

    lab.finish(run)

    assert run.fence == 1
    assert run_digest(run) == wanted


def test_a_restarted_worker_frees_only_the_leases_of_dead_processes(lab):
    dead, alive = lab.queued(), lab.queued()
    worker = lab.start(lambda: take_lease(this_owner(), ["cpu"], run_id=dead.pk))
    worker.wait()
    take_lease(this_owner(), ["cpu"], run_id=alive.pk)

    tidy_up()

    states = dict(SearchRun.objects.filter(pk__in=[dead.pk, alive.pk]).values_list("pk", "state"))
    assert states == {dead.pk: "queued", alive.pk: "running"}
    assert SearchRun.objects.get(pk=alive.pk).owner.split(":")[1] == str(os.getpid())
