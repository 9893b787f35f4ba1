"""Claims, their order, and the repair of what dead workers left; every repair may happen twice."""

import socket
from datetime import timedelta

import pytest
from django.utils import timezone

from searches.enums import JobState, RunState
from searches.models import Job, RunEvent, SearchRun, WorkerHeartbeat
from searches.services import sut_signals
from searches.services.leases import Lease, release_lease, renew_lease, take_job, take_lease
from searches.services.owners import this_owner
from searches.services.presence import Presence
from searches.services.reaper import reap, release_dead_local_owners
from tests.factories import make_run, make_sut

pytestmark = pytest.mark.django_db

PAST = timedelta(seconds=-5)
FUTURE = timedelta(seconds=50)


def held(*, state=RunState.RUNNING, ends=PAST, **values):
    lease_expires = None if ends is None else timezone.now() + ends
    return make_run(state=state, fence=3, owner="h:1:1:main", lease_expires=lease_expires, **values)


def test_the_oldest_run_of_a_served_queue_is_claimed_first():
    make_run(make_sut(queue="gpu"))
    oldest, _ = make_run(), make_run()

    lease = take_lease("w", ["cpu", "api"])

    oldest.refresh_from_db()
    assert lease == Lease(oldest.pk, 1, "w")
    assert (oldest.state, oldest.fence, oldest.owner, oldest.stalls) == ("running", 1, "w", 1)
    assert oldest.lease_expires > timezone.now() + timedelta(seconds=30)
    assert oldest.started_at is not None


def test_a_run_of_the_system_in_memory_goes_before_an_older_one():
    make_run()
    loaded = make_sut()
    run = make_run(loaded)

    assert take_lease("w", ["cpu"], loaded_sut_id=loaded.pk).run_id == run.pk


def test_nothing_is_claimed_twice():
    make_run()

    assert take_lease("w", ["cpu"]) is not None
    assert take_lease("w", ["cpu"]) is None


def test_a_claim_is_renewed_and_released_only_by_its_own_fence():
    make_run()
    lease = take_lease("w", ["cpu"])
    old = Lease(lease.run_id, 0, "w")

    assert not renew_lease(old)
    assert not release_lease(old)
    assert renew_lease(lease)
    assert release_lease(lease)
    assert not renew_lease(lease)


@pytest.mark.parametrize("ends", [PAST, None])
def test_an_expired_run_is_queued_again_once(ends):
    run = held(ends=ends)

    first, second = reap(), reap()

    run.refresh_from_db()
    assert (run.state, run.owner, run.lease_expires) == ("queued", "", None)
    assert (first.requeued, second.requeued) == (1, 0)
    assert RunEvent.objects.filter(run=run).count() == 1


def test_a_lease_that_holds_is_left_alone():
    run = held(ends=FUTURE)

    reap()

    run.refresh_from_db()
    assert run.state == "running"


def test_a_cancel_whose_worker_is_gone_is_completed():
    run = held(state=RunState.CANCELLING)

    assert reap().cancelled == 1

    run.refresh_from_db()
    assert (run.state, run.finished_at is not None) == ("cancelled", True)


def test_three_claims_without_a_batch_fail_the_run_with_advice():
    run = held(stalls=3)

    assert reap().failed == 1

    run.refresh_from_db()
    assert run.state == "failed"
    assert "ran out of memory" in run.hint


def test_a_waiting_run_is_announced_at_most_every_half_minute():
    make_run(make_sut(queue="gpu"))

    assert reap().queues == {"gpu"}
    assert reap().queues == set()
    SearchRun.objects.update(dispatched_at=timezone.now() - timedelta(seconds=40))
    assert reap().queues == {"gpu"}


def test_a_job_is_tried_three_times_and_then_fails():
    Job.objects.create(kind="render_scene", params={})
    for _ in range(3):
        assert take_job("w", ["cpu"]) is not None
        Job.objects.update(lease_expires=timezone.now() + PAST)
        reap()

    job = Job.objects.get()
    assert (job.state, job.attempts) == (JobState.FAILED, 3)
    assert job.hint.startswith("Most often the machine ran out of memory")


def test_workers_not_seen_for_a_day_are_forgotten():
    now = timezone.now()
    for owner, age in (("old", 30), ("new", 1)):
        seen = now - timedelta(hours=age)
        WorkerHeartbeat.objects.create(owner=owner, host="h", pid=1, started_at=seen, seen_at=seen)

    reap()

    assert list(WorkerHeartbeat.objects.values_list("owner", flat=True)) == ["new"]


def test_a_worker_that_starts_takes_dead_workers_of_its_host_off_the_list():
    now, host = timezone.now(), socket.gethostname()
    for owner in (f"{host}:999999999:1:main", this_owner(), "elsewhere:999999999:1:main"):
        WorkerHeartbeat.objects.create(
            owner=owner, host=owner.split(":")[0], pid=1, started_at=now, seen_at=now
        )

    release_dead_local_owners()

    left = set(WorkerHeartbeat.objects.values_list("owner", flat=True))
    assert left == {this_owner(), "elsewhere:999999999:1:main"}


def test_a_heartbeat_renews_the_lease_and_the_workers_row():
    run = make_run()
    lease = take_lease("w", ["cpu"])
    SearchRun.objects.update(lease_expires=timezone.now() + PAST)
    presence = Presence(owner="w", queues=("cpu",), mode="poll")

    with presence.hold(lease):
        presence.beat()

    run.refresh_from_db()
    row = WorkerHeartbeat.objects.get()
    assert run.lease_expires > timezone.now()
    assert (row.owner, row.run_id, row.queues, row.rss_mb > 1) == ("w", run.pk, ["cpu"], True)


def test_a_process_without_progress_stops_renewing_and_ends(settings):
    settings.MAX_BATCH_SECONDS = -1
    make_run()
    lease = take_lease("w", ["cpu"])
    ended = []
    presence = Presence(owner="w", on_stuck=lambda: ended.append(True))
    SearchRun.objects.update(lease_expires=timezone.now() + PAST)

    with presence.hold(lease):
        presence.beat()

    assert ended == [True]
    assert SearchRun.objects.get().lease_expires < timezone.now()


def test_an_answer_within_a_slow_batch_counts_as_progress_and_silence_does_not(settings, monkeypatch):
    settings.MAX_BATCH_SECONDS = 600.0
    now = iter([0.0, 500.0, 1000.0, 1200.0])  # claimed, an answer, a beat, a later beat
    monkeypatch.setattr("searches.services.presence.time.monotonic", lambda: next(now))
    make_run()
    lease = take_lease("w", ["cpu"])
    ended = []
    presence = Presence(owner="w", on_stuck=lambda: ended.append(True))

    with presence.hold(lease):
        sut_signals.progressed()  # what a loaded system calls for each answer
        presence.beat()
        after_answer = list(ended)
        presence.beat()

    assert (after_answer, ended) == ([], [True])


def test_a_worker_that_retires_while_its_heartbeat_writes_leaves_no_row(settings, monkeypatch):
    settings.HAS_HEARTBEATS = True
    presence = Presence(owner="w", queues=("cpu",), mode="poll")
    presence.report()

    def ends_meanwhile() -> float:
        presence.retire()
        return 100.0

    monkeypatch.setattr("searches.services.presence.resident_mb", ends_meanwhile)
    presence.report()

    assert not WorkerHeartbeat.objects.exists()
