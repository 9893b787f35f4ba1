"""What single operators and combinations taught: a linear model, and draws from what it may still be."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vlmlab.core.most.types import FloatArray

CANDIDATES = 256  # combinations compared in one draw
KEPT = 4  # of them, in case that the best were asked before
NOISE = 0.08  # standard deviation of the damage around the model
ALONE_SPREAD, TOGETHER_SPREAD = 1.0, 0.7  # standard deviations of weights before any answer


@dataclass(frozen=True)
class Reach:
    """How far each operator can go alone; ``(n,)`` each.

    Attributes:
        severities: the largest admissible severity, 0 where there is none.
        image_shares: f2 there, in thresholds.
        prompt_shares: f3 there, in thresholds.
    """

    severities: FloatArray
    image_shares: FloatArray
    prompt_shares: FloatArray

    def within(self, rows: FloatArray) -> FloatArray:
        """Return rows ``(m, n)``, those expected to change too much weakened along their rays.

        Image distances are taken to add like independent errors, prompt distances to add up.
        """
        parts = np.divide(rows, self.severities, out=np.zeros_like(rows), where=self.severities > 0.0)
        image = np.sqrt(((parts * self.image_shares) ** 2).sum(axis=1))
        prompt = (parts * self.prompt_shares).sum(axis=1)
        weakened: FloatArray = rows / np.maximum(1.0, np.maximum(image, prompt))[:, None]
        return weakened


class DamageModel:
    """Bayesian linear regression of the damage on severities and on products of the strongest operators.

    Args:
        strongest: indexes of the operators whose products count.
    """

    def __init__(self, strongest: Sequence[int]) -> None:
        chosen = np.array(sorted(strongest), dtype=np.int64)
        rows, columns = np.triu_indices(len(chosen), k=1)
        self._first, self._second = chosen[rows], chosen[columns]
        self._mean: FloatArray = np.zeros(0)
        self._factor: FloatArray = np.zeros((0, 0))

    def features(self, rows: FloatArray) -> FloatArray:
        """Return ``(m, n + pairs)``: severities, and geometric means of pairs, both in severities."""
        products = np.sqrt(rows[:, self._first] * rows[:, self._second])
        return np.concatenate([rows, products], axis=1)

    def fit(self, rows: FloatArray, damages: FloatArray) -> "DamageModel":
        """Learn from strategies ``(m, n)`` and the damage ``(m,)`` that each did; returns itself."""
        features = self.features(rows)
        spread = np.full(features.shape[1], ALONE_SPREAD)
        spread[rows.shape[1] :] = TOGETHER_SPREAD
        precision = features.T @ features / NOISE**2 + np.diag(spread**-2.0)
        self._factor = np.linalg.cholesky(precision).astype(np.float64)
        self._mean = np.linalg.solve(precision, features.T @ damages / NOISE**2).astype(np.float64)
        return self

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Return one set of weights that may be the true one, ``(n + pairs,)``."""
        drawn: FloatArray = self._mean + np.linalg.solve(self._factor.T, rng.standard_normal(len(self._mean)))
        return drawn


class Combiner:
    """Proposes combinations of operators.

    Args:
        reach: how far each operator may go.
        model: what is known of their effects.
        most_operators: operators in the largest combination.
        budget: sum of the severities.
    """

    def __init__(self, reach: Reach, *, model: DamageModel, most_operators: int, budget: float) -> None:
        self._reach = reach
        self._model = model
        self._usable = np.flatnonzero(reach.severities > 0.0)
        self._most_operators = min(most_operators, len(self._usable))
        self._budget = budget

    def best_of_a_draw(self, rng: np.random.Generator) -> FloatArray:
        """Return the combinations that do most if one draw of the weights is true, ``(m, n)``, best first."""
        weights = self._model.draw(rng)
        rows = self._candidates(weights[: len(self._reach.severities)], rng)
        scores = self._model.features(rows) @ weights
        return rows[np.argsort(-scores, kind="stable")[:KEPT]]

    def _candidates(self, weights: FloatArray, rng: np.random.Generator) -> FloatArray:
        odds = _odds(weights[self._usable] * self._reach.severities[self._usable])
        # the largest of log odds plus Gumbel noise are draws without replacement
        luck = np.log(odds) + rng.gumbel(size=(CANDIDATES, len(odds)))
        places = np.argsort(np.argsort(-luck, axis=1), axis=1)
        sizes = rng.integers(1, self._most_operators + 1, size=(CANDIDATES, 1))
        parts = rng.exponential(size=luck.shape) * (places < sizes)
        rows = np.zeros((CANDIDATES, len(weights)))
        rows[:, self._usable] = self._budget * parts / parts.sum(axis=1, keepdims=True)
        rows = np.minimum(rows, self._reach.severities)
        # single operators were asked at their largest; half of the others need not use the whole budget
        spent = np.where(sizes == 1, 1.0, 2.0) * rng.random((CANDIDATES, 1))
        return self._reach.within(rows * np.minimum(1.0, spent))


def _odds(effects: FloatArray) -> npt.NDArray[np.float64]:
    """Return probabilities: half even, half by how large the effect is among the others."""
    ranks = np.argsort(np.argsort(-effects, kind="stable"), kind="stable")
    liked = 0.7**ranks
    odds: FloatArray = 0.5 / len(effects) + 0.5 * liked / liked.sum()
    return odds
