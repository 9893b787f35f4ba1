"""Sign flips by hand, against every sign written out, McNemar and SciPy's permutation test."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test

from vlmlab.core.stats import mcnemar_exact, sign_flip_p_value


def test_sign_flips_by_hand():
    # Signs of 2, 1: sums 3, 1, -1, -3; two of four are as far as 3.
    assert sign_flip_p_value([2, 1]) == 0.5
    assert sign_flip_p_value([1, 1, 1, 1, 1]) == 2 / 32
    assert sign_flip_p_value([0, 0]) == 1.0
    assert sign_flip_p_value([]) == 1.0
    assert sign_flip_p_value([2, -2]) == 1.0


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(-2, 2), max_size=9))
def test_sign_flips_count_every_sign(values):
    sizes = [abs(value) for value in values if value]
    sums = [
        abs(sum(sign * size for sign, size in zip(signs, sizes, strict=True)))
        for signs in product((1, -1), repeat=len(sizes))
    ]
    slow = sum(one >= abs(sum(values)) for one in sums) / len(sums)

    assert sign_flip_p_value(values) == pytest.approx(slow)
    assert sign_flip_p_value(values) == sign_flip_p_value([-value for value in values])


@given(st.integers(0, 40), st.integers(0, 40))
def test_sign_flips_of_ones_are_mcnemar(b, c):
    assert sign_flip_p_value([1] * b + [-1] * c) == pytest.approx(mcnemar_exact(b, c))


def test_sign_flips_are_scipys_permutation_test_of_pairs():
    values = np.array([2, 1, 1, -1, 2, 1, 0, 1, -2, 1])

    theirs = permutation_test(
        (values, np.zeros_like(values)),
        lambda first, second: (first - second).sum(),
        permutation_type="samples",
        n_resamples=np.inf,
    ).pvalue

    assert sign_flip_p_value(values.tolist()) == pytest.approx(theirs)
