"""Intervals for shares and means, each exact or with its source named."""

from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vlmlab.core.checks import check_count, check_share


@dataclass(frozen=True)
class Interval:
    """A confidence interval for a share; ``low`` and ``high`` in [0, 1]."""

    low: float
    high: float
    level: float


class Bounds(NamedTuple):
    """Two ends of an interval for a share, as a pair."""

    low: float
    high: float


def clopper_pearson(successes: int, total: int, level: float = 0.95) -> Interval:
    """Return the exact two-sided binomial interval (Clopper and Pearson 1934).

    Never covers less than ``level``; (0, 1) when ``total`` is 0.

    Raises:
        ValueError: the counts or the level are out of range.
    """
    _check_counts(successes, total, level)
    tail = (1.0 - level) / 2.0
    low = 0.0 if successes == 0 else _beta_quantile(tail, successes, total - successes + 1)
    high = 1.0 if successes == total else _beta_quantile(1.0 - tail, successes + 1, total - successes)
    return Interval(low, high, level)


def wilson(successes: int, total: int, level: float = 0.95) -> Interval:
    """Return the score interval (Wilson 1927): covers about ``level``, shorter than the exact one.

    (0, 1) when ``total`` is 0.

    Raises:
        ValueError: the counts or the level are out of range.
    """
    _check_counts(successes, total, level)
    if total == 0:
        return Interval(0.0, 1.0, level)
    return _score_interval(successes / total, total, level)


def score_interval_of_mean(mean: float, n: int, level: float = 0.95) -> Interval:
    """Return the score interval of the mean of n independent values in [0, 1].

    It is Wilson's with ``mean`` as the share: among values in [0, 1] with that mean, those that are 0 or 1
    vary most, so for others the interval is too wide rather than too narrow. (0, 1) when ``n`` is 0.

    Raises:
        ValueError: mean, n or the level are out of range.
    """
    if not 0.0 <= mean <= 1.0:
        raise ValueError(f"mean must lie in [0, 1], got {mean}")
    check_count("n", n)
    check_share("level", level)
    return _score_interval(mean, n, level) if n else Interval(0.0, 1.0, level)


def upper_bound(successes: int, total: int, level: float = 0.95) -> float:
    """Return the exact one-sided upper bound of a share; 0 of 5 gives 0.451 at 95 %, 0 of 149 less than 2 %.

    1 when ``total`` is 0.

    Raises:
        ValueError: the counts or the level are out of range.
    """
    _check_counts(successes, total, level)
    return 1.0 if successes == total else _beta_quantile(level, successes + 1, total - successes)


def _score_interval(share: float, total: int, level: float) -> Interval:
    z = normal_quantile(1.0 - (1.0 - level) / 2.0)
    centre = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z * sqrt(share * (1 - share) / total + z * z / (4 * total * total)) / (1 + z * z / total)
    low = 0.0 if share == 0.0 else max(0.0, centre - half)
    high = 1.0 if share == 1.0 else min(1.0, centre + half)
    return Interval(low, high, level)


def wilson_interval(k: int, n: int, confidence: float = 0.95) -> Bounds:
    """Return the score interval of ``k`` of ``n`` (Wilson 1927) as a pair; (0, 1) when ``n`` is 0.

    Raises:
        ValueError: the counts or the confidence are out of range.
    """
    interval = wilson(k, n, confidence)
    return Bounds(interval.low, interval.high)


def lower_bound(successes: int, total: int, level: float = 0.95) -> float:
    """Return the exact one-sided lower bound of a share; 5 of 5 gives 0.549 at 95 %.

    Raises:
        ValueError: the counts or the level are out of range.
    """
    _check_counts(successes, total, level)
    if successes == 0:
        return 0.0
    return _beta_quantile(1.0 - level, successes, total - successes + 1)


def bootstrap_interval(
    values: npt.ArrayLike, level: float = 0.95, *, rng: np.random.Generator, draws: int = 2000
) -> Interval:
    """Return the percentile bootstrap interval of a mean.

    Args:
        values: ``(n,)``, n >= 1, such as one number a seed.
        level: share of draws inside.
        rng: source of the draws.
        draws: resamples.

    Raises:
        ValueError: ``values`` is empty or the level out of range.
    """
    array = np.asarray(values, dtype=np.float64)
    check_share("level", level)
    if array.ndim != 1 or len(array) == 0:
        raise ValueError(f"values must be a non-empty list of numbers, got shape {array.shape}")
    means = array[rng.integers(len(array), size=(draws, len(array)))].mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), level)


def mean_interval(mean: float, sd: float, n: int, level: float = 0.95) -> Interval:
    """Return Student's interval for the mean of n shares, cut at 0 and 1; (0, 1) below two.

    Args:
        mean: of the values, in [0, 1].
        sd: standard deviation of the sample, over n - 1.
        n: values.
        level: share of such intervals that cover the mean.

    Raises:
        ValueError: a value is out of range.
    """
    if not 0.0 <= mean <= 1.0:
        raise ValueError(f"mean must lie in [0, 1], got {mean}")
    check_share("level", level)
    check_count("n", n)
    if not sd >= 0.0:
        raise ValueError(f"sd must be at least 0, got {sd}")
    if n < 2:
        return Interval(0.0, 1.0, level)
    half = _student_quantile((1.0 + level) / 2.0, n - 1) * sd / sqrt(n)
    return Interval(max(0.0, mean - half), min(1.0, mean + half), level)


def normal_quantile(share: float) -> float:
    """Return z with P(Z <= z) = share for a standard normal Z.

    Raises:
        ValueError: the share is not between 0 and 1.
    """
    from statistics import NormalDist

    return NormalDist().inv_cdf(check_share("share", share))


def _student_quantile(share: float, freedom: int) -> float:
    from scipy.special import stdtrit  # imported late: it costs a web process time and memory

    return float(stdtrit(freedom, share))


def _beta_quantile(share: float, first: int, second: int) -> float:
    from scipy.special import betaincinv  # imported late: it costs a web process time and memory

    return float(betaincinv(first, second, share))


def _check_counts(successes: int, total: int, level: float) -> None:
    check_count("total", total)
    check_count("successes", successes, high=total)
    check_share("level", level)
