"""A domain small enough to work by hand, and a way to play a search to its end."""

from collections.abc import Callable, Collection, Iterable
from itertools import combinations

import numpy as np

from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.search import build_search
from vlmlab.core.revelio.types import Key, Outcome, Query, Verdict

Judge = Callable[[Query], Verdict]


class TinyDomain:
    """Concepts are letters; every set of distinct letters is valid unless it holds a forbidden pair."""

    def __init__(self, letters: str = "abcdef", *, max_size: int = 3, forbidden: Collection[str] = ()):
        self.concepts = tuple(letters)
        self.max_size = max_size
        self.forbidden = [frozenset(pair) for pair in forbidden]

    def universe(self, max_size=None, *, excluded=(), required=()):
        masks = []
        for size in range(1, min(max_size or self.max_size, self.max_size) + 1):
            keys = [
                key
                for key in combinations(self.concepts, size)
                if not any(pair <= set(key) for pair in self.forbidden)
                if not set(key) & set(excluded) and set(required) <= set(key)
            ]
            masks.extend(sorted(self.mask(key) for key in keys))
        return np.array(masks, dtype=np.int64)

    def key_of(self, mask: int) -> Key:
        return tuple(letter for bit, letter in enumerate(self.concepts) if mask >> bit & 1)

    def mask(self, key: Iterable[str]) -> int:
        return sum(1 << self.concepts.index(letter) for letter in key)


def fails_with(*recipes: str) -> Judge:
    """A system that fails exactly when all letters of one of the recipes are present."""
    return lambda query: (
        Verdict.FAIL if any(set(recipe) <= set(query.key) for recipe in recipes) else Verdict.PASS
    )


def coin(rate: float, *, seed: int = 0, errors: float = 0.0, impossible: float = 0.0) -> Judge:
    """Verdicts at random, the same for the same query."""

    def judge(query: Query) -> Verdict:
        text = f"{seed} {query.key} {query.number}".encode()
        draw = np.random.default_rng(list(text)).random(2)
        if draw[0] < errors:
            return Verdict.CALL_ERROR
        if draw[0] > 1.0 - impossible:
            return Verdict.INCOMPATIBLE
        return Verdict.FAIL if draw[1] < rate else Verdict.PASS

    return judge


def tiny_search(domain=None, *, run_seed: int = 0, **values):
    return build_search(RevelioConfig(**values), domain=domain or TinyDomain(), run_seed=run_seed)


def play(search, judge: Judge) -> list[tuple[list[Query], list[Outcome]]]:
    """Play to the end and return every batch with its outcomes."""
    batches = []
    while batch := search.ask():
        outcomes = [Outcome(query, judge(query)) for query in batch]
        search.tell(outcomes)
        batches.append((list(batch), outcomes))
    return batches


def words(search) -> list[str]:
    """The sets opened, as words."""
    return ["".join(key) for key in search.trials]
