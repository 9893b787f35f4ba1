"""How often a system fails where a concept, or a pair of concepts, is shown: F(c) and F(a, b)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

from vlmlab.core.revelio.types import Key
from vlmlab.core.verdicts.regimes import MeanRate, mean_failure_rate

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


def mean_rate(sets: Iterable[MeasuredSet]) -> MeanRate:
    """Return the mean failure rate of sets, every set with the same weight."""
    return mean_failure_rate((one.fails, one.samples) for one in sets)


def concept_rates(sets: Iterable[MeasuredSet]) -> Mapping[str, MeanRate]:
    """Return F(c) of every concept that a set contains, in alphabetical order.

    It is observational: a search chooses which sets contain c, and what else they contain.
    """
    holders: dict[str, list[MeasuredSet]] = {}
    for one in sets:
        for concept in one.key:
            holders.setdefault(concept, []).append(one)
    return {concept: mean_rate(holders[concept]) for concept in sorted(holders)}


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
