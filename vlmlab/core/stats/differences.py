"""The difference of two shares that were measured on the same items: its interval, and what it takes."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from vlmlab.core.checks import check_count, check_share
from vlmlab.core.stats.intervals import normal_quantile
from vlmlab.core.stats.paired import mcnemar_exact

FloatArray = npt.NDArray[np.float64]
CountArray = npt.NDArray[np.int64]
_BISECTIONS = 60  # halvings of an interval of length 2: well below the last digit of a float


@dataclass(frozen=True)
class PairedCounts:
    """Items by what happened under two conditions.

    Attributes:
        both: it happened under both.
        first_only: under the first alone (McNemar's b).
        second_only: under the second alone (McNemar's c).
        neither: under none.
    """

    both: int
    first_only: int
    second_only: int
    neither: int

    @property
    def n(self) -> int:
        """Pairs."""
        return self.both + self.first_only + self.second_only + self.neither

    @property
    def differing(self) -> int:
        """Pairs in which the conditions differ."""
        return self.first_only + self.second_only

    @property
    def first(self) -> int:
        """How often it happened under the first condition."""
        return self.both + self.first_only

    @property
    def second(self) -> int:
        """How often it happened under the second condition."""
        return self.both + self.second_only

    @property
    def difference(self) -> float:
        """Share under the first minus share under the second; 0 without pairs."""
        return (self.first_only - self.second_only) / self.n if self.n else 0.0

    @property
    def p_value(self) -> float:
        """Of the exact McNemar test, two-sided."""
        return mcnemar_exact(self.first_only, self.second_only)


@dataclass(frozen=True)
class DifferenceInterval:
    """A confidence interval for a difference of two shares; both ends in [-1, 1]."""

    low: float
    high: float
    level: float

    def is_inside(self, margin: float) -> bool:
        """Return whether the whole interval lies between ``-margin`` and ``margin``, ends excluded."""
        return -margin < self.low and self.high < margin


def count_pairs(pairs: Iterable[tuple[bool, bool]]) -> PairedCounts:
    """Return the counts of outcomes given as (first, second)."""
    cells = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
    for first, second in pairs:
        cells[bool(first), bool(second)] += 1
    return PairedCounts(cells[True, True], cells[True, False], cells[False, True], cells[False, False])


def paired_difference(counts: PairedCounts, level: float = 0.95) -> DifferenceInterval:
    """Return the score interval of a difference of paired shares (Tango 1998, Statistics in Medicine 17).

    It holds the differences that the score test does not reject at ``1 - level``; at the difference 0 that
    test is McNemar's without continuity correction. It needs no correction where no pair differs: 0 of n
    gives ``z^2 / (n + z^2)`` on either side. (-1, 1) without pairs.

    Args:
        counts: the pairs; the interval is of the first share minus the second.
        level: share of such intervals that cover the difference, about.

    Raises:
        ValueError: a count is negative or the level out of range.
    """
    check_share("level", level)
    n = _checked(counts)
    if n == 0:
        return DifferenceInterval(-1.0, 1.0, level)
    z = normal_quantile(1.0 - (1.0 - level) / 2.0)
    b, c = counts.first_only, counts.second_only
    return DifferenceInterval(-_upper_end(c, b, n=n, z=z), _upper_end(b, c, n=n, z=z), level)


def difference_below(counts: PairedCounts, level: float = 0.95) -> float:
    """Return the one-sided upper bound of the difference of paired shares, by the score test as above.

    Raises:
        ValueError: a count is negative or the level out of range.
    """
    check_share("level", level)
    n = _checked(counts)
    if n == 0:
        return 1.0
    return _upper_end(counts.first_only, counts.second_only, n=n, z=normal_quantile(level))


def most_discordance_for_margin(pairs: int, margin: float, *, level: float = 0.95) -> int:
    """Return how many pairs may differ, half each way, and still show no difference; -1 for none.

    Args:
        pairs: pairs asked.
        margin: half the width of what counts as no difference.
        level: of the two-sided interval.
    """
    found = -1
    for differing in range(pairs + 1):
        first, second = (differing + 1) // 2, differing // 2
        counts = PairedCounts(0, first, second, pairs - differing)
        if not paired_difference(counts, level).is_inside(margin):
            return found
        found = differing
    return found


def mcnemar_power(pairs: int, *, first_only: float, second_only: float, level: float = 0.05) -> float:
    """Return the chance that the exact McNemar test of n pairs is significant.

    Summed over all outcomes: the number of differing pairs is binomial, and given it so is the number of
    those that go the first way.

    Args:
        pairs: pairs asked.
        first_only: true share of pairs with the first condition alone.
        second_only: true share of pairs with the second alone; the two sum to at most 1.
        level: p-values up to it are significant.

    Raises:
        ValueError: a share is out of range.
    """
    from scipy.special import bdtr, bdtrc  # imported late: it costs a web process time and memory

    differing, chances = _differing(pairs, first_only, second_only)
    if differing == 0.0:
        return 0.0
    counts = np.arange(pairs + 1, dtype=np.int64)
    most = _most_fewer(counts, check_share("level", level))
    first = first_only / differing
    is_possible = most >= 0
    tails = np.zeros(pairs + 1)
    tails[is_possible] = bdtr(most[is_possible], counts[is_possible], first)
    tails[is_possible] += bdtrc((counts - most - 1)[is_possible], counts[is_possible], first)
    return min(1.0, float((chances * tails).sum()))


def pass_power(
    pairs: int, *, first_only: float, second_only: float, margin: float, level: float = 0.05
) -> float:
    """Return the chance that the second share is shown to be less than a margin above the first.

    Summed over all outcomes of the score test of ``difference_below``.

    Args:
        pairs: pairs asked.
        first_only: true share of pairs with the first condition alone.
        second_only: true share of pairs with the second alone; the two sum to at most 1.
        margin: of non-inferiority, in (0, 1).
        level: one-sided.

    Raises:
        ValueError: a share is out of range.
    """
    from scipy.special import bdtr  # imported late: it costs a web process time and memory

    check_share("margin", margin)
    differing, chances = _differing(pairs, first_only, second_only)
    z = normal_quantile(1.0 - check_share("level", level))
    total = 0.0
    for count in np.flatnonzero(chances > 1e-14).tolist():
        # The statistic rises with the pairs that differ the second way: find the most that still pass.
        low, high = 0, count + 1
        while low < high:
            middle = (low + high) // 2
            if _score(middle, count - middle, n=pairs, difference=margin) < -z:
                low = middle + 1
            else:
                high = middle
        if low:
            share = second_only / differing if differing else 0.0
            total += float(chances[count]) * float(bdtr(low - 1, count, share))
    return min(1.0, total)


def _differing(pairs: int, first_only: float, second_only: float) -> tuple[float, FloatArray]:
    """Return the share of differing pairs and the chances of 0..n of them."""
    from scipy.special import bdtr

    check_count("pairs", pairs, low=1)
    differing = first_only + second_only
    if min(first_only, second_only) < 0.0 or differing > 1.0 + 1e-12:
        raise ValueError(f"shares must be at least 0 and sum to at most 1, got {first_only}, {second_only}")
    below = bdtr(np.arange(pairs + 1), pairs, min(1.0, differing))
    return differing, np.diff(below, prepend=0.0)


def _most_fewer(totals: CountArray, level: float) -> CountArray:
    """Return for each number of differing pairs the largest min(b, c) that is significant; -1 for none."""
    from scipy.special import bdtr

    low, high = np.full_like(totals, -1), (totals + 1) // 2  # half of them is never significant
    while bool((high - low > 1).any()):
        middle = (low + high) // 2
        is_met = (middle >= 0) & (2.0 * bdtr(np.maximum(middle, 0), totals, 0.5) <= level * (1 + 1e-12))
        is_open = high - low > 1
        low = np.where(is_open & is_met, middle, low)
        high = np.where(is_open & ~is_met, middle, high)
    return low


def _upper_end(b: int, c: int, *, n: int, z: float) -> float:
    """Return the largest difference that the score test does not reject, by bisection."""
    low, high = (b - c) / n, 1.0
    if _score(b, c, n=n, difference=high) > -z:
        return 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2.0
        if _score(b, c, n=n, difference=middle) > -z:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0


def _score(b: int, c: int, *, n: int, difference: float) -> float:
    """Return Tango's score statistic of a difference; the nuisance share is the constrained estimate."""
    first = 2.0 * n
    second = -b - c + (2.0 * n - b + c) * difference
    third = -c * difference * (1.0 - difference)
    nuisance = (sqrt(max(0.0, second * second - 4.0 * first * third)) - second) / (2.0 * first)
    variance = n * (2.0 * nuisance + difference * (1.0 - difference))
    distance = b - c - n * difference
    if variance <= 1e-12:
        return 0.0 if abs(distance) < 1e-9 else float("inf") if distance > 0 else float("-inf")
    return distance / sqrt(variance)


def _checked(counts: PairedCounts) -> int:
    for name in ("both", "first_only", "second_only", "neither"):
        check_count(name, getattr(counts, name))
    return counts.n
