"""Intervals of a share that hold at every number of samples at once, and their level after a choice."""

from collections.abc import Callable
from functools import lru_cache
from math import inf, lgamma, log

from vlmlab.core.checks import check_count, check_share
from vlmlab.core.stats.intervals import Interval

HALVINGS = 45  # of [0, 1]: ends are right to 13 digits


def confidence_sequence(fails: int, samples: int, level: float = 0.95) -> Interval:
    """Return the interval of a share at one point of a confidence sequence.

    Inverts the Beta-binomial mixture martingale (Robbins 1970; Howard, Ramdas, McAuliffe and Sekhon 2021):
    p is inside while ``B(1 + k, 1 + n - k) / (p^k (1 - p)^(n - k)) < 1 / (1 - level)``, a mixture over
    uniformly many alternatives. The chance that the true share is ever outside, over all n, is at most
    ``1 - level``. Intervals are not intersected over time: each depends on its own counts only.

    Args:
        fails: k.
        samples: n.
        level: share of sequences that cover all the time, in (0, 1).

    Returns:
        (0, 1) without samples.

    Raises:
        ValueError: the counts or the level are out of range.
    """
    check_count("samples", samples)
    check_count("fails", fails, high=samples)
    return _sequence(fails, samples, check_share("level", level))


def selected_level(level: float, *, selected: int, share: float) -> float:
    """Return the level of the interval of one of several that were selected from a family by their data.

    With intervals at ``1 - (1 - level) share R`` for R selected ones, at most ``1 - level`` of those shown
    miss on average (false coverage rate). This is e-BY (Xu, Wang and Ramdas 2022), with ``share`` 1/K for a
    family of K; it holds for any rule of selection, because the intervals come from e-values.

    Raises:
        ValueError: a value is out of range.
    """
    check_share("level", level)
    check_count("selected", selected, low=1)
    if not 0.0 < share <= 1.0:
        raise ValueError(f"share must lie in (0, 1], got {share}")
    return 1.0 - (1.0 - level) * min(1.0, share * selected)


@lru_cache(maxsize=4096)
def _sequence(fails: int, samples: int, level: float) -> Interval:
    if samples == 0:
        return Interval(0.0, 1.0, level)
    passes = samples - fails
    mixture = lgamma(fails + 1) + lgamma(passes + 1) - lgamma(samples + 2)
    bar = -log(1.0 - level)

    def is_outside(share: float) -> bool:
        return mixture - _log_likelihood(fails, passes, share=share) >= bar

    best = fails / samples
    low = 0.0 if fails == 0 else _edge(0.0, best, is_outside)
    high = 1.0 if passes == 0 else _edge(1.0, best, is_outside)
    return Interval(low, high, level)


def _edge(outside: float, inside: float, is_outside: Callable[[float], bool]) -> float:
    """Return where the likelihood, which falls away from ``inside``, leaves the sequence."""
    for _ in range(HALVINGS):
        middle = (outside + inside) / 2.0
        outside, inside = (middle, inside) if is_outside(middle) else (outside, middle)
    return outside


def _log_likelihood(fails: int, passes: int, *, share: float) -> float:
    if (fails and share <= 0.0) or (passes and share >= 1.0):
        return -inf
    return (fails * log(share) if fails else 0.0) + (passes * log(1.0 - share) if passes else 0.0)
