"""Do two concepts together make a system fail more than each alone? Lift as published, and an odds ratio."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np
import numpy.typing as npt

from vlmlab.core.stats import normal_quantile
from vlmlab.core.verdicts.concept_rates import MeasuredSet, Pair, mean_rate, sets_with_pairs
from vlmlab.core.verdicts.lift import no_effect_lift, published_base, published_lift
from vlmlab.core.verdicts.regimes import MeanRate

Cell = tuple[bool, bool]
"""Whether a set has the first concept, and the second."""
Counts = npt.NDArray[np.float64]

SIGNS: Mapping[Cell, float] = {
    (True, True): 1.0,
    (True, False): -1.0,
    (False, True): -1.0,
    (False, False): 1.0,
}
CORRECTION = 0.5
"""Added to fails and passes of every cell (Haldane 1956, Anscombe 1956)."""


@dataclass(frozen=True)
class LogOdds:
    """An interaction on the scale of log odds; 0 is none, above 0 the two reinforce each other.

    Attributes:
        value: logit f(both) - logit f(first) - logit f(second) + logit f(neither).
        low, high: interval of ``value``.
        design_effect: how much more sets of one cell differ than chance lets them, at least 1; the variance
            is multiplied by it.
    """

    value: float
    low: float
    high: float
    level: float
    design_effect: float

    @property
    def ratio(self) -> float:
        """The ratio of odds ratios."""
        return exp(self.value)

    @property
    def direction(self) -> str:
        """``synergy`` or ``interference`` where the interval leaves 0 out, else ``undetermined``."""
        return "synergy" if self.low > 0 else "interference" if self.high < 0 else "undetermined"


@dataclass(frozen=True)
class PairEffect:
    """Two concepts with their joint failure rate and two measures of their interaction.

    Attributes:
        both: sets with both; ``first``, ``second``: F of each concept, over all sets that contain it.
        base: F(a) + F(b) - F(a) F(b), the rate of two independent causes (Revelio, Tables 15 and 16).
        lift: F(a, b) - base, as published.
        no_effect: the lift of a pair that changes nothing: f^2 - f with f the mean rate of all sets. It is
            -0.16 at f = 0.2, so a negative lift alone is no interference.
        interaction: None where a cell holds no set.
    """

    pair: Pair
    both: MeanRate
    first: MeanRate
    second: MeanRate
    base: float
    lift: float
    no_effect: float
    interaction: LogOdds | None


def log_odds_interaction(
    cells: Mapping[tuple[bool, bool], Sequence[MeasuredSet]],
    *,
    level: float = 0.95,
    correction: float = CORRECTION,
) -> LogOdds | None:
    """Return the interaction of two concepts from sets with neither, one, the other, and both.

    The saturated logistic model of four cells; its variance is multiplied by Pearson's dispersion of the sets
    inside the cells where that is above 1 (McCullagh and Nelder 1989, section 4.5).

    Args:
        cells: (has the first, has the second) -> sets.
        level: of the interval.
        correction: added to fails and passes of every cell.

    Returns:
        None where a cell holds no set.
    """
    counted = {cell: _counts(cells.get(cell, ())) for cell in SIGNS}
    return _interaction(counted, level=level, correction=correction)


def _interaction(cells: Mapping[Cell, Counts], *, level: float, correction: float) -> LogOdds | None:
    if not all(cells[cell].shape[1] for cell in SIGNS):
        return None
    value = variance = 0.0
    for cell, sign in SIGNS.items():
        fails, samples = (float(total) for total in cells[cell].sum(axis=1))
        fails, passes = fails + correction, samples - fails + correction
        value += sign * log(fails / passes)
        variance += 1.0 / fails + 1.0 / passes
    effect = max(1.0, _dispersion([cells[cell] for cell in SIGNS]))
    half = normal_quantile((1.0 + level) / 2.0) * sqrt(variance * effect)
    return LogOdds(value, value - half, value + half, level, effect)


def pair_effects(
    sets: Sequence[MeasuredSet], *, least_sets: int, level: float = 0.95
) -> tuple[PairEffect, ...]:
    """Return every pair that at least ``least_sets`` sets contain, the largest lift first.

    Args:
        sets: all measured sets.
        least_sets: sets with both concepts below which nothing is said.
        level: of the intervals of interactions.
    """
    overall = mean_rate(sets).value
    if overall is None:
        return ()
    shown = {pair: having for pair, having in sets_with_pairs(sets).items() if len(having) >= least_sets}
    alone = {
        concept: mean_rate([one for one in sets if concept in one.key])
        for concept in sorted({concept for pair in shown for concept in pair})
    }
    counts = _counts(sets)
    holds = {concept: np.array([concept in one.key for one in sets], dtype=np.bool_) for concept in alone}
    rows = []
    for (first, second), having in sorted(shown.items()):
        both, one, other = mean_rate(having), alone[first], alone[second]
        alone_rates = (one.value or 0.0, other.value or 0.0)
        rows.append(
            PairEffect(
                (first, second),
                both,
                one,
                other,
                published_base(*alone_rates),
                published_lift(both.value or 0.0, *alone_rates),
                no_effect_lift(overall),
                _interaction(_cells(counts, holds[first], holds[second]), level=level, correction=CORRECTION),
            )
        )
    return tuple(sorted(rows, key=lambda row: (-row.lift, row.pair)))


def _counts(sets: Sequence[MeasuredSet]) -> Counts:
    """Return the fails and the samples of sets: ``(2, n)``."""
    rows = [[one.fails for one in sets], [one.samples for one in sets]]
    return np.array(rows, dtype=np.float64)


def _cells(counts: Counts, first: npt.NDArray[np.bool_], second: npt.NDArray[np.bool_]) -> dict[Cell, Counts]:
    return {cell: counts[:, (first == cell[0]) & (second == cell[1])] for cell in SIGNS}


def _dispersion(cells: Sequence[Counts]) -> float:
    """Return Pearson's statistic of the sets inside their cells over its freedom; 1 without any."""
    statistic, freedom = 0.0, 0
    for fails, samples in cells:
        rate = float(fails.sum() / samples.sum())
        freedom += len(fails) - 1
        if 0.0 < rate < 1.0:
            spread = (fails - samples * rate) ** 2 / (samples * rate * (1.0 - rate))
            statistic += float(spread.sum())
    return statistic / freedom if freedom > 0 else 1.0
