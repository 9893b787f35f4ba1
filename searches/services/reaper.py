"""Repairs what dead or frozen workers left behind; may run twice at once, or never, without harm."""

import os
import socket
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta

from django.db import transaction
from django.db.models.functions import Now

from searches.enums import JobKind, JobState, Queue, RunState
from searches.models import Job, SearchRun, WorkerHeartbeat
from searches.services.case_wanted import start_missing_cases
from searches.services.follow_up_wanted import start_missing
from searches.services.leases import HELD_STATES, WORKED_STATES, is_expired
from searches.services.owners import is_process_alive, parse_owner
from searches.services.run_endings import run_ended
from searches.services.run_log import log_event
from searches.services.run_states import move_run

MAX_STALLS = 3
MAX_JOB_ATTEMPTS = 3
DISPATCH_AGAIN_AFTER = timedelta(seconds=30)
WISHES_LAST = timedelta(minutes=10)
"""How long scenes to be drawn ahead wait for somebody; a run that goes on replaces its own each batch."""
FORGET_WORKERS_AFTER = timedelta(days=1)

STALL_ERROR = "Three workers in a row stopped before they finished one batch of this run."
STALL_HINT = (
    "Most often the machine ran out of memory while it loaded the system or drew a scene: look at the log of "
    "the worker, free memory or choose a smaller image or model, then resume the run."
)
JOB_ERROR = "Three workers in a row stopped while they worked on this."
JOB_HINT = "Most often the machine ran out of memory: look at the log of the worker."


@dataclass
class ReapReport:
    """What one round changed.

    Attributes:
        queues: queues that need a wake-up message, because work waits there and was not announced lately.
    """

    requeued: int = 0
    cancelled: int = 0
    failed: int = 0
    jobs: int = 0
    queues: set[str] = field(default_factory=set)


def reap() -> ReapReport:
    """Free every run and job whose lease is over, and say which queues to wake."""
    report = ReapReport()
    expired = SearchRun.objects.filter(is_expired(), state__in=HELD_STATES)
    for run_id, fence, state, stalls in expired.values_list("pk", "fence", "state", "stalls"):
        _free_run(report, run_id, fence=fence, state=RunState(state), stalls=stalls)
    _free_paused()
    _free_jobs(report)
    start_missing()
    start_missing_cases()
    _announce(report)
    WorkerHeartbeat.objects.filter(seen_at__lt=Now() - FORGET_WORKERS_AFTER).delete()
    return report


def release_dead_local_owners() -> int:
    """End the leases of processes of this host that are gone, and take them off the list of workers.

    A worker that starts calls it, so that a restart resumes at once.
    """
    host = socket.gethostname()
    ended = 0
    for rows in (
        SearchRun.objects.filter(state__in=WORKED_STATES, owner__startswith=f"{host}:"),
        Job.objects.filter(state=JobState.RUNNING, owner__startswith=f"{host}:"),
    ):
        for owner in _dead_owners(rows.values_list("owner", flat=True).distinct(), host):
            ended += rows.filter(owner=owner).update(lease_expires=None)
    beats = WorkerHeartbeat.objects.filter(host=host)
    beats.filter(pk__in=_dead_owners(beats.values_list("owner", flat=True), host)).delete()
    return ended


def _dead_owners(owners: Iterable[str], host: str) -> list[str]:
    dead = []
    for text in owners:
        owner = parse_owner(text)
        if owner.host == host and owner.pid != os.getpid() and not is_process_alive(owner):
            dead.append(text)
    return dead


@transaction.atomic
def _free_run(report: ReapReport, run_id: int, *, fence: int, state: RunState, stalls: int) -> None:
    # The lease may have been renewed since it was read: the row decides, not the list.
    still = SearchRun.objects.select_for_update().filter(is_expired(), pk=run_id, fence=fence, state=state)
    if not still.exists():
        return
    if state == RunState.CANCELLING:
        if move_run(run_id, frm=state, to=RunState.CANCELLED, held_fence=fence):
            log_event(run_id, "Ended early; the worker had gone.")
            run_ended(run_id)
            report.cancelled += 1
    elif stalls >= MAX_STALLS:
        if move_run(
            run_id, frm=state, to=RunState.FAILED, held_fence=fence, error=STALL_ERROR, hint=STALL_HINT
        ):
            log_event(run_id, STALL_ERROR, level="error")
            run_ended(run_id)
            report.failed += 1
    elif move_run(run_id, frm=state, to=RunState.QUEUED, held_fence=fence, dispatched_at=None):
        log_event(run_id, "The worker stopped answering; another one goes on.", level="warning")
        report.requeued += 1


def _free_paused() -> None:
    """Hold no money any more for a batch whose worker died after somebody paused its run."""
    left = SearchRun.objects.filter(is_expired(), state=RunState.PAUSED).exclude(owner="", reserved_usd=0.0)
    left.update(owner="", lease_expires=None, reserved_usd=0.0)


def _free_jobs(report: ReapReport) -> None:
    expired = Job.objects.filter(is_expired(), state=JobState.RUNNING)
    wishes = Job.objects.filter(kind=JobKind.PRERENDER)
    # Its run asks again for what it still needs.
    wishes.filter(is_expired(), state=JobState.RUNNING).delete()
    wishes.filter(state=JobState.QUEUED, created_at__lt=Now() - WISHES_LAST).delete()
    report.jobs += expired.filter(attempts__gte=MAX_JOB_ATTEMPTS).update(
        state=JobState.FAILED, error=JOB_ERROR, hint=JOB_HINT, finished_at=Now()
    )
    report.jobs += expired.filter(attempts__lt=MAX_JOB_ATTEMPTS).update(
        state=JobState.QUEUED, owner="", lease_expires=None
    )


def _silent_queues() -> set[str]:
    """Return the queues in which runs wait and none was announced lately.

    One run a queue carries the mark, the one that is claimed last: thousands may wait, and each round would
    write all of them.
    """
    waiting = SearchRun.objects.filter(state=RunState.QUEUED)
    told = waiting.filter(dispatched_at__gte=Now() - DISPATCH_AGAIN_AFTER)
    of_all, of_told = (
        set(rows.order_by().values_list("queue", flat=True).distinct()) for rows in (waiting, told)
    )
    for queue in of_all - of_told:
        newest = waiting.filter(queue=queue).order_by("-pk").values_list("pk", flat=True)[:1]
        waiting.filter(pk__in=list(newest)).update(dispatched_at=Now())
    return of_all - of_told


def _announce(report: ReapReport) -> None:
    report.queues.update(_silent_queues())
    report.queues.update(
        Job.objects.filter(state=JobState.QUEUED)
        .exclude(queue=Queue.RENDER)  # rendering workers poll: a message to them would never be read
        .values_list("queue", flat=True)
        .distinct()
        .order_by()
    )
