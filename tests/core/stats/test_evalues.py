"""E-values by hand, against their definition, and e-BH against the step-up procedure of statsmodels."""

from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from statsmodels.stats.multitest import multipletests

from vlmlab.core.stats import (
    e_bh,
    e_lond,
    fails_to_cross,
    log_bar,
    log_e_above,
    log_e_below,
    passes_to_cross,
    place_share,
    shared_e_bh,
)
from vlmlab.core.stats.evalues import BETS

THRESHOLDS = st.sampled_from([0.3, 0.5, 0.6, 0.8])
LOG_E_VALUES = st.lists(st.floats(-20, 20, allow_nan=False), max_size=30)


@pytest.mark.parametrize(
    ("fails", "samples", "e_value"),
    [
        (0, 0, 1.0),
        (1, 1, 4 / 3),  # the bets lie evenly in (0.6, 1): their mean 0.8, over 0.6
        (0, 1, 0.5),  # 0.2 / 0.4
        (2, 2, 0.653325 / 0.36),  # mean square: 0.8^2 + 0.01^2 (40^2 - 1) / 12 = 0.653325
        (1, 2, (0.8 - 0.653325) / 0.24),
    ],
)
def test_e_value_against_a_rate_of_at_most_six_tenths_by_hand(fails, samples, e_value):
    assert BETS == 40
    assert float(log_e_above(fails, samples, threshold=0.6)) == pytest.approx(log(e_value), abs=1e-12)


@pytest.mark.parametrize(
    ("fails", "samples", "e_value"),
    [
        (0, 1, 1.75),  # bets on right answers lie evenly in (0.4, 1): mean 0.7, over 0.4
        (1, 1, 0.5),  # 0.3 / 0.6
        (1, 2, (0.7 - (0.49 + 0.015**2 * 1599 / 12)) / 0.24),
    ],
)
def test_e_value_against_a_rate_of_at_least_six_tenths_by_hand(fails, samples, e_value):
    assert float(log_e_below(fails, samples, threshold=0.6)) == pytest.approx(log(e_value), abs=1e-12)


