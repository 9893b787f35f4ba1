"""Which concept sets the pocket VLM's training pictures show: by expected answer, by what is in them."""

from functools import lru_cache

import numpy as np

from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.strata import is_askable
from vlmlab.core.seeding import pick

ANSWER_SIZES = {1: 0.34, 2: 0.42, 3: 0.16, 4: 0.08}
"""Share of each size among the sets that are drawn by their expected answer."""

THING_COUNTS = {1: 0.35, 2: 0.45, 3: 0.20}
"""Share of the number of things with a name among the sets that are drawn by what stands in them."""

ANSWER_SHARE = 0.55
"""Share of the pictures that are drawn by their expected answer."""


@lru_cache(maxsize=8)
def decided_universe(domain: Domain, max_size: int) -> tuple[tuple[Key, str, str], ...]:
    """Return every valid set up to a size with its expected action and the question of the deciding rule."""
    rows = []
    for mask in domain.universe(max_size):
        key = domain.key_of(int(mask))
        decision = domain.decide(key)
        rows.append((key, decision.action, decision.question))
    return tuple(rows)


class SetSampler:
    """Draws concept sets of one domain: each expected answer as often as the others, rare questions too."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self._by_answer: dict[str, dict[str, dict[int, list[Key]]]] = {}
        self._by_thing: dict[int, dict[str, list[Key]]] = {}
        self._by_size: dict[int, list[Key]] = {}
        for key, action, question in decided_universe(domain, max(ANSWER_SIZES)):
            by_question = self._by_answer.setdefault(action, {})
            by_question.setdefault(question, {}).setdefault(len(key), []).append(key)
            self._by_size.setdefault(len(key), []).append(key)
            things = [one for one in key if is_askable(domain, one)]
            for thing in things:
                self._by_thing.setdefault(len(things), {}).setdefault(thing, []).append(key)

    def draw(self, rng: np.random.Generator) -> Key:
        """Return a set for training: by its answer or by its things."""
        return self.draw_by_answer(rng) if rng.random() < ANSWER_SHARE else self.draw_by_things(rng)

    def draw_by_answer(self, rng: np.random.Generator, *, action: str | None = None, largest: int = 4) -> Key:
        """Return a set: the expected action evenly (or the given one), then the question, then the size."""
        wanted = action or pick(rng, list(self.domain.actions))
        questions = [
            {size: keys for size, keys in by_size.items() if size <= largest}
            for by_size in self._by_answer[wanted].values()
        ]
        by_size = pick(rng, [one for one in questions if one])
        return pick(rng, by_size[_drawn(rng, {size: ANSWER_SIZES[size] for size in by_size})])

    def draw_by_things(self, rng: np.random.Generator) -> Key:
        """Return a set: how many things have a name, then one of them evenly, then any set that has it."""
        counts = {count: share for count, share in THING_COUNTS.items() if count in self._by_thing}
        by_thing = self._by_thing[_drawn(rng, counts)]
        return pick(rng, by_thing[pick(rng, list(by_thing))])

    def draw_of_size(self, rng: np.random.Generator, size: int) -> Key:
        """Return any valid set of a size, as a random search draws it."""
        return pick(rng, self._by_size[size])


def _drawn(rng: np.random.Generator, shares: dict[int, float]) -> int:
    weights = np.array(list(shares.values()))
    return list(shares)[int(rng.choice(len(weights), p=weights / weights.sum()))]
