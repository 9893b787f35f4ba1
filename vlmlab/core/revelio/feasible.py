"""What published means, shares and spreads can be at all, by counting."""

from math import ceil, floor

from vlmlab.core.revelio.published import Retest
from vlmlab.core.revelio.racing import fails_needed

HALF_STEP = 0.05  # what is lost of a number printed with one decimal


def retest_is_possible(
    retest: Retest, *, scenes: int, has_spread: bool = True, less: tuple[int, ...] = (0, 1)
) -> bool:
    """Return whether any sets of ``scenes`` answers each give a mean, a share >= 80 % and a spread.

    All ways are counted: for each number of sets at 80 % or more and each sum of wrong answers, the sums of
    squares that can be had. Both definitions of the standard deviation are let pass unless one is named.

    Args:
        retest: as printed, in percent with one decimal.
        scenes: answers a set.
        has_spread: whether the standard deviation must fit, too.
        less: how much less than the number of sets its sum of squares may be divided by.
    """
    unit = scenes / 100.0
    lowest, highest = (retest.sets * unit * (retest.mean + sign * HALF_STEP) for sign in (-1, 1))
    squares = _squares(retest.sets, scenes)
    for total in range(retest.sets * scenes + 1):
        reachable = squares.get((retest.reached, total), 0)
        if not reachable or not lowest - 1e-9 <= total <= highest + 1e-9:
            continue
        if not has_spread:
            return True
        for divisor in (retest.sets - one for one in less):
            least, most = (
                (max(0.0, retest.sd + sign * HALF_STEP) * unit) ** 2 * divisor + total**2 / retest.sets
                for sign in (-1, 1)
            )
            if any(reachable >> one & 1 for one in range(ceil(least - 1e-6), floor(most + 1e-6) + 1)):
                return True
    return False


_KNOWN_SQUARES: dict[tuple[int, int], dict[tuple[int, int], int]] = {}


def _squares(sets: int, scenes: int) -> dict[tuple[int, int], int]:
    """Return (sets at 80 % or more, wrong answers) -> the sums of squares, as bits of one number."""
    if (sets, scenes) not in _KNOWN_SQUARES:
        table = {(0, 0): 1}
        for _ in range(sets):
            grown: dict[tuple[int, int], int] = {}
            for (reached, total), bits in table.items():
                for wrong in range(scenes + 1):
                    key = (reached + (5 * wrong >= 4 * scenes), total + wrong)
                    grown[key] = grown.get(key, 0) | bits << wrong**2
            table = grown
        _KNOWN_SQUARES[sets, scenes] = table
    return _KNOWN_SQUARES[sets, scenes]


def bounds_of_mean(pfm: float, threshold: float, samples: int) -> tuple[float, float]:
    """Return what MFR can be at all, in percent, when ``pfm`` percent of the sets reach the threshold.

    A set that reaches it fails at least ``ceil(m tau)`` of m times, one that does not at most once less.
    """
    needed = fails_needed(samples, threshold)
    share = pfm / 100.0
    return 100.0 * share * needed / samples, 100.0 * (share + (1.0 - share) * (needed - 1) / samples)
