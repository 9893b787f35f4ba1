"""What some more calls would buy: the sets that show the most unknown pairs and triples, found greedily."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from vlmlab.core.revelio.coverage import Coverage, Masks, PartState, parts_within, safe_bound
from vlmlab.core.seeding import rng_for

POOL = 4_000
"""Larger sets that are looked at, drawn by the seed; all sets of up to three concepts are."""
SMALL = 3
RANDOM_PLANS = 20


@dataclass(frozen=True)
class PlannedSet:
    """A set worth asking, with the parts that nothing has shown before it, in the order of the plan."""

    mask: int
    new_parts: tuple[int, ...]


@dataclass(frozen=True)
class CoveragePlan:
    """What a plan would show.

    Attributes:
        sets: in the order in which they add most.
        samples_per_set: scenes of each.
        before, after: parts that are not UNKNOWN now and then, one entry a part size.
        random_after: the same for sets drawn at random, mean over ``RANDOM_PLANS`` plans.
        safe_before, safe_after: median upper bound of the parts that are safe so far and that the plan shows
            again, now and if all its answers are right; None where it shows none again.
        clean_chance: share of the sets shown so far without a wrong answer, (z + 1/2) / (n + 1).
    """

    sets: tuple[PlannedSet, ...]
    samples_per_set: int
    before: tuple[int, ...]
    after: tuple[int, ...]
    random_after: tuple[float, ...]
    safe_before: float | None
    safe_after: float | None
    clean_chance: float

    @property
    def calls(self) -> int:
        """Calls that the plan takes."""
        return len(self.sets) * self.samples_per_set

    @property
    def clean_sets(self) -> float:
        """Sets of the plan that are expected to pass without a wrong answer."""
        return len(self.sets) * self.clean_chance


@dataclass(frozen=True)
class _Incidence:
    """Which candidate shows which part, both ways round."""

    by_set: list[npt.NDArray[np.int64]]
    by_part: dict[int, npt.NDArray[np.int64]]


def plan_coverage(
    universe: Masks,
    *,
    covers: Sequence[Coverage],
    calls: int,
    samples_per_set: int,
    largest: int,
    concept_count: int,
    shown_clean: tuple[int, int],
    seed: int,
    level: float = 0.95,
) -> CoveragePlan:
    """Return the sets that show the most unknown parts, one after the other.

    Each set is worth the unknown parts it shows, of every size; the largest gain goes first, ties are broken
    by the seed. Greedy covering reaches at least 63 % of what the best plan of the same length covers
    (Nemhauser, Wolsey and Fisher 1978), within the sets that are looked at.

    Args:
        universe: ``(n,)`` valid sets.
        covers: what is known, one a part size.
        calls: answers to spend.
        samples_per_set: scenes of each set.
        largest: concepts of the largest set to plan.
        concept_count: of the domain.
        shown_clean: sets without a wrong answer, and all sets, so far.
        seed: draws the candidates and breaks ties.
        level: of bounds.
    """
    rng = rng_for(seed, "coverage plan")
    candidates = _candidates(universe, largest, rng)
    wanted = min(calls // samples_per_set, len(candidates))
    offsets = np.cumsum([0, *(len(cover.parts) for cover in covers)])
    incidence = _incidence(candidates, covers, concept_count)
    unknown = np.concatenate([cover.states == PartState.UNKNOWN for cover in covers])
    chosen = _greedy(unknown, incidence, wanted=wanted, rng=rng)
    left = unknown.copy()
    left[[part for _, new in chosen for part in new]] = False
    masks = np.concatenate([cover.parts for cover in covers])
    plan = [PlannedSet(int(candidates[row]), tuple(int(masks[part]) for part in new)) for row, new in chosen]
    bounds = _bounds(
        covers, [row for row, _ in chosen], incidence, samples_per_set=samples_per_set, level=level
    )
    clean, shown = shown_clean
    return CoveragePlan(
        sets=tuple(plan),
        samples_per_set=samples_per_set,
        before=tuple(int((~part).sum()) for part in _split(unknown, offsets)),
        after=tuple(int((~part).sum()) for part in _split(left, offsets)),
        random_after=_random_after(unknown, offsets, incidence, wanted=len(plan), rng=rng),
        safe_before=bounds[0],
        safe_after=bounds[1],
        clean_chance=(clean + 0.5) / (shown + 1.0),
    )


def _greedy(
    unknown: npt.NDArray[np.bool_], incidence: _Incidence, *, wanted: int, rng: np.random.Generator
) -> list[tuple[int, tuple[int, ...]]]:
    """Return rows of sets with the unknown parts that each is the first to show, largest gain first."""
    gains = np.array([int(unknown[parts].sum()) for parts in incidence.by_set], dtype=np.float64)
    gains += rng.random(len(gains)) * 0.5  # below one part: ties only
    left = unknown.copy()
    chosen: list[tuple[int, tuple[int, ...]]] = []
    for _ in range(wanted):
        best = int(np.argmax(gains)) if len(gains) else 0
        if not len(gains) or gains[best] < 1.0:
            break
        new = [int(part) for part in incidence.by_set[best] if left[part]]
        chosen.append((best, tuple(new)))
        left[new] = False
        for part in new:
            gains[incidence.by_part[part]] -= 1.0
    return chosen


def _candidates(universe: Masks, largest: int, rng: np.random.Generator) -> Masks:
    sizes = np.bitwise_count(universe)
    small = universe[sizes <= min(SMALL, largest)]
    large = universe[(sizes > SMALL) & (sizes <= largest)]
    if len(large) > POOL:
        large = large[np.sort(rng.choice(len(large), size=POOL, replace=False))]
    return np.concatenate([small, large])


def _incidence(candidates: Masks, covers: Sequence[Coverage], concept_count: int) -> _Incidence:
    rows, parts, offset = [], [], 0
    for cover in covers:
        size = int(np.bitwise_count(cover.parts[:1]).sum()) if len(cover.parts) else 0
        if size:
            row, mask = parts_within(candidates, size=size, concept_count=concept_count)
            place = np.minimum(np.searchsorted(cover.parts, mask), len(cover.parts) - 1)
            is_part = cover.parts[place] == mask
            rows.append(row[is_part])
            parts.append(place[is_part] + offset)
        offset += len(cover.parts)
    all_rows = np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64)
    all_parts = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
    return _Incidence(
        by_set=_grouped(all_rows, all_parts, len(candidates)),
        by_part=dict(enumerate(_grouped(all_parts, all_rows, offset))),
    )


def _grouped(
    keys: npt.NDArray[np.int64], values: npt.NDArray[np.int64], count: int
) -> list[npt.NDArray[np.int64]]:
    order = np.argsort(keys, kind="stable")
    starts = np.searchsorted(keys[order], np.arange(1, count))
    return np.split(values[order], starts)


def _split(values: npt.NDArray[np.bool_], offsets: npt.NDArray[np.int64]) -> list[npt.NDArray[np.bool_]]:
    return [values[low:high] for low, high in pairwise(offsets)]


def _random_after(
    unknown: npt.NDArray[np.bool_],
    offsets: npt.NDArray[np.int64],
    incidence: _Incidence,
    *,
    wanted: int,
    rng: np.random.Generator,
) -> tuple[float, ...]:
    totals = np.zeros(len(offsets) - 1)
    for _ in range(RANDOM_PLANS):
        left = unknown.copy()
        for row in rng.choice(len(incidence.by_set), size=wanted, replace=False):
            left[incidence.by_set[int(row)]] = False
        totals += [int((~part).sum()) for part in _split(left, offsets)]
    return tuple(float(total) for total in totals / RANDOM_PLANS)


def _bounds(
    covers: Sequence[Coverage],
    chosen: Sequence[int],
    incidence: _Incidence,
    *,
    samples_per_set: int,
    level: float,
) -> tuple[float | None, float | None]:
    """Return the median bound of parts that are safe so far and are shown again, now and if all pass."""
    samples = np.concatenate([cover.samples for cover in covers])
    is_safe = np.concatenate([cover.states == PartState.SAFE for cover in covers])
    more = np.zeros(len(samples), dtype=np.int64)
    for row in chosen:
        more[incidence.by_set[row]] += samples_per_set
    again = np.nonzero(is_safe & (more > 0))[0]
    if not len(again):
        return None, None
    before = [safe_bound(int(samples[part]), level) for part in again]
    after = [safe_bound(int(samples[part] + more[part]), level) for part in again]
    return float(np.median(before)), float(np.median(after))
