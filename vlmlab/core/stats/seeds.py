"""Numbers of repeated runs: the mean over run seeds with its interval, and paired differences."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from vlmlab.core.checks import check_share


@dataclass(frozen=True)
class SeedMean:
    """A mean over runs that differ in their seed alone.

    Attributes:
        n: runs with a value.
        sd: sample standard deviation; None below two runs.
        low, high: Student's interval of the mean; None below two runs, where nothing says how far seeds lie
            apart.
    """

    mean: float
    n: int
    sd: float | None
    low: float | None
    high: float | None
    level: float


@dataclass(frozen=True)
class PairedMean:
    """Mean of paired differences with Student's interval and the two-sided p-value of "no difference".

    ``p_value`` is None where it cannot be told: below two pairs, or where all pairs differ by exactly the
    same, so that nothing says how far chance reaches.
    """

    mean: float
    n: int
    low: float | None
    high: float | None
    p_value: float | None


def seed_mean(
    values: Sequence[float], level: float = 0.95, *, least: float | None = None, most: float | None = None
) -> SeedMean | None:
    """Return the mean of values with Student's interval (Student 1908), None for no values.

    Args:
        values: one a run.
        level: share of such intervals that cover the mean, if the values are about normal.
        least: where the interval is cut below, such as 0.
        most: where it is cut above, such as 1 for shares.

    Raises:
        ValueError: the level is out of range.
    """
    check_share("level", level)
    if not values:
        return None
    mean, sd = _mean(values), _deviation(values)
    if sd is None:
        return SeedMean(mean, len(values), None, None, None, level)
    half = _student_quantile((1.0 + level) / 2.0, len(values) - 1) * sd / sqrt(len(values))
    low, high = mean - half, mean + half
    low = low if least is None else max(least, low)
    high = high if most is None else min(most, high)
    return SeedMean(mean, len(values), sd, low, high, level)


def paired_mean(differences: Sequence[float], level: float = 0.95) -> PairedMean | None:
    """Return the mean of paired differences with interval and p-value (paired t-test), None for no pairs.

    ``scipy.stats.ttest_rel`` gives the same numbers where the differences are not all alike.

    Raises:
        ValueError: the level is out of range.
    """
    found = seed_mean(differences, level)
    if found is None:
        return None
    if found.sd is None:
        return PairedMean(found.mean, found.n, None, None, None)
    if found.sd <= 1e-12 * max(1.0, abs(found.mean)):
        return PairedMean(found.mean, found.n, found.mean, found.mean, 1.0 if found.mean == 0.0 else None)
    statistic = abs(found.mean) / (found.sd / sqrt(found.n))
    return PairedMean(found.mean, found.n, found.low, found.high, _two_sided(statistic, found.n - 1))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _deviation(values: Sequence[float]) -> float | None:
    if len(values) < 2:
        return None
    mean = _mean(values)
    return sqrt(sum((one - mean) ** 2 for one in values) / (len(values) - 1))


def _student_quantile(share: float, freedom: int) -> float:
    from scipy.special import stdtrit  # imported late: it costs a web process time and memory

    return float(stdtrit(freedom, share))


def _two_sided(statistic: float, freedom: int) -> float:
    from scipy.special import stdtr  # imported late, as above

    return float(2.0 * stdtr(freedom, -statistic))
