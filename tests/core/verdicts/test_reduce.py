"""Whether a set still fails, and the walk down to the smallest that do, against a slow search."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from vlmlab.core.revelio.types import Verdict
from vlmlab.core.verdicts.drops import neighbours
from vlmlab.core.verdicts.reduce import Judgement, StillFails, judgement_of, smallest_failing

FAILS, PASSES = Judgement(20, 20, True), Judgement(0, 20, False)


def subsets(key):
    return [rest for size in range(len(key) - 1, 0, -1) for rest in combinations(key, size)]


def walk_down(key, smaller, fails, known=()):
    """Play the walk with a system that fails where ``fails`` says; returns the ends and what was judged."""
    walk = smallest_failing(key, smaller, {key: FAILS, **dict(known)})
    judged = []
    try:
        asked = next(walk)
        while True:
            judged.append(asked)
            asked = walk.send(FAILS if fails(asked) else PASSES)
    except StopIteration as done:
        return done.value, judged


def test_twelve_fails_of_twenty_still_fail_and_the_rest_is_not_asked():
    test = StillFails(20, 0.6)
    rooms = []
    for verdict in [Verdict.FAIL] * 11 + [Verdict.CALL_ERROR, Verdict.PASS, Verdict.FAIL]:
        rooms.append(test.room)
        test.take(verdict)

    assert rooms[0] == 9  # nine passes would decide it
    assert rooms[-1] == 1
    assert test.room == 0
    assert test.judgement == Judgement(12, 13, True, is_sure=True)


def test_nine_passes_of_twenty_mean_that_it_does_not_fail():
    test = StillFails(20, 0.6)
    for _ in range(8):
        test.take(Verdict.PASS)

    assert test.judgement == Judgement(0, 8, None)
    test.take(Verdict.PASS)
    assert test.judgement == Judgement(0, 9, False)


@given(st.lists(st.booleans(), min_size=20, max_size=20))
def test_ending_early_never_changes_the_judgement(fails):
    test = StillFails(20, 0.6)
    for one in fails:
        if test.room:
            test.take(Verdict.FAIL if one else Verdict.PASS)

    assert test.judgement.still_fails == (sum(fails) >= 12)


def test_errors_of_the_rule_are_those_that_its_documentation_gives():
    assert binom.sf(11, 20, 0.4) == pytest.approx(0.057, abs=5e-4)
    assert binom.cdf(11, 20, 0.8) == pytest.approx(0.010, abs=5e-4)


def test_sure_is_a_bound_and_likely_is_a_count():
    assert judgement_of(12, 20, still_fails=True, threshold=0.6).is_sure is False
    assert judgement_of(16, 20, still_fails=True, threshold=0.6).is_sure is False
    assert judgement_of(17, 20, still_fails=True, threshold=0.6).is_sure is True
    assert judgement_of(20, 20, still_fails=False, threshold=0.6).is_sure is False


def test_the_walk_by_hand():
    # abcd fails through ab alone: bcd, acd, abd, abc are judged, then the parts of abc, then those of ab.
    ends, judged = walk_down(tuple("abcd"), subsets("abcd"), lambda key: {"a", "b"} <= set(key))

    assert ends == [("a", "b")]
    assert judged == [tuple(one) for one in ("abc", "abd", "acd", "bcd", "ab", "ac", "bc", "a", "b")]


def test_two_reasons_are_two_ends():
    ends, _ = walk_down(
        tuple("abcd"), subsets("abcd"), lambda key: {"a", "b"} <= set(key) or {"c", "d"} <= set(key)
    )

    assert ends == [("a", "b"), ("c", "d")]


def test_a_set_that_needs_all_its_concepts_has_no_smaller_end():
    ends, judged = walk_down(tuple("abc"), subsets("abc"), lambda key: False)

    assert ends == []
    assert len(judged) == 3


def test_what_is_known_is_not_asked_again():
    known = {("a", "b"): FAILS, ("a", "c"): PASSES, ("b", "c"): PASSES}

    ends, judged = walk_down(tuple("abc"), subsets("abc"), lambda key: False, known)

    assert (ends, judged) == ([("a", "b")], [("a",), ("b",)])


def test_only_comparable_sets_are_judged():
    smaller = [("a", "b"), ("b",)]

    ends, judged = walk_down(tuple("abc"), smaller, lambda key: "b" in key)

    assert (ends, judged) == ([("b",)], [("a", "b"), ("b",)])


@given(
    st.lists(st.sets(st.sampled_from("abcde"), min_size=1), min_size=1, max_size=3),
    st.sets(st.sampled_from(subsets("abcde"))),
)
def test_ends_fail_and_have_no_failing_neighbour(reasons, smaller):
    key = tuple("abcde")

    def fails(one):
        return any(reason <= set(one) for reason in reasons)

    ends, judged = walk_down(key, sorted(smaller), fails)

    assert len(judged) == len(set(judged))
    assert set(judged) <= smaller
    for end in ends:
        assert fails(end)
        assert end in smaller
        assert not any(fails(one) for one in neighbours(end, smaller))


@given(st.lists(st.sets(st.sampled_from("abcd"), min_size=1), min_size=1, max_size=3))
def test_with_every_set_comparable_the_ends_are_the_smallest_reasons(reasons):
    key = tuple("abcd")

    ends, _ = walk_down(key, subsets(key), lambda one: any(reason <= set(one) for reason in reasons))

    minimal = {tuple(sorted(one)) for one in reasons if not any(other < one for other in reasons)}
    assert set(ends) == minimal - {key}
