"""Paired differences by hand, against other software, against a slow version, and what they promise."""

from math import comb, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import binomtest, norm

from vlmlab.core.stats import (
    PairedCounts,
    count_pairs,
    difference_below,
    mcnemar_power,
    most_discordance_for_margin,
    paired_difference,
    pass_power,
)

COUNTS = st.builds(PairedCounts, *[st.integers(0, 25)] * 4)


def test_pairs_are_counted_by_what_happened_under_both():
    counts = count_pairs([(True, True), (True, False), (True, False), (False, True), (False, False)])

    assert counts == PairedCounts(both=1, first_only=2, second_only=1, neither=1)
    assert (counts.n, counts.differing, counts.first, counts.second) == (5, 3, 3, 2)
    assert counts.difference == pytest.approx(1 / 5)
    assert counts.p_value == 1.0


@pytest.mark.parametrize(
    ("counts", "level", "expected"),
    [
        # Published output of scoreci.mp (R, PropCIs), and the airway example of Fagerland, Lydersen, Laake.
        (PairedCounts(460, 48, 41, 0), 0.90, (-0.0157, 0.0414)),
        (PairedCounts(565, 28, 25, 0), 0.90, (-0.0148, 0.0247)),
        (PairedCounts(12, 1, 7, 1), 0.95, (-0.5172, -0.0260)),
    ],
)
def test_interval_is_that_of_other_software(counts, level, expected):
    interval = paired_difference(counts, level)

    assert (interval.low, interval.high) == pytest.approx(expected, abs=6e-5)


def test_interval_by_hand_where_no_pair_differs():
    # n = 40: z^2 / (n + z^2) = 3.8415 / 43.8415 = 0.0876, inside a margin of 0.1 but not of 0.08.
    interval = paired_difference(PairedCounts(10, 0, 0, 30))

    assert (interval.low, interval.high) == pytest.approx((-0.08762, 0.08762), abs=1e-5)
    assert (interval.is_inside(0.1), interval.is_inside(0.08)) == (True, False)


def test_interval_by_hand_where_all_pairs_differ_the_same_way():
    # At 5 of 5 the difference d is not rejected while 5 (1 - d) / (1 + d) <= z^2.
    interval = paired_difference(PairedCounts(0, 5, 0, 0))

    assert interval.low == pytest.approx((5 - 3.841459) / (5 + 3.841459), abs=1e-6)
    assert interval.high == 1.0


def test_without_pairs_nothing_is_known():
    nothing = PairedCounts(0, 0, 0, 0)

    assert (paired_difference(nothing).low, paired_difference(nothing).high) == (-1.0, 1.0)
    assert (difference_below(nothing), nothing.difference, nothing.p_value) == (1.0, 0.0, 1.0)


@settings(deadline=None, max_examples=60)
@given(COUNTS)
def test_interval_holds_the_estimate_and_turns_round_with_the_conditions(counts):
    turned = PairedCounts(counts.both, counts.second_only, counts.first_only, counts.neither)

    interval, other = paired_difference(counts), paired_difference(turned)

    assert -1.0 <= interval.low <= counts.difference + 1e-9
    assert counts.difference - 1e-9 <= interval.high <= 1.0
    assert (interval.low, interval.high) == pytest.approx((-other.high, -other.low), abs=1e-12)
    assert interval.low - 1e-12 <= paired_difference(counts, 0.8).low
    # The one-sided bound at 97.5 % is the upper end of the two-sided interval at 95 %.
    assert difference_below(counts, 0.975) == pytest.approx(interval.high, abs=1e-9)


@settings(deadline=None, max_examples=25)
@given(COUNTS.filter(lambda counts: counts.n > 2))
def test_zero_is_outside_exactly_where_mcnemar_without_correction_rejects(counts):
    interval = paired_difference(counts)

    statistic = abs(counts.first_only - counts.second_only) / sqrt(max(1, counts.differing))
    is_rejected = 2 * norm.sf(statistic) < 0.05

    assert (interval.low > 1e-9 or interval.high < -1e-9) == is_rejected


