"""Random strategies: the yardstick every other search must beat."""

from collections.abc import Sequence

import numpy as np

from vlmlab.core.most.admission import as_strategy
from vlmlab.core.most.config import MostConfig
from vlmlab.core.most.strategy_search import StrategySearch
from vlmlab.core.most.types import FloatArray, SearchTarget, Strategy
from vlmlab.core.seeding import rng_for

MAX_DRAWS = 200  # draws in vain after which every strategy counts as asked


def spread_budget(
    operators: Sequence[int], *, count: int, budget: float, rng: np.random.Generator
) -> FloatArray:
    """Return ``(count,)`` severities that share a budget among operators at random, all splits as likely."""
    row = np.zeros(count)
    row[list(operators)] = budget * rng.dirichlet(np.ones(len(operators)))
    return row


class RandomSearch(StrategySearch):
    """Draws how many operators, which, how much of the budget, and how they share it, each uniformly."""

    def __init__(self, config: MostConfig, *, target: SearchTarget, run_seed: int) -> None:
        super().__init__(config, target=target, run_seed=run_seed)
        self._rng = rng_for(run_seed, "most", "random")

    @property
    def stage(self) -> str:
        """Always the same: this search learns nothing."""
        return "random"

    def _propose(self, room: int) -> Sequence[Strategy]:
        nothing = as_strategy(np.zeros(len(self.target.space.operators)))
        fresh: dict[Strategy, None] = {}
        for _ in range(MAX_DRAWS):
            if len(fresh) == room:
                break
            strategy = self._admit(self._draw()[None, :])[0]
            if strategy != nothing and strategy not in self._asked:
                fresh[strategy] = None
        return list(fresh)

    def _draw(self) -> FloatArray:
        count = len(self.target.space.operators)
        size = int(self._rng.integers(1, min(self.config.most_operators, count) + 1))
        chosen = self._rng.choice(count, size=size, replace=False)
        budget = self.config.perturbation_budget * float(self._rng.random())
        return spread_budget(list(chosen), count=count, budget=budget, rng=self._rng)
