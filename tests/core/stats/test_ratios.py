"""Ratios of means by hand, at their limits, and how often their interval covers."""

from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import confint_proportions_2indep

from vlmlab.core.stats import ratio_of_means, wilson


def test_ratio_by_hand():
    # 0.8 of 20 and 0.2 of 20: score intervals 0.584..0.919 and 0.081..0.416; Donner and Zou's formula:
    one, other = wilson(16, 20), wilson(4, 20)
    product = 0.8 * 0.2
    below, above = other.high * (0.4 - other.high), other.low * (0.4 - other.low)
    low = (product - sqrt(product**2 - one.low * (1.6 - one.low) * below)) / below
    high = (product + sqrt(product**2 - one.high * (1.6 - one.high) * above)) / above

    ratio = ratio_of_means(0.8, 20, 0.2, 20)

    assert ratio.value == pytest.approx(4.0)
    assert (ratio.low, ratio.high) == pytest.approx((low, high))


@pytest.mark.parametrize("counts", [(16, 20, 4, 20), (30, 40, 12, 40), (90, 100, 20, 100), (5, 20, 5, 20)])
def test_interval_of_shares_is_close_to_the_score_interval_of_statsmodels(counts):
    k, n, other_k, other_n = counts

    ratio = ratio_of_means(k / n, n, other_k / other_n, other_n)

    theirs = confint_proportions_2indep(k, n, other_k, other_n, compare="ratio", method="score")
    assert (ratio.low, ratio.high) == pytest.approx(theirs, rel=0.06)


def test_ratio_over_nothing_is_infinite_or_unknown_and_its_bounds_stay_useful():
    over_zero, both_zero, empty = (
        ratio_of_means(0.5, 20, 0.0, 20), ratio_of_means(0.0, 20, 0.0, 20), ratio_of_means(0.5, 20, 0.5, 0),
    )  # fmt: skip

    assert (over_zero.value, over_zero.high) == (inf, inf)
    assert 1.0 < over_zero.low < 4.0
    assert (both_zero.value, both_zero.low, both_zero.high) == (None, 0.0, inf)
    assert (empty.value, empty.low, empty.high) == (None, 0.0, inf)


@settings(deadline=None, max_examples=100)
@given(st.floats(0.01, 1), st.integers(2, 60), st.floats(0.01, 1), st.integers(2, 60))
def test_interval_holds_the_ratio_and_turns_over_with_it(first, n, second, m):
    ratio, turned = ratio_of_means(first, n, second, m), ratio_of_means(second, m, first, n)

    assert 0.0 <= ratio.low <= ratio.value * (1 + 1e-9)
    assert ratio.value <= ratio.high * (1 + 1e-9)
    assert turned.low == pytest.approx(1 / ratio.high, rel=1e-6, abs=1e-12)


def test_interval_covers_about_as_often_as_it_says():
    rng = np.random.default_rng(5)
    first, second = rng.binomial(20, 0.7, 2000) / 20, rng.binomial(20, 0.2, 2000) / 20

    intervals = [ratio_of_means(float(a), 20, float(b), 20) for a, b in zip(first, second, strict=True)]

    covered = sum(one.low <= 3.5 <= one.high for one in intervals)
    assert covered / 2000 > 0.935
