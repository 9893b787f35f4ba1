"""How far an experiment is: its runs by state, what they have taken, why any of them stand."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from searches.enums import FINAL_STATES, LIVE_STATES, RunState
from searches.models import Experiment, SearchRun
from searches.services.experiments import experiment_runs
from searches.services.modality_progress import MOST_PROBLEMS, Halt, state_of
from searches.services.navigation import alive_workers


@dataclass(frozen=True)
class ExperimentProgress:
    """Where an experiment stands.

    Attributes:
        by_state: runs by their state.
        n_inferences, budget: answers so far, and at most.
        seconds: of work so far, over all workers.
        seconds_left: of work at the pace so far; None before the first answers.
        halts: why runs stand still, the most frequent reasons first.
        is_unserved: whether runs wait and no worker serves their queue.
    """

    by_state: dict[str, int]
    n_inferences: int
    budget: int
    n_call_errors: int
    seconds: float
    seconds_left: float | None
    spend_usd: float
    halts: tuple[Halt, ...]
    is_unserved: bool

    @property
    def n_runs(self) -> int:
        """All runs."""
        return sum(self.by_state.values())

    @property
    def n_ended(self) -> int:
        """Runs that have ended by themselves."""
        return self.by_state.get(RunState.SUCCEEDED, 0)

    @property
    def n_running(self) -> int:
        """Runs that a worker has."""
        return self.by_state.get(RunState.RUNNING, 0) + self.by_state.get(RunState.CANCELLING, 0)

    @property
    def n_halted(self) -> int:
        """Runs that a person may resume."""
        states = (RunState.PAUSED, RunState.FAILED, RunState.CANCELLED)
        return sum(self.by_state.get(state, 0) for state in states)

    @property
    def state(self) -> RunState:
        """The state of the experiment as a whole, in the words of runs."""
        return state_of(self.by_state)

    @property
    def is_live(self) -> bool:
        """Whether anything waits or works."""
        return any(self.by_state.get(state) for state in LIVE_STATES)

    @property
    def is_final(self) -> bool:
        """Whether nothing more will happen by itself."""
        return all(state in FINAL_STATES for state, number in self.by_state.items() if number)

    @property
    def may_pause(self) -> bool:
        """Whether anything can be paused."""
        return any(self.by_state.get(state) for state in (RunState.QUEUED, RunState.RUNNING))

    @property
    def may_cancel(self) -> bool:
        """Whether anything can be ended early."""
        return self.may_pause or bool(self.by_state.get(RunState.PAUSED))

    @property
    def etag(self) -> str:
        """Changes whenever what a page shows must change."""
        shown = (sorted(self.by_state.items()), self.n_inferences, self.n_call_errors, self.halts,
                 self.is_unserved)  # fmt: skip
        return hashlib.sha256(repr(shown).encode()).hexdigest()[:20]


def experiment_progress(experiment: Experiment) -> ExperimentProgress:
    """Return where an experiment stands (two queries)."""
    return progress_of(list(experiment_runs(experiment).select_related("campaign").order_by("pk")))


def progress_of(runs: Sequence[SearchRun]) -> ExperimentProgress:
    """Return where runs stand that were fetched with their campaigns (at most one query)."""
    left = sum(max(0, _budget(run) - run.n_observations) for run in runs if run.state not in FINAL_STATES)
    asked = sum(run.n_observations for run in runs)
    seconds = sum(run.active_seconds for run in runs)
    waiting = {run.queue for run in runs if run.state == RunState.QUEUED}
    return ExperimentProgress(
        by_state=dict(Counter(str(run.state) for run in runs)),
        n_inferences=sum(run.n_inferences for run in runs),
        budget=sum(_budget(run) for run in runs),
        n_call_errors=sum(run.n_call_errors for run in runs),
        seconds=seconds,
        seconds_left=left * seconds / asked if asked and seconds and left else None,
        spend_usd=sum(run.spend_usd for run in runs),
        halts=_halts(runs),
        is_unserved=bool(waiting) and not _is_served(waiting),
    )


def _budget(run: SearchRun) -> int:
    return int(run.campaign.config.get("inference_budget", 0))


def _halts(runs: Sequence[SearchRun]) -> tuple[Halt, ...]:
    standing = (RunState.PAUSED, RunState.FAILED)
    counted = Counter((run.error, run.hint) for run in runs if run.state in standing and run.error)
    return tuple(Halt(error, hint, number) for (error, hint), number in counted.most_common(MOST_PROBLEMS))


def _is_served(queues: set[str]) -> bool:
    served = {queue for one in alive_workers().values_list("queues", flat=True) for queue in one}
    return queues <= served
