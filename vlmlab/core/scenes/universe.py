"""Every valid concept set of a domain as an array of bit masks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vlmlab.core.errors import ConceptError

Masks = npt.NDArray[np.int64]


class UniverseTooLargeError(ConceptError):
    """A domain has more sets than may be held in memory."""


@dataclass(frozen=True)
class MaskPattern:
    """Matches a mask that has a bit of each element and none of the forbidden bits."""

    elements: tuple[int, ...]
    forbidden: int = 0

    def matches(self, masks: Masks) -> npt.NDArray[np.bool_]:
        """Return for each mask whether it matches."""
        met = np.asarray((masks & self.forbidden) == 0, dtype=np.bool_)
        for element in self.elements:
            met &= (masks & element) != 0
        return met


@dataclass(frozen=True)
class MaskConstraint:
    """A constraint over bit masks.

    Attributes:
        exclusive: at most one of these bits may be set (0 = no such demand).
        condition: the demand ``needed`` applies when one of these bits is set; -1 = always.
        needed: at least one of these bits must be set (0 = no such demand).
        left, right: no bit of the one may be set together with a bit of the other (0 = no such demand).
        patterns: at least one of these must match (empty = no such demand).
    """

    exclusive: int = 0
    condition: int = 0
    needed: int = 0
    left: int = 0
    right: int = 0
    patterns: tuple[MaskPattern, ...] = ()

    @property
    def clash(self) -> "MaskConstraint":
        """The part that no further concept can heal."""
        return MaskConstraint(exclusive=self.exclusive, left=self.left, right=self.right)

    def holds(self, masks: Masks) -> npt.NDArray[np.bool_]:
        """Return for each mask whether the constraint is met."""
        met = np.ones(masks.shape, dtype=np.bool_)
        if self.exclusive:
            chosen = masks & self.exclusive
            met &= (chosen & (chosen - 1)) == 0
        if self.needed:
            met &= ((masks & self.condition) == 0) | ((masks & self.needed) != 0)
        if self.left and self.right:
            met &= ((masks & self.left) == 0) | ((masks & self.right) == 0)
        if self.patterns:
            matched = np.zeros(masks.shape, dtype=np.bool_)
            for pattern in self.patterns:
                matched |= pattern.matches(masks)
            met &= matched
        return met


def enumerate_masks(
    count: int, constraints: Sequence[MaskConstraint], *, max_size: int, limit: int | None = None
) -> Masks:
    """Return the masks of all sets of size 1..max_size that meet every constraint.

    Sets grow by one higher bit at a time. A clash of concepts can never be healed by adding
    more, so such sets are cut at once; what a set still needs is checked at the end.

    Args:
        count: number of concepts (at most 62).
        constraints: what each set must meet.
        max_size: the largest set size.
        limit: the most sets that are looked at, over all sizes.

    Returns:
        ``(n,)`` int64, read-only, sorted by size, then by mask.

    Raises:
        UniverseTooLargeError: there are more sets than ``limit``.
    """
    if not 0 < count <= 62:
        raise ValueError(f"count must be in 1..62, got {count}")
    bits = np.int64(1) << np.arange(count, dtype=np.int64)
    clashes = [one.clash for one in constraints if one.exclusive or one.left]
    layer = np.zeros(1, dtype=np.int64)
    found: list[Masks] = []
    looked_at = 0
    for size in range(1, max_size + 1):
        looked_at += sum(int(np.searchsorted(layer, bit)) for bit in bits)
        if limit is not None and looked_at > limit:
            raise UniverseTooLargeError(
                f"There are more than {limit:,} sets of up to {size} concepts.",
                hint="Lower the largest set, take concepts out, or say which of them exclude each other.",
                field="max_size",
            )
        grown = [layer[layer < bit] | bit for bit in bits]
        layer = np.sort(np.concatenate(grown))
        layer = layer[_all_hold(clashes, layer)]
        found.append(layer[_all_hold(constraints, layer)])
    masks = np.concatenate(found) if found else np.zeros(0, dtype=np.int64)
    masks.setflags(write=False)
    return masks


def _all_hold(constraints: Sequence[MaskConstraint], masks: Masks) -> npt.NDArray[np.bool_]:
    met = np.ones(masks.shape, dtype=np.bool_)
    for constraint in constraints:
        met &= constraint.holds(masks)
    return met
