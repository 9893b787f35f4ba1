"""When enough samples of a concept set were seen: exact curtailment and the chance of a failure mode."""

import math
from dataclasses import dataclass
from functools import lru_cache

from vlmlab.core.revelio.types import TrialStatus

_ROUNDING = 1e-9  # 10 * 0.7 is 7.000000000000001 in floats and must still mean 7


def fails_needed(samples_per_set: int, failure_rate_threshold: float, *, strict: bool = False) -> int:
    """Return how many of ``samples_per_set`` samples must fail for a failure mode.

    ``ceil(m * tau)``, or the next whole number above ``m * tau`` when ``strict``; it may exceed
    ``samples_per_set``, and then no set is ever a failure mode.
    """
    product = samples_per_set * failure_rate_threshold
    if strict:
        return math.floor(product + _ROUNDING) + 1
    return max(1, math.ceil(product - _ROUNDING))


@dataclass(frozen=True)
class StoppingRule:
    """Classifies a set by ``samples_per_set`` samples, stopping early where that is provably the same.

    Attributes:
        samples_per_set: m, the samples that the plain rule takes.
        needed: fails that make a failure mode, 1..m.
        curtail: stop as soon as the remaining samples cannot change the class.
    """

    samples_per_set: int
    needed: int
    curtail: bool

    @property
    def passes_needed(self) -> int:
        """Passes after which a failure mode has become impossible."""
        return self.samples_per_set - self.needed + 1

    def decide(self, fails: int, passes: int) -> TrialStatus:
        """Return the class of a set with these counts, OPEN while it is not known."""
        if not self.curtail and fails + passes < self.samples_per_set:
            return TrialStatus.OPEN
        if fails >= self.needed:
            return TrialStatus.DECIDED_FAIL
        if passes >= self.passes_needed:
            return TrialStatus.DECIDED_PASS
        return TrialStatus.OPEN

    def certain_samples(self, fails: int, passes: int) -> int:
        """Return how many more samples are needed whatever they say; 0 once decided."""
        if self.curtail:
            return max(0, min(self.needed - fails, self.passes_needed - passes))
        return max(0, self.samples_per_set - fails - passes)


def hit_probability(rule: StoppingRule, fails: int, passes: int, *, rate: float) -> float:
    """Return the chance that the set ends as a failure mode.

    The probability that ``needed`` fails come before ``passes_needed`` passes when the failure
    rate has the distribution Beta(2 rate + fails, 2 (1 - rate) + passes).

    Args:
        rule: m and the fails needed.
        fails: fails so far.
        passes: passes so far.
        rate: expected failure rate before any sample of the set, in [0, 1].

    Returns:
        A probability in [0, 1]; 1 or 0 once decided.
    """
    return _race(rule.needed, rule.passes_needed, fails, passes, rate)


@lru_cache(maxsize=65536)
def _race(needed: int, passes_needed: int, fails: int, passes: int, rate: float) -> float:
    if fails >= needed:
        return 1.0
    if passes >= passes_needed:
        return 0.0
    mean = (2.0 * rate + fails) / (2.0 + fails + passes)
    after_fail = _race(needed, passes_needed, fails + 1, passes, rate)
    after_pass = _race(needed, passes_needed, fails, passes + 1, rate)
    return mean * after_fail + (1.0 - mean) * after_pass
