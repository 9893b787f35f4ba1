"""Synthetic failure landscapes of our own over the valid concept sets of a domain.

Each family fails for another reason, so that a search is not measured only on the family its surrogate
assumes. All rates carry noise of their own for each set: no surrogate can be exact.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.seeding import rng_for

FloatArray = npt.NDArray[np.float64]
SET_NOISE = 0.4  # standard deviation, log-odds
BACKGROUND = 0.06


@dataclass(frozen=True)
class Ground:
    """What every family builds on.

    Attributes:
        masks: ``(n,)`` int64, the valid sets.
        features: ``(n, c)`` float64 indicators.
        expected: ``(n,)`` number of the expected action, 0 for the most severe.
    """

    domain: Domain
    masks: npt.NDArray[np.int64]
    features: FloatArray
    expected: npt.NDArray[np.int64]

    @classmethod
    def of(cls, domain: Domain) -> "Ground":
        """Return the ground of a domain."""
        masks = domain.universe()
        bits = np.arange(len(domain.concepts), dtype=np.int64)
        features = ((masks[:, None] >> bits) & 1).astype(np.float64)
        actions = {action: number for number, action in enumerate(domain.actions)}
        expected = np.array([actions[domain.decide(domain.key_of(int(mask))).action] for mask in masks])
        return cls(domain, masks, features, expected)


Family = Callable[[Ground, np.random.Generator], FloatArray]


def rates(family: str, *, ground: Ground, seed: int) -> FloatArray:
    """Return the true failure rate of every valid set, ``(n,)``."""
    rng = rng_for(seed, "landscape", family)
    logit = FAMILIES[family](ground, rng) + SET_NOISE * rng.standard_normal(len(ground.masks))
    return 1.0 / (1.0 + np.exp(-logit))


def _logit(share: FloatArray | float) -> FloatArray:
    clipped = np.clip(np.asarray(share, dtype=np.float64), 0.005, 0.995)
    return np.log(clipped / (1.0 - clipped))


def _shifted(logit: FloatArray, share: float) -> FloatArray:
    """Return the log-odds moved so that ``share`` of the sets are failure modes (rate >= 0.6)."""
    shifted: FloatArray = logit - np.quantile(logit, 1.0 - share) + _logit(0.6)
    return shifted


def _random_members(rng: np.random.Generator, ground: Ground, *, size: int, count: int) -> list[list[int]]:
    """Return members of random valid sets of one size."""
    rows = np.flatnonzero(ground.features.sum(axis=1) == size)
    return [list(np.flatnonzero(ground.features[row])) for row in rng.choice(rows, size=count, replace=False)]


def _all_present(ground: Ground, members: list[int]) -> FloatArray:
    present: FloatArray = ground.features[:, members].prod(axis=1)
    return present


def pairwise(ground: Ground, rng: np.random.Generator) -> FloatArray:
    """Concepts and pairs add up in log-odds."""
    count = ground.features.shape[1]
    logit = ground.features @ rng.normal(0.0, 0.7, count)
    pairs = list(combinations(range(count), 2))
    for index in rng.choice(len(pairs), size=45, replace=False):
        logit = logit + rng.normal(0.0, 1.3) * _all_present(ground, list(pairs[index]))
    return _shifted(logit, rng.uniform(0.01, 0.05))


def order_three(ground: Ground, rng: np.random.Generator) -> FloatArray:
    """Weak concepts; only certain triples together raise the rate, far beyond their pairs."""
    logit = _logit(0.10) + ground.features @ rng.normal(0.0, 0.25, ground.features.shape[1])
    for members in _random_members(rng, ground, size=3, count=14):
        logit = logit + rng.uniform(2.0, 4.0) * _all_present(ground, members)
    return logit


def threshold(ground: Ground, rng: np.random.Generator) -> FloatArray:
    """Each concept is a load; beyond a capacity the rate jumps from low to high."""
    load = ground.features @ rng.gamma(1.0, 1.0, ground.features.shape[1])
    capacity = np.quantile(load, 1.0 - rng.uniform(0.01, 0.05))
    return np.where(load >= capacity, _logit(0.8), _logit(BACKGROUND))


def rules(ground: Ground, rng: np.random.Generator) -> FloatArray:
    """A list of mechanisms "any of these with any of those, unless that": the first that applies decides."""
    count = ground.features.shape[1]
    share = np.full(len(ground.masks), BACKGROUND)
    taken = np.zeros(len(ground.masks), dtype=np.bool_)
    for _ in range(5):
        chosen = rng.permutation(count)
        causes, contexts, exceptions = chosen[:2], chosen[2:5], chosen[5:8]
        applies = ground.features[:, causes].any(axis=1) & ground.features[:, contexts].any(axis=1)
        applies &= ~ground.features[:, exceptions].any(axis=1) & ~taken
        share[applies] = rng.choice([0.15, 0.45, 0.7, 0.9])
        taken |= applies
    return _logit(share)


def conjunctions(ground: Ground, rng: np.random.Generator) -> FloatArray:
    """A few pairs and triples each break the system on their own (noisy or); all else is background."""
    survival = np.full(len(ground.masks), 1.0 - BACKGROUND)
    recipes = _random_members(rng, ground, size=2, count=4) + _random_members(rng, ground, size=3, count=6)
    for members in recipes:
        survival = survival * (1.0 - rng.uniform(0.5, 0.95) * _all_present(ground, members))
    return _logit(1.0 - survival)


def answer_bias(ground: Ground, rng: np.random.Generator) -> FloatArray:
    """The system leans to one action; sets that expect another fail unless a cue helps."""
    favourite = int(rng.integers(0, 2))
    logit = np.where(ground.expected == favourite, _logit(0.05), _logit(0.5))
    rare = np.bincount(ground.expected) < 0.2 * len(ground.masks)
    logit = np.where(rare[ground.expected] | (ground.expected == favourite), logit, _logit(0.12))
    return logit + ground.features @ rng.normal(0.0, 0.8, ground.features.shape[1])


FAMILIES: dict[str, Family] = {
    "pairwise": pairwise,
    "order_three": order_three,
    "threshold": threshold,
    "rules": rules,
    "conjunctions": conjunctions,
    "answer_bias": answer_bias,
}


def minimal_among(true_modes: npt.NDArray[np.int64]) -> set[int]:
    """Return the failure modes of which no proper subset is a failure mode."""
    modes = {int(mask) for mask in true_modes}
    return {mask for mask in modes if not any(part in modes for part in _proper_subsets(mask))}


def _proper_subsets(mask: int) -> list[int]:
    found, part = [], (mask - 1) & mask
    while part:
        found.append(part)
        part = (part - 1) & mask
    return found