@pytest.mark.parametrize("counts", [(7, 9, 3, 11), (0, 6, 1, 20), (30, 0, 4, 6), (2, 3, 3, 2)])
def test_ends_are_where_a_slow_score_test_stops_rejecting(counts):
    counts = PairedCounts(*counts)
    interval = paired_difference(counts)

    for end in (interval.low, interval.high):
        assert abs(_slow_score(counts, end)) == pytest.approx(1.959964, abs=1e-3)


def _slow_score(counts, difference):
    """The score statistic with the shares that make the counts most likely, found by search."""
    n, b, c = counts.n, counts.first_only, counts.second_only

    def loss(second):
        first = second + difference
        rest = 1.0 - first - second
        total = 0.0
        for count, share in ((b, first), (c, second), (n - b - c, rest)):
            total -= count * _log(share)
        return total

    low, high = max(0.0, -difference), (1.0 - difference) / 2
    second = minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-12}).x
    variance = n * (2 * second + difference - difference**2)
    return (b - c - n * difference) / sqrt(variance)


def _log(share):
    from math import log

    return log(share) if share > 1e-300 else -690.0


def test_negative_counts_and_levels_out_of_range_are_refused():
    with pytest.raises(ValueError, match="first_only must be at least 0"):
        paired_difference(PairedCounts(1, -1, 0, 0))
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        difference_below(PairedCounts(1, 1, 0, 0), 1.0)


def test_power_of_mcnemar_by_hand():
    # Six pairs, all of which differ the same way with 0.9: only 6 : 0 and 0 : 6 are significant.
    assert mcnemar_power(6, first_only=0.9, second_only=0.1) == pytest.approx(0.9**6 + 0.1**6)
    # Five pairs cannot be significant at all.
    assert mcnemar_power(5, first_only=1.0, second_only=0.0) == 0.0
    assert mcnemar_power(40, first_only=0.0, second_only=0.0) == 0.0
    with pytest.raises(ValueError, match="sum to at most 1"):
        mcnemar_power(40, first_only=0.7, second_only=0.4)


@pytest.mark.parametrize(("first", "second"), [(0.4, 0.1), (0.2, 0.2), (0.05, 0.3)])
def test_power_of_mcnemar_is_the_sum_over_every_outcome(first, second):
    n, rest = 12, 1.0 - first - second
    slow = sum(
        comb(n, b) * comb(n - b, c) * first**b * second**c * rest ** (n - b - c)
        for b in range(n + 1)
        for c in range(n + 1 - b)
        if b + c and binomtest(b, b + c).pvalue <= 0.05
    )

    assert mcnemar_power(n, first_only=first, second_only=second) == pytest.approx(slow)


def test_chance_to_pass_is_the_sum_over_every_outcome():
    n, first, second = 15, 0.05, 0.1
    slow = sum(
        comb(n, b) * comb(n - b, c) * first**b * second**c * (1 - first - second) ** (n - b - c)
        for b in range(n + 1)
        for c in range(n + 1 - b)
        if difference_below(PairedCounts(0, c, b, n - b - c), 0.95) < 0.3
    )

    assert pass_power(n, first_only=first, second_only=second, margin=0.3) == pytest.approx(slow)


@pytest.mark.parametrize("n", [40, 80, 150])
@pytest.mark.parametrize("first_only", [0.0, 0.02, 0.05, 0.1, 0.2])
def test_a_system_worse_by_the_whole_margin_passes_as_rarely_as_the_level_says(n, first_only):
    chance = pass_power(n, first_only=first_only, second_only=first_only + 0.1, margin=0.1, level=0.05)

    assert chance < 0.056


def test_how_many_pairs_may_differ_inside_the_margin():
    assert most_discordance_for_margin(40, 0.1) == 0
    assert most_discordance_for_margin(20, 0.1) == -1
    assert most_discordance_for_margin(100, 0.1) == 18
