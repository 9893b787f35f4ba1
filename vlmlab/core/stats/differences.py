"""The difference of two shares that were measured on the same items: its interval, and what it takes."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from math import sqrt

from vlmlab.core.checks import check_count, check_share
from vlmlab.core.stats.intervals import normal_quantile
from vlmlab.core.stats.paired import mcnemar_exact

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
    check_count("pairs", pairs, low=1)
    differing = first_only + second_only
    if min(first_only, second_only) < 0.0 or differing > 1.0 + 1e-12:
        raise ValueError(f"shares must be at least 0 and sum to at most 1, got {first_only}, {second_only}")
    if differing == 0.0:
        return 0.0
    total = 0.0
    for count, chance in enumerate(_binomial(pairs, min(1.0, differing))):
        most = _most_fewer(count, level)
        if chance > 0.0 and most >= 0:
            ways = _binomial(count, first_only / differing)
            total += chance * (sum(ways[: most + 1]) + sum(ways[count - most :]))
    return min(1.0, total)


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
    check_count("pairs", pairs, low=1)
    check_share("margin", margin)
    differing = first_only + second_only
    if min(first_only, second_only) < 0.0 or differing > 1.0 + 1e-12:
        raise ValueError(f"shares must be at least 0 and sum to at most 1, got {first_only}, {second_only}")
    z = normal_quantile(1.0 - check_share("level", level))
    total = 0.0
    for count, chance in enumerate(_binomial(pairs, min(1.0, differing))):
        if chance < 1e-14:
            continue
        most = -1  # the largest number of second-only pairs that passes; the statistic falls with it
        low, high = 0, count + 1
        while low < high:
            middle = (low + high) // 2
            if _score(middle, count - middle, n=pairs, difference=margin) < -z:
                most, low = middle, middle + 1
            else:
                high = middle
        ways = _binomial(count, second_only / differing if differing else 0.0)
        total += chance * sum(ways[: most + 1])
    return min(1.0, total)


@cache
def _most_fewer(total: int, level: float) -> int:
    """Return the largest min(b, c) with which ``total`` differing pairs are significant; -1 for none."""
    most = -1
    for fewer in range(total // 2 + 1):
        if 2 * fewer == total or mcnemar_exact(fewer, total - fewer) > level:
            break
        most = fewer
    return most


def _binomial(n: int, share: float) -> list[float]:
    """Return the probabilities of 0..n successes, by the recursion of neighbours from the mode."""
    if share <= 0.0:
        return [1.0] + [0.0] * n
    if share >= 1.0:
        return [0.0] * n + [1.0]
    mode = min(n, int((n + 1) * share))
    weights = [0.0] * (n + 1)
    weights[mode] = 1.0
    odds = share / (1.0 - share)
    for k in range(mode, n):
        weights[k + 1] = weights[k] * (n - k) / (k + 1) * odds
    for k in range(mode, 0, -1):
        weights[k - 1] = weights[k] * k / (n - k + 1) / odds
    total = sum(weights)
    return [weight / total for weight in weights]


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