@given(THRESHOLDS, st.integers(0, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_e_value_is_the_mean_of_likelihood_ratios(threshold, counts):
    fails, samples = counts
    ratios = []
    for place in range(BETS):
        bet = threshold + (1 - threshold) * (2 * place + 1) / (2 * BETS)
        ratios.append((bet / threshold) ** fails * ((1 - bet) / (1 - threshold)) ** (samples - fails))

    assert float(log_e_above(fails, samples, threshold=threshold)) == pytest.approx(
        log(sum(ratios) / BETS), abs=1e-9
    )


@given(THRESHOLDS, st.integers(0, 100), st.integers(1, 30))
def test_e_value_is_at_most_one_on_average_while_the_hypothesis_holds(threshold, percent, samples):
    rate = percent / 100
    fails = np.arange(samples + 1)
    chances = binom.pmf(fails, samples, rate)
    above = float(chances @ np.exp(log_e_above(fails, samples, threshold=threshold)))
    below = float(chances @ np.exp(log_e_below(fails, samples, threshold=threshold)))

    assert above <= 1 + 1e-9 if rate <= threshold else above >= 1 - 1e-9
    assert below <= 1 + 1e-9 if rate >= threshold else below >= 1 - 1e-9


def test_e_value_is_one_on_average_at_the_threshold():
    fails = np.arange(21)

    mean = binom.pmf(fails, 20, 0.6) @ np.exp(log_e_above(fails, 20, threshold=0.6))

    assert float(mean) == pytest.approx(1.0, abs=1e-9)


def test_e_values_of_thousands_of_samples_do_not_overflow():
    assert float(log_e_above(100_000, 100_000, threshold=0.6)) == pytest.approx(
        100_000 * log(0.995 / 0.6) - log(40)
    )
    assert float(log_e_above(0, 100_000, threshold=0.6)) < -100


@pytest.mark.parametrize(("fails", "samples", "threshold"), [(3, 2, 0.6), (-1, 2, 0.6), (1, 2, 1.0)])
def test_impossible_counts_are_refused(fails, samples, threshold):
    with pytest.raises(ValueError, match="must"):
        log_e_above(fails, samples, threshold=threshold)


@pytest.mark.parametrize("bar", [0.5, 4.0, 9.0])
def test_fails_to_cross_are_the_least_that_reach_the_bar(bar):
    found = fails_to_cross(60, threshold=0.6, log_needed=bar)

    for n in range(61):
        reaching = [k for k in range(n + 1) if float(log_e_above(k, n, threshold=0.6)) >= bar]
        assert found[n] == (reaching[0] if reaching else n + 1)


def test_passes_to_cross_mirror_fails_to_cross():
    passes = passes_to_cross(60, threshold=0.6, log_needed=3.0)

    for n in (0, 5, 8, 30, 60):
        reaching = [n - k for k in range(n + 1) if float(log_e_below(k, n, threshold=0.6)) >= 3.0]
        assert passes[n] == (min(reaching) if reaching else n + 1)


@pytest.mark.parametrize(
    ("e_values", "family_size", "rejected"),
    [
        ([50, 25, 12, 1], None, [0, 1]),  # bars 40, 20, 13.3, 10: 25 is the last that reaches its own
        ([1, 12, 25, 50], None, [2, 3]),
        ([14, 14, 14, 1], None, [0, 1, 2]),  # none reaches 40 or 20, all three reach 13.3
        ([50, 25, 12, 1], 8, []),  # bars 80, 40, 26.7, ...
        ([80, 25, 12, 1], 8, [0]),
        ([40, 1, 1, 1], None, [0]),  # exactly the bar
        ([39.999, 1, 1, 1], None, []),
        ([], 5, []),
        ([], None, []),
    ],
)
def test_e_bh_by_hand_at_a_tenth(e_values, family_size, rejected):
    assert e_bh([log(value) for value in e_values], 0.1, family_size=family_size) == rejected


@given(LOG_E_VALUES.filter(bool), st.sampled_from([0.01, 0.1, 0.5]))
def test_e_bh_rejects_what_the_step_up_procedure_rejects_for_one_over_e(log_e_values, level):
    p_values = [min(1.0, exp(-value)) for value in log_e_values]
    oracle = multipletests(p_values, alpha=level, method="fdr_bh")[0]

    assert e_bh(log_e_values, level) == list(np.flatnonzero(oracle))


@given(LOG_E_VALUES, st.integers(0, 10))
def test_e_bh_of_a_part_of_a_family_rejects_nothing_that_the_whole_family_keeps(log_e_values, more):
    part = log_e_values[: len(log_e_values) // 2]
    size = len(log_e_values) + more

    assert set(e_bh(part, 0.1, family_size=size)) <= set(e_bh(log_e_values, 0.1, family_size=size))


def test_e_bh_refuses_a_family_smaller_than_what_is_given():
    with pytest.raises(ValueError, match="family_size must be at least 2"):
        e_bh([1.0, 2.0], 0.1, family_size=1)
    with pytest.raises(ValueError, match="none missing"):
        e_bh([float("nan")], 0.1)


def test_place_shares_sum_to_one():
    assert [place_share(place) for place in (1, 2, 3)] == [1 / 2, 1 / 6, 1 / 12]
    assert sum(place_share(place) for place in range(1, 1000)) == pytest.approx(999 / 1000)
    with pytest.raises(ValueError, match="at least 1"):
        place_share(0)


@pytest.mark.parametrize(
    ("e_values", "rejected"),
    [
        ([20, 30], [0, 1]),  # bars 1 / (0.1 / 2) = 20, then 1 / (0.1 / 6 * 2) = 30
        ([20, 29], [0]),
        ([19, 59], []),  # nothing before: 1 / (0.1 / 6) = 60
        ([19, 60], [1]),
        ([20, 1, 60], [0, 2]),  # 1 / (0.1 / 12 * 2)
        ([20, 1, 59], [0]),
    ],
)
def test_e_lond_by_hand_at_a_tenth(e_values, rejected):
    assert e_lond([log(value) for value in e_values], 0.1) == rejected


@given(LOG_E_VALUES)
def test_later_suspects_taken_together_are_at_least_those_taken_in_line(log_e_values):
    shares = [place_share(index + 1) for index in range(len(log_e_values))]

    together = set(shared_e_bh(log_e_values, shares, level=0.1))

    assert set(e_lond(log_e_values, 0.1)) <= together
    assert all(log_e_values[index] >= log(10) - 1e-9 for index in together)


@settings(deadline=None)
@given(st.lists(st.floats(0, 12), min_size=1, max_size=8), st.integers(0, 3))
def test_shared_e_bh_rejects_the_largest_set_that_meets_its_own_bars(log_e_values, before):
    count = len(log_e_values)
    shares = [place_share(index + 1) for index in range(count)]
    largest: list[int] = []
    for size in range(1, count + 1):
        bars = [max(-log(0.1), -log(0.1 * share * (size + before))) for share in shares]
        able = [index for index in range(count) if log_e_values[index] >= bars[index] - 1e-12]
        if len(able) >= size:
            largest = able

    assert shared_e_bh(log_e_values, shares, level=0.1, found_before=before) == largest


def test_early_discoveries_never_lower_the_bar_below_one_over_the_level():
    assert log_bar(0.5, level=0.1, rejected=1) == pytest.approx(log(20))
    assert log_bar(0.5, level=0.1, rejected=500) == pytest.approx(log(10))
    assert shared_e_bh([log(9.9)], [0.5], level=0.1, found_before=500) == []


def test_shares_that_sum_to_more_than_one_are_refused():
    with pytest.raises(ValueError, match="sum to at most 1"):
        shared_e_bh([1.0, 1.0], [0.6, 0.6], level=0.1)
