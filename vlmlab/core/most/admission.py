"""What may be asked: severities on a grid, and strategies weakened until they change little enough."""

from collections.abc import Mapping

import numpy as np

from vlmlab.core.most.types import (
    Fidelity,
    FidelityOf,
    FloatArray,
    SearchTarget,
    Strategy,
    StrategySpace,
    Thresholds,
)

STEPS = 1e6  # severities are multiples of a millionth
MAX_PROBES = 5  # fidelities measured to weaken one strategy
GRID = 64  # shares are multiples of 1/64: a distance that differs in its last digits asks the same
NEAR_ENOUGH = 3  # of these, by which the weakened strategy may fall short of the largest


class FidelityMemory:
    """Fidelities of strategies, each measured once.

    Args:
        measure: the measurement, a pure function.
        known: fidelities that are stored already, so that a replay measures nothing again.
    """

    def __init__(self, measure: FidelityOf, *, known: Mapping[Strategy, Fidelity] | None = None) -> None:
        self._measure = measure
        self._known: dict[Strategy, Fidelity] = dict(known or {})
        self._measured = 0

    def __call__(self, strategy: Strategy) -> Fidelity:
        """Return the fidelity of a strategy."""
        found = self._known.get(strategy)
        if found is None:
            found = self._known[strategy] = self._measure(strategy)
            self._measured += 1
        return found

    @property
    def known(self) -> Mapping[Strategy, Fidelity]:
        """Everything known so far, in the order it became known."""
        return self._known

    @property
    def measured(self) -> int:
        """How many strategies were measured here."""
        return self._measured


def allowed(rows: FloatArray, space: StrategySpace) -> FloatArray:
    """Return strategies that a space allows, with severities cut to six decimals.

    What arithmetic leaves in the last digits differs between processors; a search that is replayed on another
    machine must ask the same.

    Args:
        rows: ``(m, n)``, any numbers.
        space: repairs them.

    Returns:
        ``(m, n)``; a row that was returned before comes back bit by bit.
    """
    cut = np.floor(space.repair(rows) * STEPS + 1e-3) / STEPS
    return space.repair(cut)


def as_strategy(row: FloatArray) -> Strategy:
    """Return one row of severities, ``(n,)``, as a strategy; negative zeros become zeros."""
    return tuple(float(severity) + 0.0 for severity in row)


def allowed_strategy(row: FloatArray, space: StrategySpace) -> Strategy:
    """Return one row of any numbers, ``(n,)``, as a strategy that a space allows."""
    return as_strategy(allowed(row[None, :], space)[0])


def largest_admissible(row: FloatArray, *, target: SearchTarget, thresholds: Thresholds) -> Strategy:
    """Return a strategy, or the strongest on its ray towards no perturbation that changes little enough.

    Each probe goes where a straight line between what is known says that the thresholds are met, at least
    a tenth inside the bracket; after a probe that was still too far, no higher than half way.

    Args:
        row: ``(n,)`` severities that are allowed.
        target: repairs what lies on the ray, and measures it.
        thresholds: what is close enough.

    Returns:
        A strategy within the thresholds; no perturbation at all where no probe met one.
    """
    strategy = as_strategy(row)
    measured = target.fidelity(strategy)
    if thresholds.admits(measured):
        return strategy
    best = as_strategy(np.zeros_like(row))
    low, low_excess, high, high_excess = 0, 0.0, GRID, _excess(measured, thresholds)
    highest = 0.9
    for _ in range(MAX_PROBES):
        inside = (1.0 - low_excess) / (high_excess - low_excess) if np.isfinite(high_excess) else 0.5
        place = low + (high - low) * min(highest, max(0.1, inside))
        share = min(high - 1, max(low + 1, round(place)))
        weaker = allowed_strategy(share / GRID * row, target.space)
        measured = target.fidelity(weaker)
        if thresholds.admits(measured):
            low, low_excess, best, highest = share, _excess(measured, thresholds), weaker, 0.9
        else:
            high, high_excess, highest = share, _excess(measured, thresholds), 0.5
        if high - low <= NEAR_ENOUGH:
            break
    return best


def _excess(fidelity: Fidelity, thresholds: Thresholds) -> float:
    """Return the larger distance in thresholds: 1 is just admissible, infinite where the truth is lost."""
    if not fidelity.is_admissible:
        return float("inf")
    return max(
        fidelity.image_distance / thresholds.image_distance,
        fidelity.prompt_distance / thresholds.prompt_distance,
    )
