"""The sign-flip test of whole numbers: is their sum further from zero than chance signs would put it."""

from collections import Counter
from collections.abc import Sequence


def sign_flip_p_value(values: Sequence[int]) -> float:
    """Return the two-sided p-value of a sum, counted over all signs of its terms (Fisher 1935).

    It is exact where each value is as likely to come with either sign. Zeros say nothing; 1 where all are
    zero. For values of -1 and 1 it is the exact McNemar test.

    Args:
        values: ``(n,)`` small whole numbers; time grows with n times their total size.
    """
    sizes = [abs(value) for value in values if value]
    total = sum(sizes)
    ways = [1] + [0] * total  # ways[t]: choices of terms with a minus whose sizes sum to t
    reached = 0
    for size, count in sorted(Counter(sizes).items()):
        for _ in range(count):
            reached += size
            for at in range(reached, size - 1, -1):
                ways[at] += ways[at - size]
    tail = (total - abs(sum(values))) // 2
    return min(1.0, float(2 * sum(ways[: tail + 1]) / 2 ** len(sizes)))
