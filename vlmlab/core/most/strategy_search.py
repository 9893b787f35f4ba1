"""What all MoST searches share: batches within the budget, failed calls, counting, and when to end."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType

import numpy as np

from vlmlab.core.most.admission import allowed, as_strategy, largest_admissible
from vlmlab.core.most.config import MostConfig
from vlmlab.core.most.outcomes import ReturnedCase, returned_case
from vlmlab.core.most.types import AnswerStatus, FloatArray, Outcome, Query, SearchTarget, Strategy

MAX_CALL_ERRORS = 2  # a strategy with more calls that failed is given up
MAX_UNCHARGED = 100  # beside the budget: failed calls after which a search ends


class EndReason(StrEnum):
    """Why a search has nothing more to ask."""

    FAILURE_FOUND = "failure_found"
    BUDGET_SPENT = "budget_spent"
    GAVE_UP = "gave_up"
    NOTHING_LEFT = "nothing_left"
    UNANSWERED = "unanswered"


class StrategySearch(ABC):
    """A search over strategies: a pure function of configuration, run seed, fidelity and what it was told.

    A batch holds at most ``config.slots`` queries. No strategy is asked twice unless its call failed: the
    system is a function of the strategy. Failed calls cost no budget; a search that meets more of them
    than its budget and ``MAX_UNCHARGED`` ends, so that a dead system is not asked for ever.

    Args:
        config: what to search and how.
        target: what is searched.
        run_seed: the number all randomness of the run comes from.
    """

    def __init__(self, config: MostConfig, *, target: SearchTarget, run_seed: int) -> None:
        self.config = config
        self.target = target
        self.run_seed = run_seed
        self.thresholds = config.thresholds
        self._known: dict[Strategy, Outcome] = {}
        self._asked: set[Strategy] = set()
        self._unanswered: list[Query] = []
        self._pending: tuple[Query, ...] | None = None
        self._end: EndReason | None = None
        self._evaluations = 0
        self._uncharged = 0
        self._first_hit: int | None = None

    @property
    @abstractmethod
    def stage(self) -> str:
        """The part of the search that is going on, for people."""

    @abstractmethod
    def _propose(self, room: int) -> Sequence[Strategy]:
        """Return at most ``room`` different strategies that were never asked; none when none is left."""

    @property
    def outcomes(self) -> Mapping[Strategy, Outcome]:
        """The last outcome of every strategy that is decided, in the order told."""
        return MappingProxyType(self._known)

    @property
    def answered(self) -> list[Outcome]:
        """Outcomes with an answer, in the order told."""
        return [outcome for outcome in self._known.values() if outcome.status.is_answer]

    def returned_case(self, swtd_of: Callable[[Outcome], float] | None = None) -> ReturnedCase | None:
        """Return the test case of the run so far; None before any answer. See ``outcomes.returned_case``."""
        return returned_case(
            self.answered, clean_iou=self.target.clean_iou, thresholds=self.thresholds, swtd_of=swtd_of
        )

    @property
    def evaluations(self) -> int:
        """Answers charged to the inference budget."""
        return self._evaluations

    @property
    def first_hit(self) -> int | None:
        """How many answers the first failure took, itself included; None without one."""
        return self._first_hit

    @property
    def end_reason(self) -> EndReason | None:
        """Why the search has ended; None while it goes on."""
        return self._end

    def ask(self) -> Sequence[Query]:
        """Return the next batch; the same one until it is told; empty when the search has ended."""
        if self._pending is None:
            self._pending = tuple(self._next_batch())
        return self._pending

    def tell(self, outcomes: Sequence[Outcome]) -> None:
        """Take the outcomes of the batch last asked, in the order asked.

        Raises:
            ValueError: the outcomes do not answer the batch last asked.
        """
        if self._pending is None or tuple(outcome.query for outcome in outcomes) != self._pending:
            raise ValueError(f"outcomes must answer the batch last asked, {self._pending!r}, in order")
        self._pending = None
        for outcome in outcomes:
            self._take(outcome)
        self._observe([outcome for outcome in outcomes if outcome.status.is_answer])

    def _observe(self, answered: Sequence[Outcome]) -> None:  # noqa: B027 - only some searches learn
        """Learn from the answers of a batch."""

    def _is_satisfied(self) -> bool:
        """Return whether the search has found all that it wanted."""
        return self.config.early_stop and self._first_hit is not None

    def _is_known(self, strategy: Strategy) -> bool:
        """Return whether a strategy needs no asking: it is decided, or perturbs nothing."""
        return strategy in self._known or not any(strategy)

    def _fails(self, strategy: Strategy) -> bool:
        """Return whether a strategy that is known is a failure."""
        return strategy in self._known and self.thresholds.is_hit(self._known[strategy])

    def _admit(self, rows: FloatArray) -> list[Strategy]:
        """Return rows ``(m, n)`` as strategies that may be asked: repaired, and weakened if so configured."""
        repaired = allowed(rows, self.target.space)
        if not self.config.fidelity_first:
            return [as_strategy(row) for row in repaired]
        return [largest_admissible(row, target=self.target, thresholds=self.thresholds) for row in repaired]

    def _admitted_rows(self, rows: FloatArray) -> FloatArray:
        """Return rows ``(m, n)`` as such strategies, ``(m, n)``."""
        return np.array(self._admit(rows), dtype=np.float64).reshape(rows.shape)

    def _next_batch(self) -> list[Query]:
        self._end = self._end or self._reason_to_end()
        if self._end is not None:
            return []
        room = self._room()
        batch, self._unanswered = self._unanswered[:room], self._unanswered[room:]
        if len(batch) < room:
            fresh = self._propose(room - len(batch))
            self._asked.update(fresh)
            batch += [Query(strategy) for strategy in fresh]
        if not batch:
            self._end = EndReason.NOTHING_LEFT
        return batch

    def _reason_to_end(self) -> EndReason | None:
        config = self.config
        if self._is_satisfied():
            return EndReason.FAILURE_FOUND
        if self._evaluations >= config.inference_budget:
            return EndReason.BUDGET_SPENT
        if self._gives_up and self._evaluations >= (config.give_up_after or 0):
            return EndReason.GAVE_UP
        if self._uncharged >= config.inference_budget + MAX_UNCHARGED:
            return EndReason.UNANSWERED
        return None

    @property
    def _gives_up(self) -> bool:
        return self.config.give_up_after is not None and self._first_hit is None

    def _room(self) -> int:
        limit = self.config.inference_budget
        if self._gives_up:
            limit = min(limit, self.config.give_up_after or limit)
        return min(self.config.slots, limit - self._evaluations)

    def _take(self, outcome: Outcome) -> None:
        strategy = outcome.query.strategy
        if outcome.status is AnswerStatus.CALL_ERROR:
            self._uncharged += 1
            if outcome.query.attempt < MAX_CALL_ERRORS:
                self._unanswered.append(Query(strategy, outcome.query.attempt + 1))
            else:
                self._known[strategy] = outcome
            return
        self._evaluations += 1
        self._known[strategy] = outcome
        if self._first_hit is None and self.thresholds.is_hit(outcome):
            self._first_hit = self._evaluations
