"""Claims on runs and jobs: compare-and-set, a fencing number a claim, times by the database's clock."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.db.models import DateTimeField, Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet, Value
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Coalesce, Now

from searches.enums import CONCEPT_METHOD, JobKind, JobState, RunState
from searches.models import Campaign, Job, SearchRun
from searches.services.crashes import crash_point
from searches.services.run_log import log_event
from searches.services.run_states import move_run

HELD_STATES = (RunState.RUNNING, RunState.CANCELLING)
WORKED_STATES = (*HELD_STATES, RunState.PAUSED)
"""A worker may still have a batch in hand; it is renewed so that what the batch can cost stays held."""

CLAIM_TRIES = 20  # each try that fails is a claim of another worker

LONG_KINDS = (
    JobKind.MAKE_DATASET,
    JobKind.IMPORT_SEEDS,
    JobKind.WORD_TABLE,
    JobKind.MINIMIZE_CASE,
    JobKind.MAKE_STUDY,
    JobKind.ASK_STUDY_CASES,
)
"""Jobs of minutes or hours, done in slices: nobody waits at a page for them, so they take turns with runs."""


class LeaseLost(Exception):  # noqa: N818 - not an error: another worker goes on
    """The run is at another step or fence than this worker thinks; it must stop silently."""


@dataclass(frozen=True)
class Lease:
    """A claim on a run; ``fence`` tells this claim from every earlier and later one."""

    run_id: int
    fence: int
    owner: str
    campaign_id: int = field(default=0, compare=False)
    sut_id: int = field(default=0, compare=False)
    method: str = field(default=CONCEPT_METHOD, compare=False)


@dataclass(frozen=True)
class JobLease:
    """A claim on a job; ``attempt`` tells this claim from the others."""

    job_id: str
    attempt: int
    owner: str


def lease_end() -> "ExpressionWrapper[CombinedExpression]":
    """Return the end of a lease that starts now, for an UPDATE."""
    return ExpressionWrapper(
        Now() + Value(timedelta(seconds=settings.LEASE_SECONDS)), output_field=DateTimeField()
    )


def take_lease(
    owner: str,
    queues: Collection[str],
    *,
    loaded_sut_id: int | None = None,
    has_turn: bool = True,
    campaign_id: int | None = None,
    run_id: int | None = None,
) -> Lease | None:
    """Claim the next queued run that this worker can do, or None.

    Campaigns take turns: the one that was served longest ago comes first. Within a campaign the runs of one
    system stand together, oldest first, those of the system in memory before all.

    Args:
        owner: who claims.
        queues: the queues this worker serves.
        loaded_sut_id: a system already in memory.
        has_turn: whether its runs go before those of every other system, in whichever campaign.
        campaign_id: claim only a run of this campaign on the system in memory.
        run_id: claim this run and no other.
    """
    crash_point("before_claim")
    for _ in range(CLAIM_TRIES):
        waiting = SearchRun.objects.filter(state=RunState.QUEUED)
        if run_id is not None:
            candidate = _first(waiting.filter(pk=run_id))
        elif campaign_id is not None:
            candidate = _first(_of(waiting, queues, sut_id=loaded_sut_id).filter(campaign_id=campaign_id))
        else:
            candidate = _next_of_turn(waiting, queues, loaded_sut_id, has_turn=has_turn)
        if candidate is None:
            return None
        if move_run(
            candidate.pk,
            frm=RunState.QUEUED,
            to=RunState.RUNNING,
            held_fence=candidate.fence,
            fence=candidate.fence + 1,
            owner=owner,
            lease_expires=lease_end(),
            stalls=F("stalls") + 1,
            started_at=Coalesce(F("started_at"), Now()),
        ):
            Campaign.objects.filter(pk=candidate.campaign_id).update(served_at=Now())
            crash_point("after_claim")
            if candidate.started_at is None:
                log_event(candidate.pk, "Started.")
            return Lease(
                candidate.pk,
                candidate.fence + 1,
                owner,
                campaign_id=candidate.campaign_id,
                sut_id=candidate.sut_id,
                method=candidate.method,
            )
    return None


class _Candidate(NamedTuple):
    pk: int
    fence: int
    started_at: datetime | None
    campaign_id: int
    sut_id: int
    method: str


def _next_of_turn(
    waiting: QuerySet[SearchRun], queues: Collection[str], loaded_sut_id: int | None, *, has_turn: bool
) -> _Candidate | None:
    """Return the next run of the campaign whose turn it is."""
    if loaded_sut_id is not None and has_turn:
        loaded = _of(waiting, queues, sut_id=loaded_sut_id)
        found = _of_longest_unserved(loaded)
        if found is not None:
            return _first(loaded.filter(campaign_id=found))
    mine = _of(waiting, queues)
    found = _of_longest_unserved(mine)
    if found is None:
        return None
    mine = mine.filter(campaign_id=found)
    return (loaded_sut_id and _first(mine.filter(sut_id=loaded_sut_id))) or _first(mine)


def _of_longest_unserved(waiting: QuerySet[SearchRun]) -> int | None:
    """Return the campaign with such a run that was served longest ago; one look into an index a campaign."""
    campaigns = Campaign.objects.filter(Exists(waiting.filter(campaign_id=OuterRef("pk")).order_by()))
    order = (F("served_at").asc(nulls_first=True), "pk")
    return campaigns.order_by(*order).values_list("pk", flat=True).first()


def _of(
    waiting: QuerySet[SearchRun], queues: Collection[str], *, sut_id: int | None = None
) -> QuerySet[SearchRun]:
    rows = waiting.filter(queue__in=sorted(queues))
    return rows if sut_id is None else rows.filter(sut_id=sut_id)


def _first(waiting: QuerySet[SearchRun]) -> _Candidate | None:
    """Return the first row in the order of the index that claims use."""
    columns = ("pk", "fence", "started_at", "campaign_id", "sut_id", "campaign__method")
    found = waiting.order_by("queue", "sut_id", "pk").values_list(*columns).first()
    return None if found is None else _Candidate(*found)


def renew_lease(lease: Lease) -> bool:
    """Extend a claim; False when it is no longer ours."""
    rows = SearchRun.objects.filter(
        pk=lease.run_id, fence=lease.fence, owner=lease.owner, state__in=WORKED_STATES
    )
    return rows.update(lease_expires=lease_end()) == 1


def release_lease(lease: Lease) -> bool:
    """Put a run back into the queue, in good order: whoever takes it next finds nothing wrong."""
    crash_point("before_release")
    released = move_run(
        lease.run_id,
        frm=RunState.RUNNING,
        to=RunState.QUEUED,
        held_fence=lease.fence,
        stalls=0,
        dispatched_at=None,
    )
    crash_point("after_release")
    return released


def release_paused(lease: Lease) -> bool:
    """Let go of a run that somebody paused while its batch was in hand; False when it is not paused."""
    rows = SearchRun.objects.filter(pk=lease.run_id, fence=lease.fence, state=RunState.PAUSED)
    return rows.update(owner="", lease_expires=None, reserved_usd=0.0) == 1


def take_job(owner: str, queues: Collection[str], *, is_long: bool = False) -> JobLease | None:
    """Claim the oldest waiting job of these queues, or None; long ones only with ``is_long``."""
    for _ in range(CLAIM_TRIES):
        waiting = _waiting_jobs(queues, is_long=is_long)
        candidate = waiting.order_by("created_at").values_list("pk", "attempts").first()
        if candidate is None:
            return None
        pk, attempts = candidate
        rows = Job.objects.filter(pk=pk, state=JobState.QUEUED, attempts=attempts)
        won = rows.update(
            state=JobState.RUNNING, attempts=attempts + 1, owner=owner, lease_expires=lease_end()
        )
        if won == 1:
            return JobLease(str(pk), attempts + 1, owner)
    return None


def renew_job(lease: JobLease) -> bool:
    """Extend a claim on a job; False when it is no longer ours."""
    return own_job(lease).update(lease_expires=lease_end()) == 1


def own_job(lease: JobLease) -> QuerySet[Job]:
    """Return the row of a job while the claim on it holds."""
    return Job.objects.filter(
        pk=lease.job_id, attempts=lease.attempt, owner=lease.owner, state=JobState.RUNNING
    )


def has_waiting_job(queues: Collection[str]) -> bool:
    """Whether a person waits at a page for a job of these queues."""
    return _waiting_jobs(queues, is_long=False).exists()


def has_waiting_long_job(queues: Collection[str]) -> bool:
    """Whether a long job waits in these queues."""
    return _waiting_jobs(queues, is_long=True).exists()


def _waiting_jobs(queues: Collection[str], *, is_long: bool) -> QuerySet[Job]:
    waiting = Job.objects.filter(state=JobState.QUEUED, queue__in=list(queues))
    return waiting.filter(kind__in=LONG_KINDS) if is_long else waiting.exclude(kind__in=LONG_KINDS)


def has_waiting_run(queues: Collection[str]) -> bool:
    """Whether a run waits in these queues."""
    return SearchRun.objects.filter(state=RunState.QUEUED, queue__in=list(queues)).exists()


def is_expired() -> Q:
    """Condition for a lease that is over; one without an end counts as over."""
    return Q(lease_expires__isnull=True) | Q(lease_expires__lt=Now())
