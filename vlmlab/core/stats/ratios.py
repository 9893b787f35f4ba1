"""The ratio of two independent means of values in [0, 1], with an interval."""

from dataclasses import dataclass
from math import inf, sqrt

from vlmlab.core.stats.intervals import Interval, score_interval_of_mean


@dataclass(frozen=True)
class RatioInterval:
    """A ratio with its interval.

    Attributes:
        value: first over second; None for 0 / 0, infinite for something over 0.
        low, high: in [0, infinity].
    """

    value: float | None
    low: float
    high: float
    level: float


def ratio_of_means(
    first: float, first_n: int, second: float, second_n: int, *, level: float = 0.95
) -> RatioInterval:
    """Return the ratio of two means with an interval recovered from those of both (Donner and Zou 2012).

    The method of variance estimates recovery for ratios (Statistical Methods in Medical Research 21), with
    the score interval of each mean: rather too wide for values that are not 0 or 1.

    Args:
        first: mean of ``first_n`` independent values in [0, 1].
        first_n: how many.
        second: mean of the others, the denominator.
        second_n: how many.
        level: share of such intervals that cover the ratio, about.

    Raises:
        ValueError: a value is out of range.
    """
    one = score_interval_of_mean(first, first_n, level)
    other = score_interval_of_mean(second, second_n, level)
    if not first_n or not second_n:
        return RatioInterval(None, 0.0, inf, level)
    value = first / second if second > 0.0 else (inf if first > 0.0 else None)
    return RatioInterval(value, _low(first, one, second, other), _high(first, one, second, other), level)


def _low(first: float, one: Interval, second: float, other: Interval) -> float:
    product = first * second
    numerator = one.low * (2.0 * first - one.low)
    rest = max(0.0, product**2 - numerator * other.high * (2.0 * second - other.high))
    below = product + sqrt(rest)
    return numerator / below if below > 0.0 else 0.0


def _high(first: float, one: Interval, second: float, other: Interval) -> float:
    below = other.low * (2.0 * second - other.low)
    if below <= 0.0:
        return inf
    product = first * second
    rest = max(0.0, product**2 - one.high * (2.0 * first - one.high) * below)
    return (product + sqrt(rest)) / below
