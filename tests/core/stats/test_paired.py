"""Paired tests by hand, against every sign written out, SciPy and statsmodels."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, rankdata, wilcoxon
from statsmodels.stats.contingency_tables import mcnemar

from vlmlab.core.stats import SignedRank, mcnemar_exact, wilcoxon_signed_rank

TIED_PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=30)


def test_mcnemar_by_hand():
    # Five pairs that all go one way: 2 / 2^5.
    assert mcnemar_exact(5, 0) == 0.0625
    assert mcnemar_exact(3, 1) == 2 * (1 + 4) / 16
    assert mcnemar_exact(2, 2) == 1.0
    assert mcnemar_exact(0, 0) == 1.0


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 30), st.integers(0, 30))
def test_mcnemar_is_symmetric_and_the_binomial_test(first, second):
    p_value = mcnemar_exact(first, second)

    assert p_value == mcnemar_exact(second, first)
    if first + second:
        assert p_value == pytest.approx(binomtest(first, first + second).pvalue)
        assert p_value == pytest.approx(mcnemar([[7, first], [second, 4]], exact=True).pvalue)


@pytest.mark.parametrize("counts", [(-1, 2), (2, -1)])
def test_mcnemar_refuses_negative_counts(counts):
    with pytest.raises(ValueError, match="at least 0"):
        mcnemar_exact(*counts)


def test_signed_rank_by_hand():
    # Differences -1, 2, 3, 4, 5: ranks 1..5, one against, so W- = 1 and W+ = 14. Of 32 signs, two have a sum
    # of at most 1 (none, and the first alone), and two as many on the other side.
    result = wilcoxon_signed_rank([0, 4, 6, 8, 10], [1, 2, 3, 4, 5])

    assert result == SignedRank(statistic=1.0, p_value=4 / 32, effect=13 / 15)


def test_signed_rank_ranks_pairs_without_a_difference_and_leaves_them_out_of_the_sums():
    # Differences 0, 0, 1, -2, 3: ranks 1.5, 1.5, 3, 4, 5; W+ = 8, W- = 4. Of 8 signs of 3, 4, 5 the sums
    # 0, 3, 4 are at most 4. Wilcoxon's own zeros would give ranks 1, 2, 3 and W- = 2.
    result = wilcoxon_signed_rank([1, 1, 2, 1, 4], [1, 1, 1, 3, 1])

    assert result == SignedRank(statistic=4.0, p_value=6 / 8, effect=4 / 12)


def test_signed_rank_of_published_heights_of_maize():
    # Darwin's cross- and self-fertilized maize, the example in SciPy's manual, which prints 24.0 and 0.0413.
    differences = [6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75]

    result = wilcoxon_signed_rank(differences, [0] * 15)

    assert (result.statistic, result.p_value) == (24.0, pytest.approx(0.041259765625))
    assert result.effect == pytest.approx((96 - 24) / 120)


def test_signed_rank_of_equal_pairs_finds_nothing():
    assert wilcoxon_signed_rank([1.0, 2.0], [1.0, 2.0]) == SignedRank(0.0, 1.0, 0.0)


def test_signed_rank_effect_has_the_sign_of_the_difference():
    assert wilcoxon_signed_rank([2, 3, 0], [1, 1, 0]).effect == 1.0
    assert wilcoxon_signed_rank([1, 1, 0], [2, 3, 0]).effect == -1.0


def counted_by_writing_out(x, y):
    differences = np.subtract(x, y)
    ranks = rankdata(np.abs(differences))
    sums = np.array([np.dot(ranks * (differences != 0), signs) for signs in product((0, 1), repeat=len(x))])
    smaller = min(ranks[differences > 0].sum(), ranks[differences < 0].sum())
    return min(1.0, 2.0 * float((sums <= smaller).mean()))


@settings(deadline=None, max_examples=30)
@given(TIED_PAIRS.filter(lambda pairs: len(pairs) <= 9))
def test_signed_rank_counts_all_signs_of_few_pairs(pairs):
    x, y = zip(*pairs, strict=True)

    assert wilcoxon_signed_rank(x, y).p_value == pytest.approx(counted_by_writing_out(x, y))


@settings(deadline=None, max_examples=40)
@given(TIED_PAIRS.filter(lambda pairs: any(one != other for one, other in pairs)))
def test_signed_rank_with_ties_and_zeros_is_that_of_scipy(pairs):
    x, y = zip(*pairs, strict=True)
    oracle = wilcoxon(x, y, zero_method="pratt")

    result = wilcoxon_signed_rank(x, y)

    assert result[:2] == pytest.approx((oracle.statistic, oracle.pvalue), rel=1e-9)


@pytest.mark.parametrize("n", [1, 5, 14, 50, 51, 300])
def test_signed_rank_without_ties_is_that_of_scipy(n):
    rng = np.random.default_rng(n)
    x, y = rng.normal(0.2, 1.0, n), rng.normal(size=n)
    oracle = wilcoxon(x, y, zero_method="pratt")

    result = wilcoxon_signed_rank(x, y)

    assert result[:2] == pytest.approx((oracle.statistic, oracle.pvalue), rel=1e-9)


@settings(deadline=None, max_examples=40)
@given(TIED_PAIRS)
def test_signed_rank_of_swapped_conditions_only_turns_the_effect(pairs):
    x, y = zip(*pairs, strict=True)
    there, back = wilcoxon_signed_rank(x, y), wilcoxon_signed_rank(y, x)

    assert there[:2] == back[:2]
    assert there.effect == -back.effect
    assert 0.0 < there.p_value <= 1.0
    assert -1.0 <= there.effect <= 1.0


@pytest.mark.parametrize(
    ("x", "y", "sentence"),
    [
        ([], [], "non-empty"),
        ([1, 2], [1], "same length"),
        ([[1]], [[1]], "same length"),
        ([1, float("nan")], [1, 2], "finite"),
        ([1, 2], [1, float("inf")], "finite"),
    ],
)
def test_signed_rank_refuses_what_is_not_paired_numbers(x, y, sentence):
    with pytest.raises(ValueError, match=sentence):
        wilcoxon_signed_rank(x, y)
