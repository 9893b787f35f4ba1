"""The concept sets a search may ask, as bit masks and as arrays of members."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from vlmlab.core.errors import ConfigError
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.types import Key

IndexArray = npt.NDArray[np.intp]


class SearchDomain(Protocol):
    """What a search must know of a domain."""

    @property
    def concepts(self) -> Sequence[object]:
        """The catalogue; bit j of a mask is its j-th entry."""
        ...

    @property
    def max_size(self) -> int:
        """Concepts in the largest valid set."""
        ...

    def universe(
        self,
        max_size: int | None = None,
        *,
        excluded: Collection[str] = (),
        required: Collection[str] = (),
    ) -> npt.NDArray[np.int64]:
        """Return the masks of all valid sets, sorted by (size, mask)."""
        ...

    def key_of(self, mask: int) -> Key:
        """Return the concept ids of a mask in catalogue order."""
        ...

    def mask(self, key: Iterable[str]) -> int:
        """Return the bits of a concept set."""
        ...


@dataclass(frozen=True)
class SearchSpace:
    """All concept sets that one search may ask; a set is its position in the sorted masks.

    Attributes:
        masks: ``(n,)`` int64, sorted by (size, mask).
        sizes: ``(n,)`` int8, concepts in each set.
        members: ``(n, w)`` uint8, ascending concept numbers, padded with ``concept_count``.
        concept_count: concepts in the catalogue.
    """

    domain: SearchDomain
    masks: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int8]
    members: npt.NDArray[np.uint8]
    concept_count: int
    _by_mask: IndexArray
    _sorted_masks: npt.NDArray[np.int64]

    @property
    def smallest(self) -> int:
        """Size of the smallest set."""
        return int(self.sizes[0])

    @property
    def largest(self) -> int:
        """Size of the largest set."""
        return int(self.sizes[-1])

    def of_size(self, size: int) -> IndexArray:
        """Return the positions of all sets of one size, ascending."""
        low, high = np.searchsorted(self.sizes, [size, size + 1])
        return np.arange(int(low), int(high), dtype=np.intp)

    def find(self, masks: npt.NDArray[np.int64]) -> IndexArray:
        """Return the position of each mask, -1 where it is not in the space."""
        place = np.searchsorted(self._sorted_masks, masks)
        place = np.minimum(place, len(self._sorted_masks) - 1)
        found = self._sorted_masks[place] == masks
        return np.where(found, self._by_mask[place], -1).astype(np.intp)

    def key(self, index: int) -> Key:
        """Return the concept ids of the set at one position."""
        return self.domain.key_of(int(self.masks[index]))


def allowed_masks(domain: SearchDomain, config: RevelioConfig) -> npt.NDArray[np.int64]:
    """Return the masks of the sets of a domain that a configuration allows; cheap, unlike the space of them.

    Raises:
        ConfigError: none is left.
        ConceptError: an excluded or required concept is unknown.
    """
    masks = domain.universe(
        min(config.max_set_size, domain.max_size),
        excluded=config.excluded_concepts,
        required=config.required_concepts,
    )
    if len(masks) == 0:
        raise ConfigError(
            "No valid concept set is left to search.",
            hint="Exclude or require fewer concepts, or allow larger sets.",
            field="required_concepts" if config.required_concepts else "excluded_concepts",
        )
    return masks


def build_space(domain: SearchDomain, config: RevelioConfig) -> SearchSpace:
    """Return the sets of a domain that a configuration allows.

    Raises:
        ConfigError: none is left.
        ConceptError: an excluded or required concept is unknown.
    """
    return space_of(domain, allowed_masks(domain, config))


def space_of(domain: SearchDomain, masks: npt.NDArray[np.int64]) -> SearchSpace:
    """Return the space of the given masks, which must be sorted by (size, mask) and not empty."""
    count = len(domain.concepts)
    bits = (masks[:, None] >> np.arange(count, dtype=np.int64)) & 1
    sizes = bits.sum(axis=1)
    members = np.full((len(masks), int(sizes.max())), count, dtype=np.uint8)
    rows, concepts = np.nonzero(bits)
    starts = np.cumsum(sizes) - sizes
    members[rows, np.arange(len(rows)) - np.repeat(starts, sizes)] = concepts
    order = np.argsort(masks, kind="stable")
    return SearchSpace(domain, masks, sizes.astype(np.int8), members, count, order, masks[order])
