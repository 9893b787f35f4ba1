"""When a sequential test ends: the counts that decide it, and the chance that it will still be decided."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from vlmlab.core.stats import fails_to_cross, passes_to_cross

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class StoppingTable:
    """The test of one suspect of which up to ``most_samples`` samples are taken.

    Attributes:
        confirm_at: ``(most_samples + 1,)`` fails that confirm it at each number of samples n; n + 1: none do.
        lowest_open: ``(most_samples + 1,)`` least fails at which it is not refuted.
        chances: for each n, the predicted chance of each count in ``lowest_open <= fails < confirm_at``.
    """

    most_samples: int
    confirm_at: IntArray
    lowest_open: IntArray
    chances: tuple[FloatArray, ...]

    def chance(self, fails: int, samples: int) -> float:
        """Return the chance that it is decided by ``most_samples``; 1 where it is decided already.

        The failure rate is predicted from the samples so far and a uniform prior (Beta-binomial). The chance
        is exactly 0 where no course of the remaining samples decides it.
        """
        place = fails - int(self.lowest_open[samples])
        row = self.chances[samples]
        return float(row[place]) if 0 <= place < len(row) else 1.0


@lru_cache(maxsize=128)
def stopping_table(
    threshold: float, most_samples: int, *, confirm_bar: float, refute_bar: float
) -> StoppingTable:
    """Return the table of a test.

    Args:
        threshold: failure rate that is tested, in (0, 1).
        most_samples: N.
        confirm_bar: log e-value that confirms.
        refute_bar: log e-value of the mirrored test that refutes.

    Raises:
        ValueError: a value is out of range.
    """
    n = np.arange(most_samples + 1)
    confirm_at = fails_to_cross(most_samples, threshold=threshold, log_needed=confirm_bar)
    refute_at = passes_to_cross(most_samples, threshold=threshold, log_needed=refute_bar)
    lowest_open = np.maximum(0, n - refute_at + 1)
    later = np.zeros(max(0, int(confirm_at[-1] - lowest_open[-1])))
    rows = [later]
    for samples in range(most_samples - 1, -1, -1):
        low, high = int(lowest_open[samples]), int(confirm_at[samples])
        next_low, next_high = int(lowest_open[samples + 1]), int(confirm_at[samples + 1])
        reached = np.ones(high - low + 1)  # the chance at low ... high of the next number of samples
        start, stop = max(low, next_low), min(high + 1, next_high)
        reached[start - low : stop - low] = later[start - next_low : stop - next_low]
        rate = (np.arange(low, high) + 1.0) / (samples + 2.0)
        later = rate * reached[1:] + (1.0 - rate) * reached[:-1]
        rows.append(later)
    return StoppingTable(most_samples, confirm_at, lowest_open, tuple(reversed(rows)))
