"""Which sets get a picture: those that help the most valid sets to have enough."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product

from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.pool_coverage import fits_set

SCENE = "hall"
"""The concept that every picture shows."""

ENOUGH = 5
LARGEST = 4
FEWEST_OWN = 2
"""Pictures of each single concept, and of each set that a rule speaks of, that show nothing else."""

WORTH = {1: 16.0, 2: 4.0, 3: 1.0, 4: 0.25}
"""What a picture more is worth to a set of that size while it has fewer than ``ENOUGH``."""

CROWDED = {1: 1.0, 2: 1.0, 3: 0.8, 4: 0.6}
"""Pictures of many things are worth less: each of them is harder to see."""


BULKY = frozenset({"forklift_parked", "forklift_moving", "pallet_stack_straight", "pallet_stack_leaning"})
IN_THE_WALL = frozenset({"fire_exit_clear", "fire_exit_blocked", "dock_door_open"})


def is_roomy(key: Key) -> bool:
    """Return whether the aisle is wide enough to see all of a set: two bulky things hide what is behind."""
    shown = set(key)
    return len(shown & BULKY) < 2 or (len(key) < LARGEST and not shown & IN_THE_WALL)


def valid_sets(domain: Domain) -> list[Key]:
    """Return the valid sets of up to ``LARGEST`` concepts without the hall, in a fixed order."""
    masks = domain.universe(LARGEST, excluded=(SCENE,))
    return sorted((domain.key_of(int(mask)) for mask in masks), key=lambda key: (len(key), key))


def fits(shown: Key, wanted: Key, domain: Domain) -> bool:
    """Return whether a picture can stand for a set: it shows it, with the same question and answer."""
    return fits_set(domain, shown, wanted, match="same_answer")


def _helped(domain: Domain) -> dict[Key, list[Key]]:
    """Return for each set that may get a picture the valid sets that the picture can stand for."""
    asked = {}
    for one in valid_sets(domain):
        decision = domain.decide(one)
        asked[one] = decision.question, decision.action
    return {
        shown: [part for part in _parts(shown) if asked.get(part) == asked[shown]]
        for shown in asked
        if is_roomy(shown)
    }


def _parts(key: Key) -> Iterator[Key]:
    for size in range(1, len(key) + 1):
        yield from combinations(key, size)


def rule_sets(domain: Domain) -> list[Key]:
    """Return the valid sets that hold exactly what a rule speaks of, in the order of the rules."""
    found: dict[Key, None] = {}
    for rule in domain.rules:
        for elements in product(*rule.condition.elements):
            found[domain.canonical(elements)] = None
    return [one for one in found if domain.is_compatible(one)]


def chosen_sets(domain: Domain, *, count: int) -> list[Key]:
    """Return the set of every picture, ``hall`` left out.

    Each valid single concept comes ``FEWEST_OWN`` times by itself, and so does each set that holds exactly
    what a rule speaks of; then, time after time, the set that brings the most valid sets nearer to ``ENOUGH``
    pictures.

    Args:
        domain: the warehouse.
        count: number of pictures.
    """
    helped = _helped(domain)
    alone = [one for one in helped if len(one) == 1]
    own = [*alone, *(one for one in rule_sets(domain) if one in helped and one not in alone)]
    chosen = [one for one in own for _ in range(FEWEST_OWN)][:count]
    counts: Counter[Key] = Counter()
    for shown in chosen:
        counts.update(helped[shown])
    while len(chosen) < count:
        best = max(helped, key=lambda shown: _gain(helped[shown], counts) * CROWDED[len(shown)])
        chosen.append(best)
        counts.update(helped[best])
    return chosen


def _gain(sets: Sequence[Key], counts: Counter[Key]) -> float:
    return sum(WORTH[len(one)] for one in sets if counts[one] < ENOUGH)


def with_enough(domain: Domain, shown: Iterable[Key]) -> tuple[int, int]:
    """Return how many valid sets have ``ENOUGH`` pictures among some, and how many valid sets there are."""
    pictures = list(shown)
    every = valid_sets(domain)
    ample = sum(sum(fits(one, wanted, domain) for one in pictures) >= ENOUGH for wanted in every)
    return ample, len(every)
