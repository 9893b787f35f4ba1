"""Minimal perturbation: the fewest operators and the lowest severities that still fail."""

from collections.abc import Callable, Sequence

import numpy as np

from vlmlab.core.most.admission import allowed_strategy
from vlmlab.core.most.config import MostConfig
from vlmlab.core.most.strategy_search import StrategySearch
from vlmlab.core.most.types import FloatArray, Outcome, SearchTarget, Strategy
from vlmlab.core.most.weakening import Plan, RunningPlan, along_ray, fewest_operators, lowest_severities, only


class MinimalSearch(StrategySearch):
    """Shrinks a test case: operators away, then all severities down together, then each on its own.

    Operators go twice: first for nothing, then so that the others take over what they spent: a little of
    everything often fails where no part of it does. The sum of the severities never grows. One strategy a
    batch, because each answer decides what comes next. At the end no operator can be left out, and no
    severity be lowered by more than ``2 ** -config.bisection_steps`` of itself, where failing is monotone;
    in any case the result was seen to fail.

    Args:
        config: budget, bisection steps, thresholds.
        target: what the case was found on.
        start: the test case; it fails.
        fails: what counts as failing; by default wrong boxes within the thresholds.

    Raises:
        ValueError: ``start`` does not fail.
    """

    def __init__(
        self,
        config: MostConfig,
        *,
        target: SearchTarget,
        start: Outcome,
        fails: Callable[[Outcome], bool] | None = None,
    ) -> None:
        super().__init__(config, target=target, run_seed=0)
        self._counts_as_failure = fails or self.thresholds.is_hit
        if not self._counts_as_failure(start):
            raise ValueError("start must be a test case that fails")
        self._known[start.query.strategy] = start
        self._first_hit = 0
        self._stage = "operators"
        self._plan = RunningPlan(self._steps(start.query.strategy), is_known=self._is_known)

    @property
    def stage(self) -> str:
        """operators, concentration, strength, or severities."""
        return self._stage

    @property
    def weakest(self) -> Outcome:
        """The failure with the fewest operators so far, of those the one with the least severity."""
        failures = [outcome for outcome in self._known.values() if self._counts_as_failure(outcome)]
        return min(failures, key=lambda outcome: _weight(outcome.query.strategy))

    def _is_satisfied(self) -> bool:
        return False  # the plan says when it is over

    def _fails(self, strategy: Strategy) -> bool:
        return strategy in self._known and self._counts_as_failure(self._known[strategy])

    def _propose(self, room: int) -> Sequence[Strategy]:
        wanted = self._plan.wanted()
        return [] if wanted is None or wanted in self._asked else [wanted]

    def _steps(self, start: Strategy) -> Plan:
        steps = self.config.bisection_steps
        strategy = yield from fewest_operators(start, fails=self._fails)
        self._stage = "concentration"
        strategy = yield from fewest_operators(strategy, fails=self._fails, reduced=self._concentrated)
        self._stage = "strength"
        row = np.array(strategy)
        strategy = yield from along_ray(
            lambda share: self._repaired(share * row), whole=strategy, fails=self._fails, steps=steps
        )
        self._stage = "severities"
        return (yield from lowest_severities(strategy, lowered=self._lowered, fails=self._fails, steps=steps))

    def _concentrated(self, strategy: Strategy, kept: Sequence[int]) -> Strategy:
        """Return the kept operators with the whole strategy's sum of severities, as far as is admissible."""
        rest = only(strategy, kept)
        return self._admit(sum(strategy) / sum(rest) * np.array(rest)[None, :])[0]

    def _lowered(self, strategy: Strategy, index: int, share: float) -> Strategy:
        row = np.array(strategy)
        row[index] *= share
        return self._repaired(row)

    def _repaired(self, row: FloatArray) -> Strategy:
        return allowed_strategy(row, self.target.space)


def _weight(strategy: Strategy) -> tuple[int, float]:
    return sum(severity > 0.0 for severity in strategy), sum(strategy)
