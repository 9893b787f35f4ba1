"""Means over run seeds and paired differences, against hand-worked values and scipy."""

import numpy as np
import pytest
from scipy import stats

from vlmlab.core.stats.seeds import paired_mean, seed_mean


def test_a_mean_over_three_seeds_has_students_interval_by_hand():
    """1, 2, 3: sd 1, t(0.975, 2) = 4.302653, half 4.302653 / sqrt(3) = 2.484138."""
    found = seed_mean([1.0, 2.0, 3.0])

    assert (found.mean, found.n, found.sd) == (2.0, 3, 1.0)
    assert (found.low, found.high) == (pytest.approx(-0.484138, abs=1e-6), pytest.approx(4.484138, abs=1e-6))


def test_an_interval_is_cut_where_values_end():
    found = seed_mean([0.0, 0.5, 1.0], least=0.0, most=1.0)

    assert (found.low, found.high) == (0.0, 1.0)


def test_one_run_has_no_interval_and_none_no_mean():
    assert (seed_mean([0.4]).low, seed_mean([0.4]).sd) == (None, None)
    assert seed_mean([]) is None
    assert paired_mean([]) is None
    assert paired_mean([3.0]).p_value is None


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_intervals_and_p_values_are_those_of_scipy(level):
    rng = np.random.default_rng(5)
    for n in (2, 3, 5, 20):
        first, second = rng.normal(3, 1, n), rng.normal(4, 2, n)

        found = paired_mean(list(second - first), level)
        one = seed_mean(list(first), level)

        oracle = stats.ttest_rel(second, first)
        low, high = oracle.confidence_interval(level)
        assert found.p_value == pytest.approx(oracle.pvalue)
        assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
        expected = stats.t.interval(level, n - 1, loc=first.mean(), scale=stats.sem(first))
        assert (one.low, one.high) == (pytest.approx(expected[0]), pytest.approx(expected[1]))


def test_pairs_that_all_differ_by_the_same_have_no_p_value():
    same, none = paired_mean([2.0, 2.0, 2.0]), paired_mean([0.0, 0.0])

    assert (same.mean, same.low, same.high, same.p_value) == (2.0, 2.0, 2.0, None)
    assert none.p_value == 1.0


def test_a_level_out_of_range_is_refused():
    with pytest.raises(ValueError, match="level"):
        seed_mean([1.0], 1.5)
