"""sweep: each operator alone at evenly spaced severities, for curves of the response to severity."""

from collections import deque
from collections.abc import Iterator, Sequence

import numpy as np

from vlmlab.core.most.admission import allowed, as_strategy
from vlmlab.core.most.config import MostConfig
from vlmlab.core.most.strategy_search import StrategySearch
from vlmlab.core.most.types import SearchTarget, Strategy


class SweepSearch(StrategySearch):
    """No search but a measurement: the same steps for every seed image, whatever is answered.

    An operator goes up to the budget and to its cap, in ``config.sweep_levels`` steps of one size. The lowest
    step of all operators comes first, so that a small inference budget leaves shorter curves rather than
    fewer. It never stops at a failure and never gives up, and a step that changes the input too much is asked
    as it is: the fidelity of the answer says so.
    """

    def __init__(self, config: MostConfig, *, target: SearchTarget, run_seed: int) -> None:
        super().__init__(config, target=target, run_seed=run_seed)
        self._steps = deque(self._all_steps())
        self._level = 1

    @property
    def stage(self) -> str:
        """The step that is being asked, from 1."""
        return f"level {self._level} of {self.config.sweep_levels}"

    @property
    def _gives_up(self) -> bool:
        return False

    def _is_satisfied(self) -> bool:
        return False

    def _propose(self, room: int) -> Sequence[Strategy]:
        """Return the next steps of one level: a batch belongs to one stage."""
        fresh: list[Strategy] = []
        while self._steps and len(fresh) < room:
            level, strategy = self._steps[0]
            if fresh and level != self._level:
                break
            self._level = level
            fresh.append(strategy)
            self._steps.popleft()
        return fresh

    def _all_steps(self) -> Iterator[tuple[int, Strategy]]:
        """Yield level and strategy; steps too small to count, and those that repeat another, are left out."""
        space, levels = self.target.space, self.config.sweep_levels
        alone = np.eye(len(space.operators))
        tops = allowed(min(1.0, self.config.perturbation_budget) * alone, space)
        seen: set[Strategy] = set()
        for level in range(1, levels + 1):
            for row in allowed(level / levels * tops, space):
                strategy = as_strategy(row)
                if any(strategy) and strategy not in seen:
                    seen.add(strategy)
                    yield level, strategy
