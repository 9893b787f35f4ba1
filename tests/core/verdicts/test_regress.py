"""Verdicts of regressions by hand, their errors, and the families they make."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from vlmlab.core.stats import PairedCounts, mcnemar_exact
from vlmlab.core.verdicts.regress import (
    ReAsks,
    RegressRules,
    counts_between,
    judge_cases,
    judge_family,
)

RULES = RegressRules()
UNCHANGED = PairedCounts(0, 0, 0, 60)


def pairs(both: int, old: int, new: int, neither: int) -> PairedCounts:
    return PairedCounts(both, old, new, neither)


def verdict_of(counts: PairedCounts, rules: RegressRules = RULES, **more: ReAsks) -> str:
    return judge_family([counts], rules, reasks=tuple(more.values())).modes[0].verdict


@pytest.mark.parametrize(
    ("counts", "verdict"),
    [
        (pairs(2, 30, 0, 8), "fixed"),  # 32 of 40 before, 2 now
        (pairs(22, 12, 0, 6), "pass"),  # 34 before, 22 now: fewer, but not surely below 60 %
        (pairs(30, 10, 0, 0), "still_failing"),  # 40 before, 30 of 40 now: at least 61 %
        (pairs(2, 0, 12, 26), "worse"),
        (pairs(36, 0, 0, 4), "still_failing"),
        (pairs(0, 0, 0, 40), "pass"),
        (pairs(10, 0, 0, 30), "pass"),
        (pairs(10, 3, 3, 24), "not_enough"),  # nothing significant, and perhaps 12 points worse
        (pairs(10, 10, 10, 10), "flaky"),
        (pairs(5, 0, 0, 0), "not_enough"),  # five alike show little
        (pairs(0, 0, 0, 0), "not_enough"),
    ],
)
def test_verdict_of_one_mode(counts, verdict):
    assert verdict_of(counts) == verdict


def test_numbers_behind_a_verdict_by_hand():
    reading = judge_family([pairs(2, 30, 0, 8)], RULES).modes[0]

    assert reading.p_value == reading.adjusted == pytest.approx(2 / 2**30)
    assert reading.new_high == pytest.approx(
        binomtest(2, 40, alternative="less").proportion_ci(0.95, method="exact").high
    )
    assert reading.difference_high < -0.5
    assert reading.is_non_inferior


def test_five_pairs_are_never_significant():
    assert mcnemar_exact(5, 0) == 0.0625
    assert verdict_of(pairs(0, 5, 0, 0)) == "pass"
    assert verdict_of(pairs(0, 0, 5, 0)) == "not_enough"
    assert verdict_of(pairs(0, 0, 6, 0)) == "worse"


def test_many_scenes_may_show_a_difference_that_the_margin_tolerates():
    counts = pairs(100, 10, 40, 850)

    reading = judge_family([counts], RULES).modes[0]

    assert reading.p_value < 0.001
    assert (reading.verdict, reading.is_non_inferior) == ("pass", True)
    assert verdict_of(counts, RegressRules(margin=0.02)) == "worse"


def test_a_mode_is_new_where_it_surely_did_not_fail_before_and_surely_does_now():
    was_fine = judge_family([pairs(2, 0, 36, 2)], RULES).modes[0]
    was_failing = judge_family([pairs(60, 0, 38, 2)], RULES).modes[0]

    assert (was_fine.verdict, was_fine.is_new) == ("worse", True)
    assert (was_failing.verdict, was_failing.is_new) == ("worse", False)


def test_asking_the_same_scenes_again_shows_flakiness():
    counts = pairs(10, 1, 1, 48)

    assert verdict_of(counts) == "pass"
    assert verdict_of(counts, reasks=ReAsks(differing=8, total=20)) == "flaky"
    assert verdict_of(counts, reasks=ReAsks(differing=1, total=20)) == "pass"
    with pytest.raises(ValueError, match="one entry a mode"):
        judge_family([counts, counts], RULES, reasks=[ReAsks()])


def test_holm_holds_the_family():
    # 6 : 0 alone has p = 0.031; among three modes Holm makes it 0.094.
    weak = pairs(0, 0, 6, 34)

    assert verdict_of(weak) == "worse"
    family = judge_family([weak, UNCHANGED, UNCHANGED], RULES)
    assert family.modes[0].adjusted == pytest.approx(3 * 0.03125)
    assert [mode.verdict for mode in family.modes] == ["not_enough", "pass", "pass"]


def test_a_family_fails_by_one_mode_and_passes_by_all():
    worse, fixed, open_ = pairs(2, 0, 20, 18), pairs(2, 30, 0, 8), pairs(10, 3, 3, 24)

    assert judge_family([UNCHANGED, fixed], RULES).verdict == "pass"
    assert judge_family([UNCHANGED, worse, open_], RULES).verdict == "fail"
    assert judge_family([UNCHANGED, open_], RULES).verdict == "not_enough"
    assert judge_family([], RULES).verdict == "not_enough"
    assert judge_family([UNCHANGED, UNCHANGED, worse], RULES).count("pass") == 2


def test_a_family_that_shall_be_fixed_fails_by_what_still_fails():
    still, fixed, middle = pairs(36, 0, 0, 4), pairs(2, 30, 0, 8), pairs(22, 0, 0, 18)
    rules = RegressRules(goal="all_fixed")

    assert judge_family([still], RULES).verdict == "pass"
    assert judge_family([still, fixed], rules).verdict == "fail"
    assert judge_family([fixed, UNCHANGED], rules).verdict == "pass"
    assert judge_family([fixed, middle], rules).verdict == "not_enough"


@settings(deadline=None, max_examples=80)
@given(st.lists(st.builds(PairedCounts, *[st.integers(0, 20)] * 4), min_size=1, max_size=4))
def test_verdicts_agree_with_the_numbers_beside_them(modes):
    family = judge_family(modes, RULES)

    for counts, mode in zip(modes, family.modes, strict=True):
        assert mode.p_value <= mode.adjusted
        if mode.verdict == "worse":
            assert counts.second > counts.first
            assert mode.adjusted <= 0.05
            assert not mode.is_no_worse
        if mode.verdict == "fixed":
            assert counts.second < counts.first
            assert mode.new_high < 0.6
        if mode.verdict == "pass":
            assert mode.difference_high < 0.1
    assert (family.verdict == "fail") == any(mode.verdict == "worse" for mode in family.modes)


def test_false_alarms_of_a_family_are_as_rare_as_the_level_says():
    rng = np.random.default_rng(11)
    alarms = 0
    for _ in range(300):
        drawn = rng.multinomial(40, [0.5, 0.15, 0.15, 0.2], size=5)
        modes = [PairedCounts(*map(int, row)) for row in drawn]
        family = judge_family(modes, RULES)
        alarms += any(mode.verdict in ("worse", "fixed") for mode in family.modes)

    assert alarms / 300 < 0.05 + 3 * 0.0126


def test_cases_with_one_pair_each_are_one_family():
    cases = [pairs(1, 0, 0, 0)] * 4 + [pairs(0, 1, 0, 0)] * 8 + [pairs(0, 0, 0, 1), pairs(0, 0, 0, 0)]

    reading = judge_cases(cases, RULES)

    assert (reading.cases, reading.worse, reading.better) == (13, 0, 8)
    assert reading.p_value == pytest.approx(2 / 2**8)
    assert reading.whole is not None
    assert reading.whole.counts == pairs(4, 8, 0, 1)


def test_cases_with_several_draws_are_compared_by_their_rates():
    # Six cases, all of them better, by different amounts: the exact signed-rank test gives 2 / 2^6.
    cases = [pairs(0, gone, 0, 10 - gone) for gone in range(1, 7)]

    reading = judge_cases(cases, RULES)

    assert (reading.whole, reading.cases, reading.worse, reading.better) == (None, 6, 0, 6)
    assert reading.p_value == pytest.approx(2 / 2**6)


def test_no_cases_show_nothing():
    assert judge_cases([], RULES).p_value == 1.0


def test_counts_of_two_runs_are_those_of_the_scenes_that_both_answered():
    older = {"numbers": [0, 1, 2, 4], "arms": [{"outcomes": "FPIP"}]}
    newer = {"numbers": [0, 1, 2, 3, 4], "arms": [{"outcomes": "PPFFF"}]}

    assert counts_between(older, newer) == pairs(1, 1, 1, 1)
    assert counts_between({}, newer) == pairs(0, 0, 0, 0)


def test_rules_are_shares():
    with pytest.raises(ValueError, match="margin must be between 0 and 1"):
        RegressRules(margin=0.0)
