"""The chance of still being decided, against a slow count over all courses of the samples."""

from collections.abc import Callable
from functools import cache
from math import log

import pytest

from vlmlab.core.stats import log_e_above, log_e_below
from vlmlab.core.verdicts.stopping import stopping_table


def slow_chances(*, most: int, confirm_bar: float, refute_bar: float) -> Callable[[int, int], float]:
    @cache
    def chance(k: int, n: int) -> float:
        if float(log_e_above(k, n, threshold=0.6)) >= confirm_bar:
            return 1.0
        if float(log_e_below(k, n, threshold=0.6)) >= refute_bar:
            return 1.0
        if n == most:
            return 0.0
        rate = (k + 1) / (n + 2)
        return rate * chance(k + 1, n + 1) + (1 - rate) * chance(k, n + 1)

    return chance


@pytest.mark.parametrize(("confirm_bar", "refute_bar"), [(2.0, 2.0), (1.0, 4.0), (4.0, 1.5), (50.0, 50.0)])
def test_chances_are_those_of_all_courses(confirm_bar, refute_bar):
    table = stopping_table(0.6, 25, confirm_bar=confirm_bar, refute_bar=refute_bar)
    slow = slow_chances(most=25, confirm_bar=confirm_bar, refute_bar=refute_bar)

    for samples in range(26):
        for fails in range(samples + 1):
            assert table.chance(fails, samples) == pytest.approx(slow(fails, samples), abs=1e-12)


def test_the_chance_before_any_sample_by_hand():
    # One sample decides: a fail has the e-value 4/3 (bar 1.3), a pass against the threshold 1.75 (bar 1.7).
    assert stopping_table(0.6, 1, confirm_bar=log(1.3), refute_bar=log(1.7)).chance(0, 0) == 1.0
    # Only a fail does: 1/2. Two fails do (1.81): 1/2 and then 2/3.
    assert stopping_table(0.6, 1, confirm_bar=log(1.3), refute_bar=9.0).chance(0, 0) == pytest.approx(1 / 2)
    assert stopping_table(0.6, 2, confirm_bar=log(1.8), refute_bar=9.0).chance(0, 0) == pytest.approx(1 / 3)
    assert stopping_table(0.6, 2, confirm_bar=log(1.8), refute_bar=9.0).chance(0, 1) == 0.0


def test_more_samples_give_more_chance():
    few, many = (stopping_table(0.6, most, confirm_bar=5.0, refute_bar=5.0) for most in (30, 300))

    assert few.chance(14, 20) < many.chance(14, 20)
