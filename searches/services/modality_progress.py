"""How far a modality campaign is: runs by state and outcome, the pace of the last minutes, what is left."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Max, Min, Q, Sum
from django.db.models.functions import Now
from django.utils import timezone

from searches.enums import FINAL_STATES, LIVE_STATES, ModalityStatus, RunState
from searches.models import Campaign, ModalityRun, SearchRun
from searches.services.leases import HELD_STATES
from searches.services.modality_steering import unasked_runs
from searches.services.navigation import alive_workers

PACE_WINDOW = timedelta(minutes=10)
FEWEST_FOR_PACE = 3  # runs that must have ended in the window before a pace is told
MOST_PROBLEMS = 3


@dataclass(frozen=True)
class Halt:
    """Runs that stand still for the same reason."""

    error: str
    hint: str
    n_runs: int


@dataclass(frozen=True)
class Pace:
    """How fast a campaign has been in the last minutes.

    Attributes:
        evaluations_a_minute: of the runs that ended.
        seconds_left: until all runs have ended, at this pace.
    """

    evaluations_a_minute: float
    seconds_left: float


@dataclass(frozen=True)
class CampaignProgress:
    """Where a campaign stands; every number comes from its rows as they are.

    Attributes:
        by_state: runs by the state of their search.
        by_status: runs by how they came out.
        evaluations: strategies asked so far.
        spend_usd: US dollars so far.
        call_errors: failed calls, outside every rate.
        seconds: work so far, over all workers.
        late: runs whose worker fell silent.
        unasked: runs that ended because the clean question failed each time; they may be resumed, too.
        halts: why runs stand still, the most frequent reasons first.
        pace: None before enough runs have ended.
        idle_queues: queues in which runs wait and that no worker serves.
    """

    by_state: dict[str, int]
    by_status: dict[str, int]
    evaluations: int
    spend_usd: float
    call_errors: int
    seconds: float
    late: int
    unasked: int
    halts: tuple[Halt, ...]
    pace: Pace | None
    idle_queues: tuple[str, ...]

    @property
    def n_runs(self) -> int:
        """All runs."""
        return sum(self.by_state.values())

    @property
    def n_ended(self) -> int:
        """Runs that have ended by themselves: nothing more is asked in them."""
        return self.by_state.get(RunState.SUCCEEDED, 0)

    @property
    def n_finished(self) -> int:
        """Runs that count: their seed image was eligible and they came to their end."""
        return self.by_status.get(ModalityStatus.FINISHED, 0)

    @property
    def n_baseline_failures(self) -> int:
        """Runs whose seed image the system does not find even unperturbed."""
        return self.by_status.get(ModalityStatus.BASELINE_FAILURE, 0)

    @property
    def n_unanswered(self) -> int:
        """Runs that ended because calls failed."""
        return self.by_status.get(ModalityStatus.CALL_ERROR, 0)

    @property
    def n_running(self) -> int:
        """Runs that a worker has."""
        return sum(self.by_state.get(state, 0) for state in HELD_STATES)

    @property
    def n_halted(self) -> int:
        """Runs that a person may resume."""
        states = (RunState.PAUSED, RunState.FAILED, RunState.CANCELLED)
        return self.unasked + sum(self.by_state.get(state, 0) for state in states)

    @property
    def is_live(self) -> bool:
        """Whether anything waits or works."""
        return any(self.by_state.get(state) for state in LIVE_STATES)

    @property
    def is_final(self) -> bool:
        """Whether nothing more will happen by itself or can be paused."""
        return all(state in FINAL_STATES for state, number in self.by_state.items() if number)

    @property
    def is_over(self) -> bool:
        """Whether all runs have ended by themselves, so that nothing is left to watch or to do."""
        return self.is_final and not self.may_resume

    @property
    def state(self) -> RunState:
        """The state of the campaign as a whole, in the words of runs."""
        return state_of(self.by_state)

    @property
    def may_pause(self) -> bool:
        """Whether anything can be paused."""
        return any(self.by_state.get(state) for state in (RunState.QUEUED, RunState.RUNNING))

    @property
    def may_cancel(self) -> bool:
        """Whether anything can be ended early."""
        return self.may_pause or bool(self.by_state.get(RunState.PAUSED))

    @property
    def may_resume(self) -> bool:
        """Whether anything can be resumed."""
        return self.n_halted > 0

    @property
    def etag(self) -> str:
        """Changes whenever what a page shows must change."""
        shown = (
            sorted(self.by_state.items()), sorted(self.by_status.items()), self.evaluations,
            self.call_errors, self.late, self.halts, self.idle_queues,
        )  # fmt: skip
        return hashlib.sha256(repr(shown).encode()).hexdigest()[:20]


def state_of(by_state: dict[str, int]) -> RunState:
    """Return one state for runs in several: what is at work goes before what stands, before what ended."""
    order = (
        RunState.RUNNING, RunState.CANCELLING, RunState.QUEUED, RunState.PAUSED, RunState.FAILED,
        RunState.CANCELLED,
    )  # fmt: skip
    return next((state for state in order if by_state.get(state)), RunState.SUCCEEDED)


def campaign_progress(campaign: Campaign) -> CampaignProgress:
    """Return where a campaign stands; a fixed number of queries however many runs it has."""
    runs = SearchRun.objects.filter(campaign=campaign)
    rows = list(
        runs.order_by()
        .values("state")
        .annotate(
            n=Count("pk"),
            asked=Sum("n_inferences"),
            spend=Sum("spend_usd"),
            call_errors=Sum("n_call_errors"),
            seconds=Sum("active_seconds"),
            late=Count("pk", filter=Q(state__in=HELD_STATES, lease_expires__lt=Now())),
        )
    )
    by_state = {str(row["state"]): int(row["n"]) for row in rows}
    return CampaignProgress(
        by_state=by_state,
        by_status=_by_status(campaign),
        evaluations=sum(row["asked"] or 0 for row in rows),
        spend_usd=sum(row["spend"] or 0.0 for row in rows),
        call_errors=sum(row["call_errors"] or 0 for row in rows),
        seconds=sum(row["seconds"] or 0.0 for row in rows),
        late=sum(row["late"] or 0 for row in rows),
        unasked=unasked_runs(campaign).count(),
        halts=_halts(campaign),
        pace=_pace(campaign, by_state),
        idle_queues=_idle_queues(campaign, by_state),
    )


def progress_of_many(campaigns: Iterable[Campaign]) -> dict[int, dict[str, int]]:
    """Return the runs of campaigns by state, by campaign; one query for all of them."""
    found: dict[int, dict[str, int]] = {campaign.pk: {} for campaign in campaigns}
    rows = SearchRun.objects.filter(campaign_id__in=list(found)).order_by()
    for campaign_id, state, number in rows.values_list("campaign_id", "state").annotate(n=Count("pk")):
        found[campaign_id][state] = number
    return found


def _by_status(campaign: Campaign) -> dict[str, int]:
    rows = ModalityRun.objects.filter(campaign=campaign).order_by().values_list("status")
    return {str(status): int(number) for status, number in rows.annotate(n=Count("pk"))}


def _halts(campaign: Campaign) -> tuple[Halt, ...]:
    standing = SearchRun.objects.filter(campaign=campaign, state__in=(RunState.PAUSED, RunState.FAILED))
    rows = standing.exclude(error="").order_by().values("error", "hint").annotate(n=Count("pk"))
    most = rows.order_by("-n", "error")[:MOST_PROBLEMS]
    return tuple(Halt(row["error"], row["hint"], row["n"]) for row in most)


def _pace(campaign: Campaign, by_state: dict[str, int]) -> Pace | None:
    """Return the pace by the runs that ended lately, in a window that is at most as old as the work."""
    left = sum(number for state, number in by_state.items() if state not in FINAL_STATES)
    if not left or not any(by_state.get(state) for state in HELD_STATES):
        return None
    now = timezone.now()
    ended = SearchRun.objects.filter(
        campaign=campaign, state=RunState.SUCCEEDED, finished_at__gt=now - PACE_WINDOW
    )
    found = ended.aggregate(
        n=Count("pk"), asked=Sum("n_inferences"), first=Min("started_at"), last=Max("finished_at")
    )
    if found["n"] < FEWEST_FOR_PACE:
        return None
    began: datetime = max(found["first"] or now, now - PACE_WINDOW)
    seconds = max(1.0, (now - began).total_seconds())
    return Pace(60.0 * (found["asked"] or 0) / seconds, left * seconds / found["n"])


def _idle_queues(campaign: Campaign, by_state: dict[str, int]) -> tuple[str, ...]:
    if not by_state.get(RunState.QUEUED):
        return ()
    waiting = SearchRun.objects.filter(campaign=campaign, state=RunState.QUEUED)
    wanted = set(waiting.order_by().values_list("queue", flat=True).distinct())
    served = {queue for queues in alive_workers().values_list("queues", flat=True) for queue in queues}
    return tuple(sorted(wanted - served))
