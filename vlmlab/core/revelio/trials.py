"""What all concept-set searches share: batches within the budget, counting, and early stopping."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.racing import StoppingRule
from vlmlab.core.revelio.space import SearchSpace
from vlmlab.core.revelio.types import Key, Outcome, Query, TrialState, TrialStatus, Verdict

MAX_CALL_ERRORS = 2  # a set with more calls that failed is parked
MAX_UNCHARGED = 100  # beside the budget: failed calls and impossible scenes after which a search ends


@dataclass
class Trial:
    """A concept set under test; counts grow while its status is OPEN."""

    index: int
    key: Key
    order: int
    stage: str
    fails: int = 0
    passes: int = 0
    call_errors: int = 0
    asked: int = 0
    status: TrialStatus = TrialStatus.OPEN

    @property
    def samples(self) -> int:
        """Samples with an answer."""
        return self.fails + self.passes

    @property
    def rate(self) -> float:
        """Share of fails among the answered samples; for ranking only once curtailed."""
        return self.fails / max(1, self.samples)


class ConceptSetSearch(ABC):
    """A search over concept sets: a pure function of configuration, run seed and what it was told.

    A batch holds at most ``config.slots`` queries. Samples that are certain to be needed are asked
    first, oldest set first, so no batch asks a sample that the class of its set does not need.
    Failed calls and impossible scenes cost no budget; a search that meets more of them than its budget
    and ``MAX_UNCHARGED`` ends, so that a dead system is not asked for ever.
    """

    def __init__(self, config: RevelioConfig, *, space: SearchSpace, run_seed: int) -> None:
        self.config = config
        self.space = space
        self.run_seed = run_seed
        self.rule = StoppingRule(config.samples_per_set, config.fails_needed, config.is_curtailed)
        self._opened: dict[int, Trial] = {}
        self._by_key: dict[Key, Trial] = {}
        self._active: list[Trial] = []
        self._states: dict[Key, TrialState] = {}
        self._pending: tuple[Query, ...] | None = None
        self._touched: tuple[Key, ...] = ()
        self._observations = 0
        self._uncharged = 0

    @property
    @abstractmethod
    def stage(self) -> str:
        """The part of the search that is going on, for people."""

    @abstractmethod
    def _propose(self) -> int | None:
        """Return the position of the next set to open, or None when there is none for now."""

    @property
    def trials(self) -> Mapping[Key, TrialState]:
        """Every set opened so far, in the order opened."""
        return MappingProxyType(self._states)

    @property
    def observations(self) -> int:
        """Samples charged to the inference budget: fails and passes."""
        return self._observations

    def touched(self) -> tuple[Key, ...]:
        """Return the sets that the last ``tell`` changed, in the order asked."""
        return self._touched

    def ask(self) -> Sequence[Query]:
        """Return the next batch; the same one until it is told; empty when the search has ended."""
        if self._pending is None:
            is_hopeless = self._uncharged >= self.config.inference_budget + MAX_UNCHARGED
            self._pending = () if is_hopeless else tuple(self._next_batch())
        return self._pending

    def tell(self, outcomes: Sequence[Outcome]) -> None:
        """Take the outcomes of the batch last asked, in the order asked.

        Raises:
            ValueError: the outcomes do not answer the batch last asked.
        """
        if self._pending is None or tuple(outcome.query for outcome in outcomes) != self._pending:
            raise ValueError(f"outcomes must answer the batch last asked, {self._pending!r}, in order")
        self._pending = None
        changed = dict.fromkeys(outcome.query.key for outcome in outcomes)
        for outcome in outcomes:
            self._count(self._by_key[outcome.query.key], outcome.verdict)
        for key in changed:
            self._states[key] = self._state(self._by_key[key])
        closed = [trial for trial in self._active if trial.status is not TrialStatus.OPEN]
        self._active = [trial for trial in self._active if trial.status is TrialStatus.OPEN]
        self._touched = tuple(changed)
        self._observe(closed)

    def _observe(self, closed: Sequence[Trial]) -> None:  # noqa: B027 - only some searches learn
        """Learn from a batch; ``closed`` are the trials that ended with it."""

    def _remaining(self) -> int:
        return self.config.inference_budget - self._observations

    def _next_batch(self) -> list[Query]:
        room = min(self.config.slots, self._remaining())
        promised = sum(self._certain(trial) for trial in self._active)
        batch: list[Query] = []
        for trial in self._active:
            self._take(trial, batch, room)
        fresh = self.rule.certain_samples(0, 0)
        while len(batch) < room and promised + fresh <= self._remaining():
            index = self._propose()
            if index is None:
                break
            self._take(self._open(index), batch, room)
            promised += fresh
        return batch

    def _take(self, trial: Trial, batch: list[Query], room: int) -> None:
        for _ in range(min(self._certain(trial), room - len(batch))):
            batch.append(self._query(trial))

    def _query(self, trial: Trial) -> Query:
        trial.asked += 1
        return Query(trial.key, trial.asked - 1)

    def _certain(self, trial: Trial) -> int:
        return self.rule.certain_samples(trial.fails, trial.passes)

    def _open(self, index: int) -> Trial:
        trial = Trial(index, self.space.key(index), len(self._opened), self.stage)
        self._opened[index] = trial
        self._by_key[trial.key] = trial
        self._active.append(trial)
        self._states[trial.key] = self._state(trial)
        return trial

    def _count(self, trial: Trial, verdict: Verdict) -> None:
        self._uncharged += verdict in (Verdict.INCOMPATIBLE, Verdict.CALL_ERROR)
        if verdict is Verdict.INCOMPATIBLE:
            trial.status = TrialStatus.INCOMPATIBLE
        elif verdict is Verdict.CALL_ERROR:
            trial.call_errors += 1
        else:
            self._observations += 1
            trial.fails += verdict is Verdict.FAIL
            trial.passes += verdict is Verdict.PASS
        if trial.status is not TrialStatus.INCOMPATIBLE:
            trial.status = self._judge(trial)

    def _judge(self, trial: Trial) -> TrialStatus:
        """Return the status that the counts of a compatible trial give."""
        status = self.rule.decide(trial.fails, trial.passes)
        if status is TrialStatus.OPEN and trial.call_errors > MAX_CALL_ERRORS:
            return TrialStatus.PARKED
        return status

    def _state(self, trial: Trial) -> TrialState:
        is_short = trial.samples < self.config.samples_per_set
        return TrialState(
            key=trial.key,
            fails=trial.fails,
            passes=trial.passes,
            call_errors=trial.call_errors,
            status=trial.status,
            is_curtailed=is_short and (trial.status.is_decided or trial.status is TrialStatus.PARKED),
            stage=trial.stage,
            order=trial.order,
        )
