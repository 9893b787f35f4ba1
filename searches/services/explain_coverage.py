"""Coverage of concept pairs and triples by an explanation, and what some more calls would buy."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from searches.services.domain_store import find_domain
from searches.services.explain_scopes import Scope
from searches.services.explain_sets import Source, failure_modes, shown_sets
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.coverage import (
    Coverage,
    Masks,
    PartState,
    ShownSet,
    coverage,
    safe_bound,
    valid_parts,
)
from vlmlab.core.revelio.coverage_plan import CoveragePlan, plan_coverage
from vlmlab.core.revelio.space import allowed_masks
from vlmlab.core.scenes.concepts import Domain, Key

SIZES = (2, 3)
SIZE_WORDS = {2: "Pairs", 3: "Triples"}
STATE_WORDS = {
    PartState.CONFIRMED: "Confirmed failing",
    PartState.SUSPECTED: "Suspected failing",
    PartState.MIXED: "Shown, some answers wrong",
    PartState.SAFE: "Shown, all answers right",
    PartState.UNKNOWN: "Unknown",
}
LISTED = 24


@dataclass(frozen=True)
class StateCount:
    """How many parts have a state, of how many."""

    state: PartState
    title: str
    count: int
    total: int


@dataclass(frozen=True)
class PartLine:
    """One pair or triple with its answers; ``bound`` is the upper bound where all were right."""

    key: Key
    state: PartState
    title: str
    sets: int
    fails: int
    samples: int
    bound: float | None


@dataclass(frozen=True)
class SizeCoverage:
    """Coverage of pairs, or of triples.

    Attributes:
        found: the arrays of the core.
        states: counts, the worst first; they add up to ``total``.
        median_bound, least_bound: upper bounds of the parts whose answers were all right; None without any.
        unknown: the first unknown parts; ``n_unknown`` is how many there are.
    """

    size: int
    found: Coverage
    states: list[StateCount]
    median_bound: float | None
    least_bound: float | None
    unknown: list[Key]
    n_unknown: int

    @property
    def title(self) -> str:
        """Pairs or triples."""
        return SIZE_WORDS[self.size]

    @property
    def total(self) -> int:
        """All parts."""
        return len(self.found.parts)

    @property
    def shown(self) -> int:
        """Parts that an answered scene showed."""
        return self.found.shown


@dataclass(frozen=True)
class PlannedLine:
    """A set of the plan with how much that is unknown it shows."""

    key: Key
    new_pairs: int
    new_triples: int


@dataclass(frozen=True)
class Gain:
    """Parts known before and after a plan; ``by_chance`` after one of sets drawn at random."""

    title: str
    before: int
    after: int
    by_chance: float
    total: int


@dataclass(frozen=True)
class CoveragePage:
    """Coverage of an explanation and a plan of more calls.

    Attributes:
        sizes: pairs, then triples.
        answers, sets: answered scenes and distinct sets behind them.
        universe: valid sets of the searched sizes.
        is_alone: whether only parts that are valid sets themselves are counted.
    """

    sizes: list[SizeCoverage]
    answers: int
    sets: int
    universe: int
    largest: int
    is_alone: bool
    plan: CoveragePlan
    planned: list[PlannedLine]

    @property
    def rows(self) -> list[tuple[StateCount, ...]]:
        """Counts of each state, one entry a part size."""
        return list(zip(*(size.states for size in self.sizes), strict=True))

    @property
    def gains(self) -> list[Gain]:
        """What would be known after the plan, one a part size."""
        plan = self.plan
        return [
            Gain(size.title, plan.before[place], plan.after[place], plan.random_after[place], size.total)
            for place, size in enumerate(self.sizes)
        ]


@dataclass(frozen=True)
class PlanWish:
    """What a plan may spend."""

    calls: int = 200
    samples_per_set: int = 5
    largest: int = 3


def coverage_page(
    scope: Scope, *, is_alone: bool = True, wish: PlanWish, source: Source = "all"
) -> CoveragePage:
    """Return coverage and plan (three queries)."""
    domain, config = scope.domain, scope.config
    count = len(domain.concepts)
    universe = allowed_masks(domain, config)
    shown = _shown(scope, source)
    modes = failure_modes(scope)
    found = [
        coverage(
            parts,
            shown=shown,
            suspected=_masks(modes.suspected, domain),
            confirmed=_masks(modes.confirmed, domain),
            concept_count=count,
        )
        for parts in _parts(domain.ref, _space_key(config), is_alone=is_alone)
    ]
    plan = plan_coverage(
        universe,
        covers=found,
        calls=wish.calls,
        samples_per_set=wish.samples_per_set,
        largest=wish.largest,
        concept_count=count,
        shown_clean=(sum(one.fails == 0 for one in shown), len(shown)),
        seed=scope.searches[0].run_seed,
    )
    return CoveragePage(
        sizes=[_size(size, one, domain) for size, one in zip(SIZES, found, strict=True)],
        answers=sum(one.samples for one in shown),
        sets=len(shown),
        universe=len(universe),
        largest=min(config.max_set_size, domain.max_size),
        is_alone=is_alone,
        plan=plan,
        planned=[_planned(one.mask, one.new_parts, domain) for one in plan.sets],
    )


def part_lines(size: SizeCoverage, domain: Domain) -> list[PartLine]:
    """Return every part with its answers, the worst and most answered first."""
    found = size.found
    order = np.lexsort((found.parts, -found.samples, -found.states))
    return [_part(found, int(place), domain) for place in order]


@lru_cache(maxsize=16)
def _parts(ref: str, space: tuple[int, tuple[str, ...], tuple[str, ...]], *, is_alone: bool) -> list[Masks]:
    domain = find_domain(ref)
    largest, excluded, required = space
    masks = domain.universe(min(largest, domain.max_size), excluded=excluded, required=required)
    count = len(domain.concepts)
    return [valid_parts(masks, size=size, concept_count=count, is_alone=is_alone) for size in SIZES]


def _space_key(config: RevelioConfig) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    return config.max_set_size, tuple(config.excluded_concepts), tuple(config.required_concepts)


def _shown(scope: Scope, source: Source) -> list[ShownSet]:
    """Return every distinct set with all its answers."""
    totals: dict[int, list[int]] = {}
    for one in shown_sets(scope, source):
        if all(concept in scope.domain.index for concept in one.key):
            row = totals.setdefault(scope.domain.mask(one.key), [0, 0])
            row[0] += one.fails
            row[1] += one.samples
    return [ShownSet(mask, fails, samples) for mask, (fails, samples) in totals.items()]


def _masks(keys: Sequence[Key], domain: Domain) -> list[int]:
    return [domain.mask(key) for key in keys if all(concept in domain.index for concept in key)]


def _size(size: int, found: Coverage, domain: Domain) -> SizeCoverage:
    safe = found.samples[found.states == PartState.SAFE]
    unknown = found.parts[found.states == PartState.UNKNOWN]
    return SizeCoverage(
        size=size,
        found=found,
        states=[
            StateCount(state, title, found.count(state), len(found.parts))
            for state, title in STATE_WORDS.items()
        ],
        median_bound=safe_bound(int(np.median(safe))) if len(safe) else None,
        least_bound=safe_bound(int(safe.max())) if len(safe) else None,
        unknown=[domain.key_of(int(mask)) for mask in unknown[:LISTED]],
        n_unknown=len(unknown),
    )


def _part(found: Coverage, place: int, domain: Domain) -> PartLine:
    state = PartState(int(found.states[place]))
    samples = int(found.samples[place])
    return PartLine(
        key=domain.key_of(int(found.parts[place])),
        state=state,
        title=STATE_WORDS[state],
        sets=int(found.sets[place]),
        fails=int(found.fails[place]),
        samples=samples,
        bound=safe_bound(samples) if state == PartState.SAFE else None,
    )


def _planned(mask: int, parts: Sequence[int], domain: Domain) -> PlannedLine:
    sizes = [part.bit_count() for part in parts]
    return PlannedLine(domain.key_of(mask), sizes.count(2), sizes.count(3))
