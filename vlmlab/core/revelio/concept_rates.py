"""How often a system fails where a concept, or a pair of concepts, is shown: F(c) and F(a, b)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt

from vlmlab.core.checks import check_share
from vlmlab.core.revelio.types import Key
from vlmlab.core.stats import Interval, clopper_pearson, mean_interval

Pair = tuple[str, str]
"""Two concepts in alphabetical order."""


@dataclass(frozen=True)
class MeasuredSet:
    """A concept set with a rate: asked as often as planned whatever it answered, or on fresh scenes.

    A set that a search stopped early must not stand here: its k/n is biased upwards.

    Attributes:
        fails: wrong answers, with the invalid ones.
        samples: answers, at least 1.
        invalid: fails that named no option.
        expected_action: what its question expects.
        is_fresh: whether the answers are those of follow-ups.
    """

    key: Key
    fails: int
    samples: int
    invalid: int = 0
    expected_action: str = ""
    is_fresh: bool = False

    @property
    def rate(self) -> float:
        """Failure rate in [0, 1]."""
        return self.fails / self.samples


@dataclass(frozen=True)
class MeanRate:
    """The mean failure rate of some sets, every set with the same weight.

    Attributes:
        sets: how many sets; ``fails`` and ``samples`` are their answers together.
        mean: mean of their rates; None without a set.
        interval: see ``mean_rate``.
    """

    sets: int
    fails: int
    samples: int
    mean: float | None
    interval: Interval


def mean_rate(sets: Sequence[MeasuredSet], *, level: float = 0.95) -> MeanRate:
    """Return the mean failure rate of sets, as F(c) of Revelio (Tables 13 and 14), with an interval of ours.

    Scenes of one set are alike, so the exact binomial interval of all answers is too short; Student's
    interval over sets has no width where all sets agree. The interval runs from the lower of the two lower
    ends to the higher of the two upper ends.

    Raises:
        ValueError: the level is out of range.
    """
    check_share("level", level)
    fails, samples = sum(one.fails for one in sets), sum(one.samples for one in sets)
    if not sets:
        return MeanRate(0, 0, 0, None, Interval(0.0, 1.0, level))
    rates = [one.rate for one in sets]
    mean = sum(rates) / len(rates)
    exact = clopper_pearson(fails, samples, level)
    low, high = exact.low, exact.high
    if len(rates) > 1:
        spread = sqrt(sum((rate - mean) ** 2 for rate in rates) / (len(rates) - 1))
        student = mean_interval(min(mean, 1.0), spread, len(rates), level)
        low, high = min(low, student.low), max(high, student.high)
    return MeanRate(len(sets), fails, samples, mean, Interval(min(low, mean), max(high, mean), level))


def concept_rates(sets: Iterable[MeasuredSet], *, level: float = 0.95) -> Mapping[str, MeanRate]:
    """Return F(c) of every concept that a set contains, in alphabetical order.

    It is observational: a search chooses which sets contain c, and what else they contain.
    """
    holders: dict[str, list[MeasuredSet]] = {}
    for one in sets:
        for concept in one.key:
            holders.setdefault(concept, []).append(one)
    return {concept: mean_rate(holders[concept], level=level) for concept in sorted(holders)}


def pair_rates(sets: Iterable[MeasuredSet], *, level: float = 0.95) -> Mapping[Pair, MeanRate]:
    """Return F(a, b) of every pair that a set contains, in alphabetical order."""
    return {pair: mean_rate(having, level=level) for pair, having in sorted(sets_with_pairs(sets).items())}


def sets_with_pairs(sets: Iterable[MeasuredSet]) -> dict[Pair, list[MeasuredSet]]:
    """Return, for every pair of concepts, the sets that contain both."""
    holders: dict[Pair, list[MeasuredSet]] = {}
    for one in sets:
        for pair in combinations(sorted(one.key), 2):
            holders.setdefault(pair, []).append(one)
    return holders


def ranks(rates: Mapping[str, float]) -> Mapping[str, int]:
    """Return the place of each concept by its rate, 1 the highest; equal rates share the better place."""
    ordered = sorted(rates.values(), reverse=True)
    return {concept: ordered.index(rate) + 1 for concept, rate in rates.items()}
