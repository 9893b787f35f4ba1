"""Intervals and tests against published values, SciPy, and slow, obvious versions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, false_discovery_control

from vlmlab.core.stats import (
    Interval,
    benjamini_hochberg,
    bootstrap_interval,
    clopper_pearson,
    holm,
    lower_bound,
    mcnemar_exact,
    normal_quantile,
    wilson,
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


def test_lower_bound_of_five_of_five():
    assert lower_bound(5, 5) == pytest.approx(0.05 ** (1 / 5))
    assert round(lower_bound(5, 5), 3) == 0.549
    assert lower_bound(0, 5) == 0.0


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


def test_mcnemar_by_hand():
    # Five pairs that all go one way: 2 / 2^5.
    assert mcnemar_exact(5, 0) == pytest.approx(0.0625)
    assert mcnemar_exact(3, 1) == pytest.approx(2 * (1 + 4) / 16)
    assert mcnemar_exact(2, 2) == 1.0
    assert mcnemar_exact(0, 0) == 1.0


@settings(deadline=None)
@given(st.integers(0, 30), st.integers(0, 30))
def test_mcnemar_is_symmetric_and_the_binomial_test(first, second):
    p_value = mcnemar_exact(first, second)

    assert p_value == mcnemar_exact(second, first)
    if first + second:
        assert p_value == pytest.approx(binomtest(first, first + second).pvalue)


def test_holm_by_hand():
    # 0.01 * 3, then max(0.03, 0.02 * 2), then max(0.04, 0.03).
    assert holm([0.03, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    assert holm([0.9, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_benjamini_hochberg_is_that_of_scipy(values):
    assert benjamini_hochberg(values) == pytest.approx(list(false_discovery_control(values)))


def test_p_values_outside_the_unit_interval_are_refused():
    with pytest.raises(ValueError, match="p_values"):
        holm([1.2])


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
