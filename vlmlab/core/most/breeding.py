"""The adapter to pymoo's NSGA-II: arrays in, arrays out; slow to import, so nothing light may import it."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.config import Config
from pymoo.core.evaluator import Evaluator
from pymoo.core.problem import Problem
from pymoo.core.repair import Repair
from pymoo.core.termination import NoTermination
from pymoo.problems.static import StaticProblem

from vlmlab.core.most.objectives import Objectives
from vlmlab.core.most.types import FloatArray


class _WrittenBack(Repair):  # type: ignore[misc]  # pymoo ships no types
    """Puts every new row back among the strategies that may be asked."""

    def __init__(self, repair: Callable[[FloatArray], FloatArray]) -> None:
        super().__init__()
        self._repair_rows = repair

    def _do(self, problem: Any, X: FloatArray, **_: Any) -> FloatArray:  # noqa: N803 - pymoo's name
        return self._repair_rows(X)


class Breeder:
    """NSGA-II with simulated binary crossover and polynomial mutation, pymoo's defaults.

    Args:
        initial: ``(m, n)`` rows of the first generation; repaired, and each kept once.
        population_size: rows that survive a generation, and children in each.
        repair: maps ``(m, n)`` rows to allowed ones; an allowed row stays as it is.
        seed: the number all randomness comes from.
    """

    def __init__(
        self,
        initial: FloatArray,
        *,
        population_size: int,
        repair: Callable[[FloatArray], FloatArray],
        seed: int,
    ) -> None:
        Config.warnings["not_compiled"] = False  # it would print to the shell
        self._problem = Problem(n_var=initial.shape[1], n_obj=len(Objectives._fields), xl=0.0, xu=1.0)
        self._algorithm = NSGA2(
            pop_size=population_size,
            sampling=initial,
            repair=_WrittenBack(repair),
            eliminate_duplicates=True,
            seed=seed,
        )
        self._algorithm.setup(self._problem, termination=NoTermination())
        self._asked: Any = None

    def ask(self) -> FloatArray:
        """Return the rows of the next generation, ``(m, n)``; none when only duplicates could be bred."""
        self._asked = self._algorithm.ask()
        if self._asked is None:
            return np.zeros((0, self._problem.n_var))
        rows: FloatArray = self._asked.get("X").astype(np.float64)
        return rows

    def tell(self, objectives: Sequence[Objectives], *, is_answered: Sequence[bool]) -> None:
        """Take what the generation last asked for brought.

        Args:
            objectives: of the rows that were answered, in their order.
            is_answered: for each row; the others leave. Of the first generation one must stay.
        """
        kept = self._asked[np.array(is_answered, dtype=np.bool_)]
        rows = np.array(objectives, dtype=np.float64).reshape(-1, len(Objectives._fields))
        values = StaticProblem(self._problem, F=rows)
        Evaluator().eval(values, kept)
        self._algorithm.tell(infills=kept)
