"""Claims something to do and does a slice of it; the Celery task and the polling worker call exactly this."""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from threading import Event

from django.conf import settings
from django.db import DatabaseError, connection

from searches.services.advance import advance_run, never
from searches.services.canaries import start_due_canaries
from searches.services.garbage import collect_garbage
from searches.services.jobs import run_job
from searches.services.leases import (
    JobLease,
    Lease,
    has_waiting_job,
    has_waiting_long_job,
    has_waiting_run,
    take_job,
    take_lease,
)
from searches.services.owners import resident_mb, this_owner
from searches.services.presence import presence
from searches.services.reaper import reap, release_dead_local_owners
from searches.services.slice_ends import SliceEnd
from searches.services.suts import loaded_sut

logger = logging.getLogger(__name__)

JOB_CHECK_SECONDS = 0.5
OVER_FOR_NOW = (SliceEnd.FINISHED, SliceEnd.CANCELLED, SliceEnd.PAUSED, SliceEnd.FAILED)
"""Ends after which this worker has nothing more to do for the run, while its slice may have time left."""


@dataclass
class _Turns:
    """Whose turn it is, so that nobody starves.

    Attributes:
        is_of_long_jobs: whether long jobs come before runs.
        sut_id: the system in memory, whose runs come before all others while its turn lasts.
        began_at: when its turn began.
    """

    is_of_long_jobs: bool = False
    sut_id: int | None = None
    began_at: float = 0.0


_turns = _Turns()

_busy = threading.Lock()
"""One piece of work a process: weights, renderer and memory are shared, threads only carry messages."""


def work_once(owner: str, queues: Collection[str], *, should_stop: Callable[[], bool] = never) -> bool:
    """Do one job, or one slice of runs.

    Returns:
        Whether there was anything to do; False also while another thread of this process works (it looks
        for more work when it is done) or the database does not answer.
    """
    if not _busy.acquire(blocking=False):
        return False
    try:
        return _work(owner, queues, should_stop)
    finally:
        _busy.release()


def _work(owner: str, queues: Collection[str], should_stop: Callable[[], bool]) -> bool:
    job = take_job(owner, queues)
    if job is None and _turns.is_of_long_jobs:
        job = _long_job(owner, queues)
    if job is not None:
        return _do_job(job)
    lease = _claim(owner, queues)
    if lease is None:
        job = _long_job(owner, queues)
        return _do_job(job) if job is not None else False
    _turns.is_of_long_jobs = True
    end = _do_runs(lease, queues, should_stop=should_stop)
    _end_when_too_large()
    return end != SliceEnd.DATABASE_ERROR


def _claim(owner: str, queues: Collection[str]) -> Lease | None:
    """Claim the next run.

    Loading a system may take a minute, so the one in memory is kept for a while; then the campaign that was
    served longest ago decides which one comes next.
    """
    loaded = loaded_sut()
    sut_id = loaded.record_id if loaded else None
    if sut_id != _turns.sut_id:
        _turns.sut_id, _turns.began_at = sut_id, time.monotonic()
    has_turn = time.monotonic() - _turns.began_at < settings.SYSTEM_TURN_SECONDS
    return take_lease(owner, queues, loaded_sut_id=sut_id, has_turn=has_turn)


def _do_runs(lease: Lease, queues: Collection[str], *, should_stop: Callable[[], bool]) -> SliceEnd:
    """Do a slice of a run; where it ends early, go on with the next run of its campaign and system."""
    ends_at = time.monotonic() + settings.SLICE_SECONDS
    should_yield = _yield_watch(queues)
    while True:
        with presence.hold(lease):
            end = advance_run(
                lease,
                slice_seconds=ends_at - time.monotonic(),
                should_stop=should_stop,
                should_yield=should_yield,
            )
        logger.info("run %s: %s", lease.run_id, end)
        if end not in OVER_FOR_NOW or time.monotonic() >= ends_at or should_stop() or should_yield():
            return end
        following = take_lease(lease.owner, queues, loaded_sut_id=lease.sut_id, campaign_id=lease.campaign_id)
        if following is None:
            return end
        lease = following


def _do_job(job: JobLease) -> bool:
    with presence.hold(job):
        run_job(job)
    _end_when_too_large()
    return True


def _long_job(owner: str, queues: Collection[str]) -> JobLease | None:
    """Claim a long job; the next turn is a run's."""
    _turns.is_of_long_jobs = False
    return take_job(owner, queues, is_long=True)


def has_work(queues: Collection[str]) -> bool:
    """Whether a job or a run waits in these queues."""
    return has_waiting_job(queues) or has_waiting_run(queues) or has_waiting_long_job(queues)


def run_forever(queues: Collection[str], *, stop: Event, reaps: bool = True) -> None:
    """Poll the tables until ``stop`` is set; database outages are waited out.

    Args:
        queues: the queues to serve.
        stop: set by the signal handler of the process.
        reaps: whether this worker also repairs what others left, deletes what nobody needs and starts the
            canaries that are due (no scheduler does it in this mode).
    """
    owner = this_owner()
    next_reap, next_canary, is_announced = 0.0, 0.0, False
    next_sweep = time.monotonic() + settings.GARBAGE_SECONDS
    while not stop.is_set():
        try:
            if not is_announced:
                release_dead_local_owners()
                presence.announce(owner, queues=sorted(queues), mode="poll")
                is_announced = True
            if reaps and time.monotonic() >= next_reap:
                next_reap = time.monotonic() + settings.REAPER_SECONDS
                reap()
            if reaps and time.monotonic() >= next_sweep:
                next_sweep = time.monotonic() + settings.GARBAGE_SECONDS
                collect_garbage()
            if reaps and time.monotonic() >= next_canary:
                next_canary = time.monotonic() + settings.CANARY_SECONDS
                start_due_canaries()
            if not work_once(owner, queues, should_stop=stop.is_set):
                stop.wait(settings.POLL_SECONDS)
        except DatabaseError as error:
            logger.warning("the database did not answer: %s", error)
            connection.close()
            stop.wait(1.0)
    presence.retire()


def end_process() -> None:
    """Ask this process to end in good order; whoever supervises it starts a fresh one."""
    os.kill(os.getpid(), signal.SIGTERM)


def is_too_large() -> bool:
    """Whether this process holds more memory than a worker may (``VLMLAB_MAX_WORKER_MB``; 0 is no limit)."""
    return bool(0 < settings.MAX_WORKER_MB < resident_mb())


def _end_when_too_large() -> None:
    if is_too_large():
        logger.warning(
            "%.0f MB in use, more than VLMLAB_MAX_WORKER_MB=%d: this worker ends and a fresh one takes over",
            resident_mb(),
            settings.MAX_WORKER_MB,
        )
        end_process()


def _yield_watch(queues: Collection[str]) -> Callable[[], bool]:
    """Return a check for too much memory and for waiting jobs; it looks at most twice a second."""
    checked_at = time.monotonic()

    def is_waited_for() -> bool:
        nonlocal checked_at
        if time.monotonic() - checked_at < JOB_CHECK_SECONDS:
            return False
        checked_at = time.monotonic()
        return is_too_large() or has_waiting_job(queues)

    return is_waited_for
