"""Intervals against published values, SciPy and statsmodels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from scipy.stats import t as student
from statsmodels.stats.proportion import proportion_confint

from vlmlab.core.stats import (
    Interval,
    bootstrap_interval,
    clopper_pearson,
    lower_bound,
    mean_interval,
    normal_quantile,
    score_interval_of_mean,
    upper_bound,
    wilson,
    wilson_interval,
)

COUNTS = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@settings(deadline=None)
@given(COUNTS, st.sampled_from([0.8, 0.95, 0.99]))
def test_clopper_pearson_is_the_exact_interval_of_scipy(counts, level):
    oracle = binomtest(*counts).proportion_ci(level, method="exact")

    interval = clopper_pearson(*counts, level)
    assert (interval.low, interval.high) == pytest.approx((oracle.low, oracle.high), abs=1e-9)


@settings(deadline=None)
@given(COUNTS, st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_is_the_score_interval_of_scipy(counts, level):
    oracle = binomtest(*counts).proportion_ci(level, method="wilson")

    interval = wilson(*counts, level)

    assert (interval.low, interval.high) == pytest.approx((oracle.low, oracle.high), abs=1e-9)


@settings(deadline=None)
@given(COUNTS, st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_interval_is_that_of_statsmodels(counts, confidence):
    low, high = wilson_interval(*counts, confidence)

    assert (low, high) == pytest.approx(
        proportion_confint(*counts, alpha=1 - confidence, method="wilson"), abs=1e-9
    )


def test_wilson_interval_of_six_of_ten():
    # z = 1.96: centre (0.6 + 3.8415/20) / 1.38415 = 0.57224, half 0.25957.
    interval = wilson_interval(6, 10)

    assert interval == pytest.approx((0.3126737697, 0.8318196703), abs=1e-9)
    assert (interval.low, interval.high) == interval
    assert wilson_interval(0, 0) == (0.0, 1.0)
    assert wilson_interval(0, 7).low == 0.0
    assert wilson_interval(7, 7).high == 1.0
    with pytest.raises(ValueError, match="must be"):
        wilson_interval(3, 2)


def test_lower_bound_of_five_of_five():
    assert lower_bound(5, 5) == pytest.approx(0.05 ** (1 / 5))
    assert round(lower_bound(5, 5), 3) == 0.549
    assert lower_bound(0, 5) == 0.0


def test_upper_bound_of_no_error():
    # 5 of 5 right answers leave up to 45 %; 149 without an error are the fewest that leave less than 2 %.
    assert upper_bound(0, 5) == pytest.approx(1 - 0.05 ** (1 / 5))
    assert round(upper_bound(0, 5), 3) == 0.451
    assert upper_bound(0, 149) < 0.02 < upper_bound(0, 148)
    assert upper_bound(5, 5) == 1.0
    assert upper_bound(0, 0) == 1.0


@settings(deadline=None)
@given(COUNTS, st.sampled_from([0.8, 0.95, 0.99]))
def test_one_sided_bounds_are_those_of_scipy_and_mirror_each_other(counts, level):
    successes, total = counts

    high = upper_bound(successes, total, level)

    oracle = binomtest(successes, total, alternative="less").proportion_ci(level, method="exact").high
    assert high == pytest.approx(oracle, abs=1e-9)
    assert high == pytest.approx(1 - lower_bound(total - successes, total, level), abs=1e-9)


@settings(deadline=None)
@given(COUNTS)
def test_score_interval_of_a_mean_is_wilsons_for_a_share(counts):
    successes, total = counts

    assert score_interval_of_mean(successes / total, total) == wilson(successes, total)


def test_score_interval_of_a_mean_covers_means_of_shares():
    rng = np.random.default_rng(3)
    means = rng.beta(0.7, 1.6, size=(2000, 12)).mean(axis=1)

    covered = sum(
        interval.low <= 0.7 / 2.3 <= interval.high
        for interval in (score_interval_of_mean(float(mean), 12) for mean in means)
    )

    assert covered / 2000 > 0.95
    assert score_interval_of_mean(0.5, 0) == Interval(0.0, 1.0, 0.95)
    with pytest.raises(ValueError, match="mean must lie in"):
        score_interval_of_mean(1.5, 3)


def test_no_samples_say_nothing():
    assert clopper_pearson(0, 0) == Interval(0.0, 1.0, 0.95)
    assert wilson(0, 0) == Interval(0.0, 1.0, 0.95)


@pytest.mark.parametrize(("successes", "total", "level"), [(3, 2, 0.95), (-1, 2, 0.95), (1, 2, 1.0)])
def test_impossible_counts_are_refused(successes, total, level):
    with pytest.raises(ValueError, match="must be"):
        clopper_pearson(successes, total, level)


def test_counts_must_be_whole():
    with pytest.raises(TypeError, match="whole number"):
        wilson(1.5, 2)


def test_bootstrap_interval_covers_the_mean_and_shrinks_to_a_constant():
    values = np.arange(10.0)

    interval = bootstrap_interval(values, rng=np.random.default_rng(0))

    # The standard error is 2.87 / sqrt(10) = 0.91, so about 4.5 -+ 1.8.
    assert (interval.low, interval.high) == pytest.approx((2.7, 6.3), abs=0.2)
    assert bootstrap_interval([3.0, 3.0], rng=np.random.default_rng(0)) == Interval(3.0, 3.0, 0.95)
    with pytest.raises(ValueError, match="non-empty"):
        bootstrap_interval([], rng=np.random.default_rng(0))


def test_normal_quantile():
    assert normal_quantile(0.975) == pytest.approx(1.959964, abs=1e-6)


def test_the_interval_of_a_mean_is_students():
    values = np.array([0.9, 0.4, 0.55, 0.7])
    low, high = student.interval(0.95, 3, values.mean(), values.std(ddof=1) / 2.0)

    interval = mean_interval(values.mean(), values.std(ddof=1), 4)

    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-9)


def test_the_interval_of_a_mean_stays_between_0_and_1_and_says_nothing_of_one_value():
    assert mean_interval(0.95, 0.3, 3).high == 1.0
    assert mean_interval(0.05, 0.3, 3).low == 0.0
    assert mean_interval(0.0, 0.0, 3) == Interval(0.0, 0.0, 0.95)
    assert mean_interval(0.5, 0.0, 1) == Interval(0.0, 1.0, 0.95)


@pytest.mark.parametrize("wrong", [(1.2, 0.1, 3), (0.5, -0.1, 3), (0.5, float("nan"), 3), (0.5, 0.1, -1)])
def test_the_interval_of_a_mean_refuses_what_is_none(wrong):
    with pytest.raises(ValueError, match="must"):
        mean_interval(*wrong)
