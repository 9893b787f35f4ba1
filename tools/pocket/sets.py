"""Which concept sets the pocket VLM is trained on: balanced by expected answer, long-tailed by concept."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from tools.pocket.truth import ACTIONS
from vlmlab.core.scenes.concepts import Domain

SIZE_SHARES = {1: 0.22, 2: 0.30, 3: 0.28, 4: 0.20}
RARITY = {
    "wheelchair_pedestrian": 0.35,
    "police_pedestrian": 0.5,
    "bus_stop": 0.6,
    "debris_far": 0.6,
    "debris_near": 0.7,
    "emergency_vehicle": 0.7,
    "weather_soft_rain": 0.6,
    "weather_wet": 0.7,
    "town_town02": 0.7,
}


class SetSampler:
    """Draws concept sets: the action first, then the size, then a set in proportion to its rarity."""

    def __init__(
        self, domain: Domain, *, size_shares: dict[int, float] | None = None, long_tail: bool = True
    ) -> None:
        self.domain = domain
        self.size_shares = dict(size_shares or SIZE_SHARES)
        self._groups: dict[tuple[str, int], tuple[list[tuple[str, ...]], np.ndarray]] = {}
        grouped: dict[tuple[str, int], list[tuple[str, ...]]] = {}
        for key, action in decided_universe(domain, max(self.size_shares)):
            grouped.setdefault((action, len(key)), []).append(key)
        for group, keys in grouped.items():
            weights = np.array([_weight(key) if long_tail else 1.0 for key in keys])
            self._groups[group] = (keys, weights / weights.sum())

    def draw(
        self, rng: np.random.Generator, *, action: str | None = None, size: int | None = None
    ) -> tuple[str, ...]:
        """Return one set; a missing action is drawn evenly, a missing size by ``size_shares``."""
        wanted = action or ACTIONS[int(rng.integers(len(ACTIONS)))]
        sizes = [s for s in self.size_shares if (wanted, s) in self._groups]
        shares = np.array([self.size_shares[s] for s in sizes])
        length = size or sizes[int(rng.choice(len(sizes), p=shares / shares.sum()))]
        keys, weights = self._groups[wanted, length]
        return keys[int(rng.choice(len(keys), p=weights))]

    def every(self, size: int) -> list[tuple[str, ...]]:
        """Return all valid sets of one size, in the order of the universe."""
        return [key for key, _ in decided_universe(self.domain, size) if len(key) == size]


@lru_cache(maxsize=4)
def decided_universe(domain: Domain, max_size: int) -> tuple[tuple[tuple[str, ...], str], ...]:
    """Return every valid set up to a size with its expected action."""
    keys: Sequence[tuple[str, ...]] = [domain.key_of(int(mask)) for mask in domain.universe(max_size)]
    return tuple((key, domain.decide(key).action) for key in keys)


def _weight(key: tuple[str, ...]) -> float:
    return float(np.prod([RARITY.get(name, 1.0) for name in key]))
