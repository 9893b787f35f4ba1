"""The sign-flip test of whole numbers: is their sum further from zero than chance signs would put it."""

from collections.abc import Sequence

import numpy as np


def sign_flip_p_value(values: Sequence[int]) -> float:
    """Return the two-sided p-value of a sum, counted over all signs of its terms (Fisher 1935).

    It is exact where each value is as likely to come with either sign. Zeros say nothing; 1 where all are
    zero. For values of -1 and 1 it is the exact McNemar test.

    Args:
        values: ``(n,)`` small whole numbers; time grows with n times their total size.
    """
    sizes = [abs(value) for value in values if value]
    total = sum(sizes)
    chances = np.zeros(total + 1)  # of each sum of the terms that get a minus
    chances[0] = 1.0
    for size in sizes:
        chances[size:] = (chances[size:] + chances[:-size]) / 2.0
        chances[:size] /= 2.0
    tail = (total - abs(sum(values))) // 2
    return min(1.0, 2.0 * float(chances[: tail + 1].sum()))
