"""How much of a domain a pool of pictures can show."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.pools import PicturePool

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


def pictures_by_concept(domain: Domain, pool: PicturePool) -> dict[str, int]:
    """Return how many pictures show each concept of a domain, in catalogue order."""
    counts = Counter(concept for picture in pool.pictures for concept in set(picture.concepts))
    return {concept.id: counts[concept.id] for concept in domain.concepts}


def concepts_without_pictures(domain: Domain, pool: PicturePool) -> tuple[str, ...]:
    """Return the ids of the concepts that no picture of a pool shows."""
    return tuple(concept for concept, count in pictures_by_concept(domain, pool).items() if not count)


def pool_coverage(
    domain: Domain,
    pool: PicturePool,
    *,
    fewest: int,
    is_exact: bool = False,
    max_size: int = COUNTED_SIZE,
    excluded: Collection[str] = (),
) -> PoolCoverage:
    """Count the valid sets that a pool can show, and those with enough pictures for every sample.

    Args:
        domain: its concepts and constraints.
        pool: the pictures.
        fewest: pictures that a set should have.
        is_exact: whether a picture must show no other concept of the domain.
        max_size: largest sets counted.
        excluded: concepts that are left out.
    """
    masks = domain.universe(max_size, excluded=excluded)
    shown = Counter(
        domain.mask(concept for concept in picture.concepts if concept in domain.index)
        for picture in pool.pictures
    )
    counts = np.zeros(masks.shape, dtype=np.int64)
    for mask, number in shown.items():
        fits = masks == mask if is_exact else (masks & mask) == masks
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
