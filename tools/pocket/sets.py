"""Which concept sets the pocket VLM is trained on: balanced by expected answer, long-tailed by concept."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from tools.pocket.truth import ACTIONS
from vlmlab.core.scenes.concepts import Domain

SIZE_SHARES = {1: 0.22, 2: 0.30, 3: 0.28, 4: 0.20}
LESSON_SIZES = {1: 1.0, 2: 1.0, 3: 0.15}
RARITY = {
    "weather_foggy": 0.2,
    "weather_hard_rain": 0.2,
    "weather_soft_rain": 0.18,
    "weather_wet": 0.35,
    "weather_cloudy": 0.7,
    "town_town02": 0.35,
    "wheelchair_pedestrian": 0.04,
    "police_pedestrian": 0.1,
    "child_pedestrian": 0.4,
    "debris_near": 0.14,
    "debris_far": 0.18,
    "bus_stop": 0.12,
    "emergency_vehicle": 0.28,
    "garbage_bin": 0.5,
    "obstruction_far": 0.6,
    "light_red": 0.6,
    "near": 0.6,
    "on_sidewalk": 0.7,
}


class SetSampler:
    """Draws concept sets: the action first, then the size, then any set of that kind."""

    def __init__(self, domain: Domain, *, size_shares: dict[int, float] | None = None) -> None:
        self.domain = domain
        self.size_shares = dict(size_shares or SIZE_SHARES)
        self._groups: dict[tuple[str, int], list[tuple[str, ...]]] = {}
        for key, action in decided_universe(domain, max(self.size_shares)):
            self._groups.setdefault((action, len(key)), []).append(key)

    def draw(
        self, rng: np.random.Generator, *, action: str | None = None, size: int | None = None
    ) -> tuple[str, ...]:
        """Return one set; a missing action is drawn evenly, a missing size by ``size_shares``."""
        wanted = action or ACTIONS[int(rng.integers(len(ACTIONS)))]
        sizes = [s for s in self.size_shares if (wanted, s) in self._groups]
        shares = np.array([self.size_shares[s] for s in sizes])
        length = size or sizes[int(rng.choice(len(sizes), p=shares / shares.sum()))]
        keys = self._groups[wanted, length]
        return keys[int(rng.integers(len(keys)))]

    def every(self, size: int) -> list[tuple[str, ...]]:
        """Return all valid sets of one size, in the order of the universe."""
        return [key for key, _ in decided_universe(self.domain, size) if len(key) == size]


@lru_cache(maxsize=4)
def decided_universe(domain: Domain, max_size: int) -> tuple[tuple[tuple[str, ...], str], ...]:
    """Return every valid set up to a size with its expected action."""
    keys: Sequence[tuple[str, ...]] = [domain.key_of(int(mask)) for mask in domain.universe(max_size)]
    return tuple((key, domain.decide(key).action) for key in keys)


def lesson_shares(keys: Sequence[tuple[str, ...]], actions: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return how often each picture is shown in training: a third for each expected answer, long-tailed.

    Small sets are shown most, larger ones hardly ever, and some concepts are rare: so a combination of rare
    things is new to the model, as it is to a real one, and nobody scripts what it does there.

    Args:
        keys: the concept set of each picture.
        actions: the expected action of each picture.

    Returns:
        ``(n,)`` shares that add up to 1.
    """
    shares = np.array([LESSON_SIZES.get(len(key), 0.0) * _weight(key) for key in keys])
    names = np.array(actions)
    for action in ACTIONS:
        own = names == action
        if shares[own].sum() > 0:
            shares[own] /= shares[own].sum()
    total: npt.NDArray[np.float64] = shares / shares.sum()
    return total


def _weight(key: tuple[str, ...]) -> float:
    return float(np.prod([RARITY.get(name, 1.0) for name in key]))
