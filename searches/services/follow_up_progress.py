"""How far a follow-up is: its runs, what stands in their way, and the items settled so far."""

import hashlib
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils import timezone

from searches.enums import FINAL_STATES, LIVE_STATES, RunState
from searches.models import Campaign, FollowUpItem, RunEvent, SearchRun, User
from searches.services import runs
from searches.services.modality_progress import state_of
from searches.services.navigation import alive_workers
from vlmlab.core.errors import VlmLabError

LOG_LINES = 10


@dataclass(frozen=True)
class FollowUpProgress:
    """Where a follow-up stands; a fixed number of queries however much it settles.

    Attributes:
        runs: one a system, with that system.
        by_state: items by their state, "" for open ones.
        problem: why nothing moves, with what to do; "" when all is well.
        log: the newest lines of all runs, newest first.
    """

    campaign: Campaign
    runs: tuple[SearchRun, ...]
    by_state: dict[str, int]
    problem: str
    log: tuple[RunEvent, ...]

    @property
    def n_items(self) -> int:
        """Everything that it settles."""
        return sum(self.by_state.values())

    @property
    def n_settled(self) -> int:
        """What it has settled so far."""
        return self.n_items - self.by_state.get("", 0)

    @property
    def state(self) -> RunState:
        """The state of the whole in the words of runs."""
        counts: dict[str, int] = {}
        for run in self.runs:
            counts[run.state] = counts.get(run.state, 0) + 1
        return state_of(counts)

    @property
    def is_live(self) -> bool:
        """Whether anything waits or works."""
        return any(run.state in LIVE_STATES for run in self.runs)

    @property
    def is_final(self) -> bool:
        """Whether nothing more will happen by itself."""
        return all(run.state in FINAL_STATES for run in self.runs)

    @property
    def n_inferences(self) -> int:
        """Answers taken so far."""
        return sum(run.n_inferences for run in self.runs)

    @property
    def n_failed(self) -> int:
        """Wrong answers among them."""
        return sum(run.n_failed for run in self.runs)

    @property
    def n_invalid(self) -> int:
        """Answers that named no option; they count as wrong."""
        return sum(run.n_invalid for run in self.runs)

    @property
    def n_call_errors(self) -> int:
        """Failed calls, outside every rate."""
        return sum(run.n_call_errors for run in self.runs)

    @property
    def n_generation_errors(self) -> int:
        """Scenes that could not be drawn, outside every rate."""
        return sum(run.n_generation_errors for run in self.runs)

    @property
    def spend_usd(self) -> float:
        """US dollars so far."""
        return sum(run.spend_usd for run in self.runs)

    @property
    def seconds(self) -> float:
        """Work so far, over all workers."""
        return sum(run.active_seconds for run in self.runs)

    @property
    def halts(self) -> list[SearchRun]:
        """Runs that stand still, with a reason."""
        standing = (RunState.PAUSED, RunState.FAILED)
        return [run for run in self.runs if run.state in standing and run.error]

    @property
    def endings(self) -> list[SearchRun]:
        """Runs that have ended, with why."""
        return [run for run in self.runs if run.is_final and run.ending]

    @property
    def may_pause(self) -> bool:
        """Whether anything can be paused."""
        return any(run.state in (RunState.QUEUED, RunState.RUNNING) for run in self.runs)

    @property
    def may_cancel(self) -> bool:
        """Whether anything can be ended early."""
        return self.may_pause or any(run.state == RunState.PAUSED for run in self.runs)

    @property
    def may_resume(self) -> bool:
        """Whether anything can be resumed."""
        return any(run.state in runs.RESUMABLE and not run.is_halted_by_spending for run in self.runs)

    @property
    def etag(self) -> str:
        """Changes whenever what a page shows must change."""
        shown = [run.etag for run in self.runs], sorted(self.by_state.items()), self.problem
        return hashlib.sha256(repr(shown).encode()).hexdigest()[:20]


def follow_up_progress(campaign: Campaign) -> FollowUpProgress:
    """Return where a follow-up stands."""
    found = tuple(campaign.runs.select_related("sut", "campaign").order_by("sut__name", "pk"))
    counted = FollowUpItem.objects.filter(campaign=campaign).order_by().values_list("state")
    events = RunEvent.objects.filter(run__campaign=campaign).select_related("run__sut").order_by("-id")
    return FollowUpProgress(
        campaign=campaign,
        runs=found,
        by_state=dict(counted.annotate(number=Count("pk"))),
        problem=_problem(found),
        log=tuple(events[:LOG_LINES]),
    )


@transaction.atomic
def pause_follow_up(campaign: Campaign, *, by: User | None) -> None:
    """Halt every run that waits or works; batches in hand are still kept.

    Raises:
        VlmLabError: nothing of it waits or works.
    """
    _hold_runs(campaign)
    waiting = _in_states(campaign, RunState.QUEUED, RunState.RUNNING)
    _refuse_nothing(waiting, "paused")
    for run in waiting:
        runs.pause_run(run, by=by)


@transaction.atomic
def cancel_follow_up(campaign: Campaign, *, by: User | None) -> None:
    """End every run that has not ended; what it has settled is kept.

    Raises:
        VlmLabError: all have ended already.
    """
    _hold_runs(campaign)
    open_runs = _in_states(campaign, RunState.QUEUED, RunState.RUNNING, RunState.PAUSED)
    _refuse_nothing(open_runs, "ended")
    for run in open_runs:
        runs.cancel_run(run, by=by)


def resumable_runs(campaign: Campaign) -> list[SearchRun]:
    """Return the halted runs of a follow-up.

    Raises:
        VlmLabError: there is none.
    """
    halted = list(_in_states(campaign, *runs.RESUMABLE).filter(is_halted_by_spending=False))
    _refuse_nothing(halted, "resumed")
    return halted


def _hold_runs(campaign: Campaign) -> None:
    """Wait for workers that end a run of it just now: they hold the run and wait for what is settled here."""
    list(campaign.runs.select_for_update().order_by("pk").values_list("pk"))


def _in_states(campaign: Campaign, *states: RunState) -> QuerySet[SearchRun]:
    return campaign.runs.filter(state__in=states).select_related("campaign", "sut").order_by("pk")


def _refuse_nothing(found: "QuerySet[SearchRun] | list[SearchRun]", verb: str) -> None:
    if not found:
        raise VlmLabError(
            f"Nothing of this follow-up can be {verb} now.",
            hint="Reload the page to see what happened meanwhile.",
        )


def _problem(found: tuple[SearchRun, ...]) -> str:
    at_work = (RunState.RUNNING, RunState.CANCELLING)
    now = timezone.now()
    if any(run.state in at_work and run.lease_expires and run.lease_expires < now for run in found):
        return "A worker fell silent. Nothing is lost: another worker takes over within a minute or so."
    waiting = {run.queue for run in found if run.state == RunState.QUEUED}
    if not waiting:
        return ""
    served = {queue for queues in alive_workers().values_list("queues", flat=True) for queue in queues}
    idle = sorted(waiting - served)
    if not idle:
        return ""
    queues = " or ".join(idle)
    return f"No worker serves the {queues} queue, so it waits. It begins by itself as soon as one starts."
