"""P-values of a whole family of tests, adjusted for how many there are."""

from collections.abc import Sequence

import numpy as np

from vlmlab.core.checks import check_probabilities


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for the family-wise error (Holm 1979), in the order given.

    Raises:
        ValueError: a value is outside [0, 1].
    """
    values = check_probabilities("p_values", list(p_values))
    adjusted = [0.0] * len(values)
    worst = 0.0
    for rank, index in enumerate(np.argsort(values, kind="stable")):
        worst = max(worst, min(1.0, float(values[index]) * (len(values) - rank)))
        adjusted[int(index)] = worst
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for the false discovery rate (Benjamini and Hochberg 1995).

    Raises:
        ValueError: a value is outside [0, 1].
    """
    values = check_probabilities("p_values", list(p_values))
    adjusted = [0.0] * len(values)
    best = 1.0
    order = np.argsort(values, kind="stable")
    for rank in range(len(values), 0, -1):
        index = int(order[rank - 1])
        best = min(best, float(values[index]) * len(values) / rank)
        adjusted[index] = best
    return adjusted
