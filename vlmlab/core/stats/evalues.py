"""E-values: evidence that may be looked at any time, and which of many pieces of evidence count.

An e-value is a number that is at most 1 on average while a hypothesis holds; large values speak against it.
Everything here is in natural logarithms, so that nothing overflows.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import log

import numpy as np
import numpy.typing as npt

from vlmlab.core.checks import check_count, check_share

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BETS = 40
ROUNDING = 1e-12  # an e-value that equals its bar on paper must not miss it by the last bit


def log_e_above(fails: npt.ArrayLike, samples: npt.ArrayLike, *, threshold: float) -> FloatArray:
    """Return the log e-value against "the failure rate is at most the threshold".

    The e-process is a mixture of likelihood ratios (Wald 1945; Robbins 1970): ``mean over bets q of
    (q / t)^k ((1 - q) / (1 - t))^(n - k)`` for k fails in n samples and a threshold t, with bets at the
    middles of ``BETS`` equal parts of (t, 1). Each ratio is 1 on average at rate t and less below it, so the
    mixture is a supermartingale under the hypothesis, however and whenever sampling stops.

    Args:
        fails: k, any shape.
        samples: n >= k, of a shape that broadcasts with it.
        threshold: t in (0, 1).

    Returns:
        Natural logarithms, in the common shape; 0 without samples.

    Raises:
        ValueError: a count is negative, more fails than samples, or the threshold is out of range.
    """
    k, n = np.asarray(fails, dtype=np.float64), np.asarray(samples, dtype=np.float64)
    if bool(np.any(k < 0)) or bool(np.any(k > n)):
        raise ValueError("fails must lie between 0 and samples")
    hit, miss, weight = _bets(check_share("threshold", threshold))
    terms = k[..., None] * hit + (n - k)[..., None] * miss + weight
    most = terms.max(axis=-1)
    total: FloatArray = most + np.log(np.exp(terms - most[..., None]).sum(axis=-1))
    return np.where(n == 0, 0.0, total)


def log_e_below(fails: npt.ArrayLike, samples: npt.ArrayLike, *, threshold: float) -> FloatArray:
    """Return the log e-value against "the failure rate is at least the threshold".

    The mirror of ``log_e_above``: the same bets on right answers.

    Raises:
        ValueError: as there.
    """
    passes = np.asarray(samples, dtype=np.float64) - np.asarray(fails, dtype=np.float64)
    return log_e_above(passes, samples, threshold=1.0 - check_share("threshold", threshold))


def fails_to_cross(most_samples: int, *, threshold: float, log_needed: float) -> IntArray:
    """Return the least fails with which ``log_e_above`` reaches a bar, for each number of samples.

    Returns:
        ``(most_samples + 1,)``; n + 1 where n samples cannot reach it.

    Raises:
        ValueError: a value is out of range.
    """
    check_count("most_samples", most_samples)
    n = np.arange(most_samples + 1)
    low, high = np.zeros_like(n), n + 1  # the e-value grows with fails: halve the range for all n at once
    while bool(np.any(low < high)):
        middle = (low + high) // 2
        crosses = log_e_above(np.minimum(middle, n), n, threshold=threshold) >= log_needed - ROUNDING
        crosses |= middle > n
        low, high = np.where(crosses, low, middle + 1), np.where(crosses, middle, high)
        low = np.minimum(low, high)
    return low


def passes_to_cross(most_samples: int, *, threshold: float, log_needed: float) -> IntArray:
    """Return the least right answers with which ``log_e_below`` reaches a bar, as ``fails_to_cross``."""
    return fails_to_cross(
        most_samples, threshold=1.0 - check_share("threshold", threshold), log_needed=log_needed
    )


def e_bh(log_e_values: Sequence[float], level: float, *, family_size: int | None = None) -> list[int]:
    """Return which hypotheses are rejected with the false discovery rate held (e-BH, Wang and Ramdas 2022).

    The R hypotheses with the largest e-values are rejected for the largest R whose smallest one is at least
    ``K / (level R)``. Valid however the e-values depend on each other.

    Args:
        log_e_values: natural logarithms, one a hypothesis.
        level: the rate, in (0, 1).
        family_size: K, where not all hypotheses of the family are given; the others count as not rejected.

    Returns:
        Places of the rejected, ascending.

    Raises:
        ValueError: a value is out of range, missing, or the family is smaller than what is given.
    """
    size = len(log_e_values) if family_size is None else family_size
    check_count("family_size", size, low=len(log_e_values))
    shares = [1.0 / size] * len(log_e_values) if size else []
    return shared_e_bh(log_e_values, shares, level=level)


def e_lond(log_e_values: Sequence[float], level: float) -> list[int]:
    """Return which of hypotheses that come one after another are rejected (e-LOND, Xu and Ramdas 2024).

    The t-th is rejected when its e-value is at least ``1 / (level g(t) (D + 1))`` for the D rejected before
    it and ``g`` of ``place_share`` (and at least ``1 / level``, which is ours).

    Returns:
        Places of the rejected, from 0, ascending.

    Raises:
        ValueError: a value is out of range or missing.
    """
    values = _finite(log_e_values)
    check_share("level", level)
    rejected: list[int] = []
    for index, value in enumerate(values):
        bar = log_bar(place_share(index + 1), level=level, rejected=len(rejected) + 1)
        if value >= bar - ROUNDING:
            rejected.append(index)
    return rejected


def shared_e_bh(
    log_e_values: Sequence[float], shares: Sequence[float], *, level: float, found_before: int = 0
) -> list[int]:
    """Return the rejected among hypotheses that have unequal shares of the level.

    The largest set R in which each e-value is at least ``1 / (level share (|R| + found_before))``, and at
    least ``1 / level``. With shares 1/K it is e-BH; with those of ``place_share`` and one new hypothesis at
    a time it is e-LOND. The rate stays below ``level`` times the sum of all shares: a false member adds at
    most ``1 / rejected``, and that is at most ``level share`` times its e-value (the proof of Wang and Ramdas
    2022, with weights).

    Args:
        log_e_values: natural logarithms.
        shares: one a hypothesis, > 0, summing to at most 1 over all hypotheses there ever are.
        level: the rate, in (0, 1).
        found_before: hypotheses of the same family that were rejected before and stay so.

    Returns:
        Places of the rejected, ascending.

    Raises:
        ValueError: a value is out of range or missing.
    """
    values, parts = _finite(log_e_values), np.asarray(shares, dtype=np.float64)
    check_share("level", level)
    check_count("found_before", found_before)
    if parts.shape != values.shape or bool(np.any(~(parts > 0.0))) or float(parts.sum()) > 1.0 + 1e-9:
        raise ValueError("shares must be positive, one for each e-value, and sum to at most 1")
    able = np.flatnonzero(values >= -log(level) - ROUNDING)
    scores = values[able] + np.log(level * parts[able])
    order = np.argsort(-scores, kind="stable")
    counts = np.arange(1, len(able) + 1) + found_before
    passing = np.flatnonzero(scores[order] + np.log(counts) >= -ROUNDING)
    return sorted(int(index) for index in able[order[: passing[-1] + 1]]) if len(passing) else []


def log_bar(share: float, *, level: float, rejected: int) -> float:
    """Return the log e-value that a hypothesis needs to be one of so many rejected ones.

    Never less than ``1 / level``, which matters only after many early discoveries in a line.
    """
    return -log(level * min(1.0, share * rejected))


def place_share(place: int) -> float:
    """Return the share of the level for the t-th later hypothesis: ``1 / (t (t + 1))``; all sum to 1.

    Raises:
        ValueError: the place is below 1.
    """
    check_count("place", place, low=1)
    return 1.0 / (place * (place + 1))


@lru_cache(maxsize=64)
def _bets(threshold: float) -> tuple[FloatArray, FloatArray, float]:
    """Return log gain of a fail and of a pass for each bet, and the log weight of each."""
    rates = threshold + (1.0 - threshold) * (np.arange(BETS) + 0.5) / BETS
    return np.log(rates / threshold), np.log((1.0 - rates) / (1.0 - threshold)), -log(BETS)


def _finite(log_e_values: Sequence[float]) -> FloatArray:
    values = np.asarray(log_e_values, dtype=np.float64)
    if values.ndim != 1 or bool(np.isnan(values).any()):
        raise ValueError("log_e_values must be a list of numbers, none missing")
    return values
