"""Which pairs and triples of concepts a search has shown: failing, safe so far with a bound, or unknown."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import combinations

import numpy as np
import numpy.typing as npt

from vlmlab.core.checks import check_share

Masks = npt.NDArray[np.int64]
Counts = npt.NDArray[np.int64]


class PartState(IntEnum):
    """What is known of a pair or triple, from nothing to a confirmed failure mode."""

    UNKNOWN = 0
    SAFE = 1
    MIXED = 2
    SUSPECTED = 3
    CONFIRMED = 4


@dataclass(frozen=True)
class ShownSet:
    """A concept set with its answers, however many they are."""

    mask: int
    fails: int
    samples: int


@dataclass(frozen=True)
class Coverage:
    """What is known of every part (pair or triple) of a universe; all arrays are ``(n,)`` in its order.

    Attributes:
        parts: masks, sorted.
        sets: sets shown that contain it.
        fails, samples: their answers.
        states: ``PartState`` of each.
    """

    parts: Masks
    sets: Counts
    fails: Counts
    samples: Counts
    states: npt.NDArray[np.int8]

    def count(self, state: PartState) -> int:
        """Return how many parts have a state."""
        return int((self.states == state).sum())

    @property
    def shown(self) -> int:
        """How many parts were shown in a scene that was answered."""
        return int((self.samples > 0).sum())


def safe_bound(samples: int, level: float = 0.95) -> float:
    """Return the exact one-sided upper bound of a rate after ``samples`` answers that were all right.

    1 - (1 - level)^(1 / n): 5 of 5 right answers leave up to 0.451 at 95 %, 149 leave 0.02; 1 for none.

    Raises:
        ValueError: the level or the number is out of range.
    """
    check_share("level", level)
    if samples < 0:
        raise ValueError(f"samples must be at least 0, got {samples}")
    return 1.0 if samples == 0 else float(1.0 - (1.0 - level) ** (1.0 / samples))


def parts_within(masks: Masks, *, size: int, concept_count: int) -> tuple[npt.NDArray[np.int64], Masks]:
    """Return every part of ``size`` concepts of each set.

    Args:
        masks: ``(n,)`` sets.
        size: 2 or 3, say.
        concept_count: bits that a mask may have.

    Returns:
        Row of the set and mask of the part, one entry a (set, part).
    """
    masks = np.asarray(masks, dtype=np.int64)
    bits = (masks[:, None] >> np.arange(concept_count, dtype=np.int64)) & 1
    sizes = bits.sum(axis=1)
    rows_of: list[npt.NDArray[np.int64]] = []
    found: list[Masks] = []
    for width in sorted({int(one) for one in sizes if one >= size}):
        rows = np.nonzero(sizes == width)[0]
        members = np.nonzero(bits[rows])[1].reshape(len(rows), width)
        single = np.int64(1) << members.astype(np.int64)
        for chosen in combinations(range(width), size):
            rows_of.append(rows.astype(np.int64))
            found.append(single[:, list(chosen)].sum(axis=1))
    if not found:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    return np.concatenate(rows_of), np.concatenate(found)


def valid_parts(universe: Masks, *, size: int, concept_count: int, is_alone: bool) -> Masks:
    """Return the pairs or triples of a universe of valid sets, sorted.

    Args:
        universe: ``(n,)`` valid sets.
        size: concepts of a part.
        concept_count: of the domain.
        is_alone: only parts that are a valid set themselves (driving: 344 pairs, 3,024 triples); else every
            part that some valid set contains.
    """
    if is_alone:
        return np.sort(universe[np.bitwise_count(universe) == size])
    return np.unique(parts_within(universe, size=size, concept_count=concept_count)[1])


def coverage(
    parts: Masks,
    *,
    shown: Sequence[ShownSet],
    suspected: Sequence[int],
    confirmed: Sequence[int],
    concept_count: int,
) -> Coverage:
    """Return what is known of each part.

    A part is CONFIRMED or SUSPECTED where it lies inside a failure mode, or a failure mode inside it. Else it
    is UNKNOWN without an answer, SAFE where all answers of all sets with it were right, MIXED where some were
    wrong.

    Args:
        parts: masks of one size, sorted.
        shown: sets with answers.
        suspected: masks of failure modes that a search suspects.
        confirmed: masks of failure modes that fresh scenes confirmed.
        concept_count: of the domain.
    """
    size = int(np.bitwise_count(parts[:1]).sum()) if len(parts) else 0
    answered = [one for one in shown if one.samples > 0]
    masks = np.array([one.mask for one in answered], dtype=np.int64)
    rows, held = parts_within(masks, size=size, concept_count=concept_count) if size else (masks, masks)
    places = np.searchsorted(parts, held)
    is_part = np.zeros(len(held), dtype=np.bool_)
    inside = places < len(parts)
    is_part[inside] = parts[places[inside]] == held[inside]
    rows, places = rows[is_part], places[is_part]

    def total(values: Sequence[int]) -> Counts:
        weights = np.array(values, dtype=np.float64)[rows] if len(rows) else None
        return np.bincount(places, weights=weights, minlength=len(parts)).astype(np.int64)

    fails, samples = total([one.fails for one in answered]), total([one.samples for one in answered])
    states = np.where(samples == 0, PartState.UNKNOWN, np.where(fails == 0, PartState.SAFE, PartState.MIXED))
    states = states.astype(np.int8)
    for modes, state in ((suspected, PartState.SUSPECTED), (confirmed, PartState.CONFIRMED)):
        for mode in modes:
            states[((parts & mode) == mode) | ((parts & mode) == parts)] = state
    return Coverage(parts, total([1] * len(answered)), fails, samples, states)
