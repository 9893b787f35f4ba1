"""Tests of two conditions that were tried on the same items."""

from math import comb, erfc, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vlmlab.core.checks import check_count

FloatArray = npt.NDArray[np.float64]
MOST_COUNTED_PAIRS = 50
MOST_COUNTED_PAIRS_WITH_TIES = 13


class SignedRank(NamedTuple):
    """What a signed-rank test says.

    Attributes:
        statistic: the smaller one of the two rank sums.
        p_value: two-sided.
        effect: matched-pairs rank-biserial correlation in [-1, 1]; above 0 where ``x`` is larger.
    """

    statistic: float
    p_value: float
    effect: float


def mcnemar_exact(b: int, c: int) -> float:
    """Return the two-sided exact p-value of paired outcomes that differ (McNemar, binomial form).

    Args:
        b: pairs where only the first of two failed.
        c: pairs where only the second failed.

    Raises:
        ValueError: a count is negative.
    """
    check_count("b", b)
    check_count("c", c)
    total, fewer = b + c, min(b, c)
    tail = sum(comb(total, k) for k in range(fewer + 1))
    return min(1.0, float(2 * tail / 2**total))


def wilcoxon_signed_rank(x: npt.ArrayLike, y: npt.ArrayLike) -> SignedRank:
    """Return the two-sided signed-rank test of paired values (Wilcoxon 1945, zeros after Pratt 1959).

    Pairs without a difference take part in the ranking and are then left out of both sums. The p-value is
    counted over all signs for up to 50 pairs without ties and zeros, and for up to 13 with them; beyond that
    it is the normal approximation with the variance of Cureton (1967) and without continuity correction, so
    that ``scipy.stats.wilcoxon(x, y, zero_method="pratt")`` gives the same numbers. The effect is
    ``(W+ - W-) / (W+ + W-)`` (Kerby 2014).

    Args:
        x: ``(n,)``, n >= 1.
        y: ``(n,)``, the other condition on the same items.

    Returns:
        Statistic, p-value and effect; 0, 1 and 0 where no pair differs.

    Raises:
        ValueError: shapes differ, there is no pair, or a number is missing or infinite.
    """
    first, second = _paired_values(x, y)
    differences = first - second
    ranks = _mid_ranks(np.abs(differences))
    larger = float(ranks[differences > 0].sum())
    smaller = float(ranks[differences < 0].sum())
    if larger + smaller == 0.0:
        return SignedRank(0.0, 1.0, 0.0)
    statistic = min(larger, smaller)
    signed = ranks[differences != 0]
    has_ties = len(signed) < len(ranks) or len(np.unique(ranks)) < len(ranks)
    if len(ranks) <= (MOST_COUNTED_PAIRS_WITH_TIES if has_ties else MOST_COUNTED_PAIRS):
        p_value = _counted_p_value(signed, statistic)
    else:
        p_value = _normal_p_value(ranks, n_zeros=len(ranks) - len(signed), statistic=statistic)
    return SignedRank(statistic, p_value, (larger - smaller) / (larger + smaller))


def _paired_values(x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape or not len(first):
        raise ValueError(
            f"x and y must be non-empty lists of the same length, got {first.shape} {second.shape}"
        )
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("x and y must hold finite numbers only")
    return first, second


def _mid_ranks(sizes: FloatArray) -> FloatArray:
    """Return ranks from 1; equal values share the mean of theirs."""
    _, group, counts = np.unique(sizes, return_inverse=True, return_counts=True)
    mean_ranks: FloatArray = np.cumsum(counts) - (counts - 1) / 2.0
    return mean_ranks[group]


def _counted_p_value(signed: FloatArray, statistic: float) -> float:
    """Return the share of all signs of the ranks with sums as far apart; whole numbers throughout."""
    doubled = [round(2 * rank) for rank in signed]  # mid-ranks are whole or halves
    ways = [1] + [0] * sum(doubled)
    reached = 0
    for rank in doubled:
        reached += rank
        for total in range(reached, rank - 1, -1):
            ways[total] += ways[total - rank]
    tail = sum(ways[: round(2 * statistic) + 1])
    return min(1.0, float(2 * tail / 2 ** len(doubled)))


def _normal_p_value(ranks: FloatArray, *, n_zeros: int, statistic: float) -> float:
    def sum_of_squares(n: int) -> float:
        return n * (n + 1) * (2 * n + 1) / 24.0

    n = len(ranks)
    mean = (n * (n + 1) - n_zeros * (n_zeros + 1)) / 4.0
    _, counts = np.unique(ranks, return_counts=True)
    tied = counts[1:] if n_zeros else counts
    variance = (
        sum_of_squares(n) - sum_of_squares(n_zeros) - float((tied.astype(np.float64) ** 3 - tied).sum()) / 48
    )
    return erfc(abs(statistic - mean) / sqrt(2.0 * variance))
