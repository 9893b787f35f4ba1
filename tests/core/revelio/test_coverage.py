"""Coverage of pairs and triples, checked against plain sets, and the plan of more calls."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from vlmlab.core.revelio.coverage import (
    PartState,
    ShownSet,
    coverage,
    parts_within,
    safe_bound,
    valid_parts,
)
from vlmlab.core.revelio.coverage_plan import plan_coverage
from vlmlab.core.scenes.catalogue import load_domain

from .tiny import TinyDomain

DOMAIN = TinyDomain("abcde", max_size=3, forbidden=["ab"])
UNIVERSE = DOMAIN.universe()
COUNT = len(DOMAIN.concepts)


def masks(*keys: str) -> list[int]:
    return [DOMAIN.mask(key) for key in keys]


def cover(size: int, shown: dict[str, tuple[int, int]], *, suspected=(), confirmed=()):
    return coverage(
        valid_parts(UNIVERSE, size=size, concept_count=COUNT, is_alone=True),
        shown=[ShownSet(DOMAIN.mask(key), *counts) for key, counts in shown.items()],
        suspected=masks(*suspected),
        confirmed=masks(*confirmed),
        concept_count=COUNT,
    )


def states(found) -> dict[str, PartState]:
    parts = ["".join(DOMAIN.key_of(int(part))) for part in found.parts]
    return dict(zip(parts, map(PartState, found.states), strict=True))


@pytest.mark.parametrize(("n", "bound"), [(0, 1.0), (1, 0.95), (5, 0.4507), (149, 0.0199)])
def test_answers_that_were_all_right_leave_an_exact_bound(n, bound):
    assert safe_bound(n) == pytest.approx(bound, abs=5e-5)
    if n:
        one_sided = stats.binomtest(0, n, alternative="less").proportion_ci(0.95, method="exact")
        assert safe_bound(n) == pytest.approx(one_sided.high)


def test_parts_are_those_that_plain_sets_have():
    keys = ["a", "ac", "acd", "cde"]

    rows, parts = parts_within(np.array(masks(*keys)), size=2, concept_count=COUNT)

    expected = {(row, DOMAIN.mask(part)) for row, key in enumerate(keys) for part in combinations(key, 2)}
    assert set(zip(rows.tolist(), parts.tolist(), strict=True)) == expected
    assert len(rows) == len(expected)


@pytest.mark.parametrize(
    ("slug", "size", "number"), [("driving", 2, 344), ("driving", 3, 3024), ("indoor", 2, 257)]
)
def test_the_denominator_is_the_number_of_valid_sets_of_a_size(slug, size, number):
    domain = load_domain(slug)

    parts = valid_parts(domain.universe(), size=size, concept_count=len(domain.concepts), is_alone=True)

    assert len(parts) == number


def test_parts_that_occur_only_inside_larger_sets_can_be_counted_too():
    universe = np.array(masks("a", "c", "acd"))

    alone = valid_parts(universe, size=2, concept_count=COUNT, is_alone=True)
    together = valid_parts(universe, size=2, concept_count=COUNT, is_alone=False)

    assert len(alone) == 0
    assert together.tolist() == sorted(masks("ac", "ad", "cd"))


def test_pairs_are_unknown_safe_or_mixed_by_the_answers_of_all_sets_that_show_them():
    found = cover(2, {"acd": (0, 5), "cde": (0, 3), "be": (1, 5), "a": (5, 5)})

    known = {part: state for part, state in states(found).items() if state != PartState.UNKNOWN}
    safe, mixed = PartState.SAFE, PartState.MIXED
    assert known == {"ac": safe, "ad": safe, "cd": safe, "ce": safe, "de": safe, "be": mixed}
    place = found.parts.tolist().index(DOMAIN.mask("cd"))
    assert (found.sets[place], found.fails[place], found.samples[place]) == (2, 0, 8)
    assert found.shown == 6


def test_a_pair_fails_inside_a_failure_mode_and_around_one():
    found = states(cover(2, {"cde": (4, 5)}, suspected=["cde"], confirmed=["a"]))

    assert {part for part, state in found.items() if state == PartState.SUSPECTED} == {"cd", "ce", "de"}
    assert {part for part, state in found.items() if state == PartState.CONFIRMED} == {"ac", "ad", "ae"}


def test_sets_without_an_answer_show_nothing():
    found = cover(2, {"acd": (0, 0)})

    assert found.count(PartState.UNKNOWN) == len(found.parts) == 9


def plan(shown, *, calls=30, samples=5, seed=1, largest=3):
    return plan_coverage(
        UNIVERSE,
        covers=[cover(2, shown), cover(3, shown)],
        calls=calls,
        samples_per_set=samples,
        largest=largest,
        concept_count=COUNT,
        shown_clean=(1, 2),
        seed=seed,
    )


def test_a_plan_takes_at_every_step_the_set_that_shows_most_unknown_parts():
    found = plan({})
    unknown = {int(part) for size in (2, 3) for part in cover(size, {}).parts}

    for one in found.sets:
        gains = {int(mask): sum((part & int(mask)) == part for part in unknown) for mask in UNIVERSE}
        new = {part for part in unknown if (part & one.mask) == part}
        assert set(one.new_parts) == new
        assert len(new) == max(gains.values())
        unknown -= new
    assert found.before == (0, 0)
    total = sum(found.after)
    assert total == len({part for one in found.sets for part in one.new_parts})
    assert total >= sum(found.random_after)


def test_a_plan_spends_what_it_may_and_stops_when_nothing_is_unknown():
    assert plan({}, calls=14).calls == 10
    assert plan({}, calls=4).sets == ()
    everything = plan({}, calls=1000)
    assert everything.after == (9, 7)
    assert plan({"".join(DOMAIN.key_of(int(mask))): (0, 1) for mask in UNIVERSE}).sets == ()


def test_a_plan_is_the_same_for_the_same_seed():
    assert plan({}, seed=4) == plan({}, seed=4)


def test_a_plan_holds_no_larger_sets_than_asked():
    assert {int(one.mask).bit_count() for one in plan({}, largest=2).sets} == {2}


def test_the_bound_of_parts_shown_again_narrows_as_their_answers_grow():
    found = plan({"cd": (0, 5)}, calls=1000)

    again = 5 * sum((one.mask & DOMAIN.mask("cd")) == DOMAIN.mask("cd") for one in found.sets)
    assert again > 0
    assert found.safe_before == pytest.approx(safe_bound(5))
    assert found.safe_after == pytest.approx(safe_bound(5 + again))
    assert found.clean_chance == pytest.approx(0.5)
