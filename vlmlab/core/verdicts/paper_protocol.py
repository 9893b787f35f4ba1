"""The re-test as published: sets with the highest rates, a fixed number of fresh scenes, a table row."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from vlmlab.core.checks import check_count
from vlmlab.core.seeding import rng_for
from vlmlab.core.stats import Interval, clopper_pearson

HIGH_RATE = 0.8  # the table counts sets that fail at least this often


@dataclass(frozen=True)
class RetestedSet:
    """Fresh samples of one set, with the exact interval of its failure rate."""

    fails: int
    samples: int
    interval: Interval

    @property
    def rate(self) -> float:
        """Wrong answers / answers."""
        return self.fails / self.samples

    @property
    def is_high(self) -> bool:
        """Whether it fails at least as often as the table counts."""
        return self.fails >= HIGH_RATE * self.samples - 1e-9


@dataclass(frozen=True)
class RetestSummary:
    """One row of the published table of re-tests (Revelio, Table 1).

    Attributes:
        mean: mean of the sets' failure rates; None without sets.
        sd: their standard deviation over n; None below two sets. The paper does not say over what; most of
            its rows fit n.
        n_high: sets that fail in at least 80 % of their samples.
        sets: every set, in the order given.
    """

    mean: float | None
    sd: float | None
    n_high: int
    sets: tuple[RetestedSet, ...]


def top_by_rate(rates: Sequence[float], top: int, *, run_seed: int) -> list[int]:
    """Return the places of the highest rates, highest first; ties are drawn.

    Args:
        rates: failure rates of sets with all their samples; a curtailed set has none and cannot be chosen.
        top: how many at most.
        run_seed: decides ties.

    Raises:
        ValueError: ``top`` is below 1.
    """
    check_count("top", top, low=1)
    luck = rng_for(run_seed, "paper protocol ties").permutation(len(rates))
    return sorted(range(len(rates)), key=lambda index: (-rates[index], int(luck[index])))[:top]


def retest_summary(counts: Sequence[tuple[int, int]], level: float = 0.95) -> RetestSummary:
    """Return mean, standard deviation and exact intervals of re-tested sets.

    Args:
        counts: fails and samples of each set; sets without a sample are left out.
        level: of each set's interval (Clopper and Pearson), not adjusted: the protocol chooses nothing anew.

    Raises:
        ValueError: a count or the level is out of range.
    """
    sets = tuple(
        RetestedSet(fails, samples, clopper_pearson(fails, samples, level))
        for fails, samples in counts
        if samples
    )
    rates = [one.rate for one in sets]
    mean = sum(rates) / len(rates) if rates else None
    spread = None
    if mean is not None and len(rates) > 1:
        spread = sqrt(sum((rate - mean) ** 2 for rate in rates) / len(rates))
    return RetestSummary(mean, spread, sum(one.is_high for one in sets), sets)
