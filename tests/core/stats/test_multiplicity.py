"""Adjusted p-values by hand, against SciPy and statsmodels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control
from statsmodels.stats.multitest import multipletests

from vlmlab.core.stats import benjamini_hochberg, holm


def test_holm_by_hand():
    # 0.01 * 3, then max(0.03, 0.02 * 2), then max(0.04, 0.03).
    assert holm([0.03, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    assert holm([0.9, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@pytest.mark.parametrize("seed", range(5))
def test_holm_is_that_of_statsmodels(seed):
    rng = np.random.default_rng(seed)
    values = list(rng.choice([0.0, 0.004, 0.02, 0.3, 1.0, *rng.random(4)], size=12))  # with ties

    assert holm(values) == pytest.approx(list(multipletests(values, method="holm")[1]))


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_benjamini_hochberg_is_that_of_scipy(values):
    assert benjamini_hochberg(values) == pytest.approx(list(false_discovery_control(values)))


@pytest.mark.parametrize("value", [1.2, -0.1, float("nan")])
def test_p_values_outside_the_unit_interval_are_refused(value):
    with pytest.raises(ValueError, match="p_values"):
        holm([0.5, value])
