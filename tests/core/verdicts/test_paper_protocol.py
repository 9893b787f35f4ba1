"""The published re-test: which sets are asked again, and the row of its table."""

from collections import Counter
from statistics import pstdev

import pytest
from scipy.stats import binomtest

from vlmlab.core.verdicts.paper_protocol import retest_summary, top_by_rate


def test_the_highest_rates_are_chosen_in_order():
    assert top_by_rate([0.2, 1.0, 0.6, 0.8], 3, run_seed=1) == [1, 3, 2]
    assert top_by_rate([0.2, 1.0], 10, run_seed=1) == [1, 0]


def test_ties_are_drawn_by_the_seed():
    rates = [1.0] + [0.8] * 5

    chosen = [tuple(top_by_rate(rates, 2, run_seed=seed)) for seed in range(300)]

    assert chosen == [tuple(top_by_rate(rates, 2, run_seed=seed)) for seed in range(300)]
    counts = Counter(second for _, second in chosen)
    assert {first for first, _ in chosen} == {0}
    assert set(counts) == {1, 2, 3, 4, 5}
    assert min(counts.values()) > 30


def test_no_sets_are_chosen_below_one():
    with pytest.raises(ValueError, match="top must be at least 1"):
        top_by_rate([0.5], 0, run_seed=1)


def test_row_of_four_sets_by_hand():
    summary = retest_summary([(20, 20), (16, 20), (15, 20), (0, 0), (10, 20)])

    assert summary.mean == pytest.approx(0.7625)
    assert summary.sd == pytest.approx(pstdev([1.0, 0.8, 0.75, 0.5]))
    assert (summary.n_high, len(summary.sets)) == (2, 4)
    oracle = binomtest(16, 20).proportion_ci(0.95, method="exact")
    interval = summary.sets[1].interval
    assert (interval.low, interval.high) == pytest.approx((oracle.low, oracle.high))
