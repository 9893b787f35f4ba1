"""Measures how often the concept sets of a domain become a picture, and what stands in the way."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.render.fault_words import in_labels, without_numbers
from vlmlab.core.scenes.samplers import Sampler
from vlmlab.core.scenes.scene import SceneDescription
from vlmlab.core.seeding import derive_seed, rng_for
from vlmlab.core.stats import Interval, clopper_pearson, wilson

MAX_ATTEMPTS = 8
SMALL_SIZE, SMALL_GOAL, LARGE_GOAL = 3, 0.99, 0.95
LISTED = 12

FaultCheck = Callable[[SceneDescription], str | None]


@dataclass(frozen=True)
class SetToCheck:
    """A concept set and the scene seed it is tried with."""

    key: Key
    seed: int


@dataclass(frozen=True)
class SetResult:
    """What became of one set.

    Attributes:
        key, seed: what was tried.
        attempts: layouts tried, the good one included.
        is_drawn: whether one of them shows everything.
        reasons: why each other layout was rejected.
    """

    key: Key
    seed: int
    attempts: int
    is_drawn: bool
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class SizeRow:
    """The sets of one size.

    Attributes:
        size: concepts in a set.
        valid_sets: how many such sets the domain has.
        checked, drawn: how many were tried, and became a picture.
        mean_attempts: over the sets that became a picture.
        likely: Wilson's interval of the rate.
        exact: that of Clopper and Pearson.
        goal: the rate that is asked for.
    """

    size: int
    valid_sets: int
    checked: int
    drawn: int
    mean_attempts: float
    likely: Interval
    exact: Interval
    goal: float

    @property
    def rate(self) -> float:
        """Share of the checked sets that became a picture."""
        return self.drawn / self.checked if self.checked else 0.0

    @property
    def meets_goal(self) -> bool:
        """Whether the rate reaches the goal."""
        return self.rate >= self.goal


@dataclass(frozen=True)
class Blame:
    """Concepts whose sets fail: how many of the checked sets with them failed."""

    concepts: Key
    checked: int
    failed: int


@dataclass(frozen=True)
class PresenceReport:
    """How often the sets of a domain become a picture.

    Attributes:
        domain_ref: the version that was checked.
        rows: one a size.
        failed: the sets that became no picture.
        concepts, pairs: those whose sets fail most, the worst first.
        reasons: why layouts were rejected, with how often, the most frequent first.
    """

    domain_ref: str
    rows: tuple[SizeRow, ...]
    failed: tuple[SetResult, ...]
    concepts: tuple[Blame, ...]
    pairs: tuple[Blame, ...]
    reasons: tuple[tuple[str, int], ...]

    @property
    def meets_goals(self) -> bool:
        """Whether every size reaches its goal."""
        return all(row.meets_goal for row in self.rows)


def draw_sets(domain: Domain, *, count: int, seed: int, max_size: int | None = None) -> list[SetToCheck]:
    """Return random valid sets, about as many of each size, each with a scene seed of its own.

    A size that has fewer valid sets than its share is tried with several scene seeds a set.

    Args:
        domain: whose sets.
        count: how many in all.
        seed: of the draw.
        max_size: the largest size; default and upper limit: the domain's.
    """
    masks = domain.universe(max_size)
    sizes = np.bitwise_count(masks)
    present = [int(size) for size in np.unique(sizes)]
    chosen: list[SetToCheck] = []
    for position, size in enumerate(present):
        share = count // len(present) + (position >= len(present) - count % len(present))
        stratum = masks[sizes == size]
        rng = rng_for(seed, "check_scenes", size)
        rows = rng.permutation(len(stratum))
        for number in range(share):
            key = domain.key_of(stratum[rows[number % len(rows)]])
            chosen.append(SetToCheck(key, derive_seed(seed, "check_scenes", size, number) % 2**32))
    return chosen


def check_set(
    one: SetToCheck, *, domain: Domain, sample: Sampler, fault: FaultCheck, max_attempts: int = MAX_ATTEMPTS
) -> SetResult:
    """Try layouts of a set until one shows everything, as the generator does, but draw nothing.

    Args:
        one: the set.
        domain: where it is from.
        sample: makes the layouts.
        fault: says what a layout fails to show.
        max_attempts: layouts tried at most.
    """
    reasons: list[str] = []
    for attempt in range(max_attempts):
        try:
            description = sample(one.key, seed=one.seed, attempt=attempt, domain=domain)
            reason = fault(description)
        except GenerationError as error:
            reasons.append(error.message.rstrip("."))
            continue
        if reason is None:
            return SetResult(one.key, one.seed, attempt + 1, is_drawn=True, reasons=tuple(reasons))
        reasons.append(in_labels(reason, description, domain))
    return SetResult(one.key, one.seed, max_attempts, is_drawn=False, reasons=tuple(reasons))


def presence_report(domain: Domain, results: Sequence[SetResult]) -> PresenceReport:
    """Return the rates, their intervals and what fails most."""
    failed = tuple(one for one in results if not one.is_drawn)
    kinds = Counter(without_numbers(reason) for one in results for reason in one.reasons)
    return PresenceReport(
        domain_ref=domain.ref,
        rows=_rows(domain, results),
        failed=failed,
        concepts=_blamed(results, 1),
        pairs=_blamed(results, 2),
        reasons=tuple(sorted(kinds.items(), key=lambda one: (-one[1], one[0]))[:LISTED]),
    )


def _rows(domain: Domain, results: Sequence[SetResult]) -> tuple[SizeRow, ...]:
    population = Counter(int(size) for size in np.bitwise_count(domain.universe()))
    rows = []
    for size in sorted({len(one.key) for one in results}):
        checked = [one for one in results if len(one.key) == size]
        drawn = [one for one in checked if one.is_drawn]
        rows.append(
            SizeRow(
                size=size,
                valid_sets=population[size],
                checked=len(checked),
                drawn=len(drawn),
                mean_attempts=sum(one.attempts for one in drawn) / len(drawn) if drawn else float("nan"),
                likely=wilson(len(drawn), len(checked)),
                exact=clopper_pearson(len(drawn), len(checked)),
                goal=SMALL_GOAL if size <= SMALL_SIZE else LARGE_GOAL,
            )
        )
    return tuple(rows)


def _blamed(results: Sequence[SetResult], number: int) -> tuple[Blame, ...]:
    """Return the groups of ``number`` concepts whose sets fail most often."""
    checked: Counter[Key] = Counter()
    failed: Counter[Key] = Counter()
    for one in results:
        for group in combinations(one.key, number):
            checked[group] += 1
            failed[group] += not one.is_drawn
    blamed = [Blame(group, checked[group], count) for group, count in failed.items() if count]
    blamed.sort(key=lambda one: (-one.failed, -one.failed / one.checked, one.concepts))
    return tuple(blamed[:LISTED])
