"""How much of a domain a pool of pictures can show."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.domain_decisions import deciding_rules
from vlmlab.core.scenes.pools import PicturePool
from vlmlab.core.scenes.universe import Masks

Match = Literal["contains", "same_answer", "exact"]
"""Which pictures may stand for a set: see ``fits_set``."""

COUNTED_SIZE = 3  # larger sets are many and rarely photographed


@dataclass(frozen=True)
class PoolCoverage:
    """What a pool can show of a domain.

    Attributes:
        n_pictures: in the pool.
        by_concept: canonical id -> number of pictures, in catalogue order.
        max_size: largest sets that were counted.
        n_sets: valid sets up to that size.
        n_shown: those with a picture at least.
        n_ample: those with ``fewest`` pictures at least.
        fewest: pictures that a set should have, so that each sample can be another one.
    """

    n_pictures: int
    by_concept: dict[str, int]
    max_size: int
    n_sets: int
    n_shown: int
    n_ample: int
    fewest: int

    @property
    def without(self) -> tuple[str, ...]:
        """The concepts that no picture shows."""
        return tuple(concept for concept, count in self.by_concept.items() if not count)


def fits_set(domain: Domain, shown: Key, wanted: Key, *, match: Match) -> bool:
    """Return whether a picture may stand for a set.

    Args:
        domain: of the set.
        shown: canonical ids of all that the picture shows.
        wanted: the set, canonical and valid.
        match: ``contains``: it shows all of the set; ``same_answer``: and whatever else it shows leaves the
            question and the expected answer as they are; ``exact``: and no other concept of the domain.
    """
    if match == "exact":
        return set(shown) == set(wanted)
    if not set(shown) >= set(wanted):
        return False
    return match == "contains" or _asked(domain, shown) == _asked(domain, wanted)


def _asked(domain: Domain, key: Key) -> tuple[str, str] | None:
    """Return what is asked about a picture of a set and the expected answer; None where no rule says."""
    try:
        decision = domain.decide(key)
    except ConceptError:
        return None
    return decision.question, decision.action


def pictures_by_concept(domain: Domain, pool: PicturePool) -> dict[str, int]:
    """Return how many pictures show each concept of a domain, in catalogue order."""
    counts = Counter(concept for picture in pool.pictures for concept in set(picture.concepts))
    return {concept.id: counts[concept.id] for concept in domain.concepts}


def concepts_without_pictures(domain: Domain, pool: PicturePool) -> tuple[str, ...]:
    """Return the ids of the concepts that no picture of a pool shows."""
    return tuple(concept for concept, count in pictures_by_concept(domain, pool).items() if not count)


def _asked_of_many(domain: Domain, masks: Masks) -> npt.NDArray[np.int64]:
    """Return ``(n,)`` numbers: sets with equal ones are asked and answered alike, see ``_asked``."""
    asked: list[tuple[str, str] | None] = [(rule.question, rule.action) for rule in domain.rules]
    asked.append(None)  # where no rule decides: NO_RULE is the last place
    numbers = {one: number for number, one in enumerate(asked)}
    return np.array([numbers[one] for one in asked], dtype=np.int64)[deciding_rules(domain, masks)]


def pool_coverage(
    domain: Domain,
    pool: PicturePool,
    *,
    fewest: int,
    match: Match = "contains",
    max_size: int = COUNTED_SIZE,
    excluded: Collection[str] = (),
) -> PoolCoverage:
    """Count the valid sets that a pool can show, and those with enough pictures for every sample.

    Args:
        domain: its concepts and constraints.
        pool: the pictures.
        fewest: pictures that a set should have.
        match: which pictures may stand for a set.
        max_size: largest sets counted.
        excluded: concepts that are left out.
    """
    masks = domain.universe(max_size, excluded=excluded)
    shown = Counter(
        domain.mask(concept for concept in picture.concepts if concept in domain.index)
        for picture in pool.pictures
    )
    counts = np.zeros(masks.shape, dtype=np.int64)
    if match == "same_answer":
        asked = _asked_of_many(domain, masks)
        asked_of_shown = dict(
            zip(shown, _asked_of_many(domain, np.array(list(shown), np.int64)), strict=True)
        )
    for mask, number in shown.items():
        fits = masks == mask if match == "exact" else (masks & mask) == masks
        if match == "same_answer":
            fits &= asked == asked_of_shown[mask]
        counts += number * fits
    return PoolCoverage(
        n_pictures=len(pool.pictures),
        by_concept=pictures_by_concept(domain, pool),
        max_size=min(max_size, domain.max_size),
        n_sets=len(masks),
        n_shown=int((counts >= 1).sum()),
        n_ample=int((counts >= fewest).sum()),
        fewest=fewest,
    )


def well_shown_size(
    domain: Domain, pool: PicturePool, *, match: Match = "contains", excluded: Collection[str] = ()
) -> int:
    """Return the largest size of which a pool shows half the valid sets or more, and of every smaller size.

    Sizes up to ``COUNTED_SIZE`` are looked at; 1 where even single concepts are rarely shown.
    """
    best, n_sets, n_shown = 1, 0, 0
    for size in range(1, min(COUNTED_SIZE, domain.max_size) + 1):
        cover = pool_coverage(domain, pool, fewest=1, match=match, max_size=size, excluded=excluded)
        sets, shown = cover.n_sets - n_sets, cover.n_shown - n_shown
        if 2 * shown < sets:
            break
        best = size if sets else best
        n_sets, n_shown = cover.n_sets, cover.n_shown
    return best
