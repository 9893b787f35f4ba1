"""Confidence sequences by hand, against SciPy, and their coverage over all numbers of samples, exactly."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaln, xlog1py, xlogy

from vlmlab.core.stats import Interval, clopper_pearson, confidence_sequence, selected_level

COUNTS = st.integers(1, 80).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    ("fails", "samples", "low", "high"),
    [
        (1, 1, 0.025, 1.0),  # (1/2) / p < 20
        (2, 2, sqrt(1 / 60), 1.0),  # (1/3) / p^2 < 20
        (0, 2, 0.0, 1 - sqrt(1 / 60)),
        (1, 2, (1 - sqrt(1 - 4 / 120)) / 2, (1 + sqrt(1 - 4 / 120)) / 2),  # (1/6) / (p (1 - p)) < 20
    ],
)
def test_sequence_by_hand(fails, samples, low, high):
    interval = confidence_sequence(fails, samples)

    assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-12)


@given(COUNTS, st.sampled_from([0.8, 0.95, 0.999]))
def test_sequence_holds_the_shares_whose_martingale_is_below_its_bar(counts, level):
    fails, samples = counts
    shares = np.linspace(0.001, 0.999, 999)
    log_martingale = (
        betaln(1 + fails, 1 + samples - fails)
        - betaln(1, 1)
        - xlogy(fails, shares)
        - xlog1py(samples - fails, -shares)
    )

    interval = confidence_sequence(fails, samples, level)

    inside = (shares > interval.low + 1e-9) & (shares < interval.high - 1e-9)
    outside = (shares < interval.low - 1e-9) | (shares > interval.high + 1e-9)
    assert (log_martingale[inside] < -np.log(1 - level) + 1e-6).all()
    assert (log_martingale[outside] > -np.log(1 - level) - 1e-6).all()


@given(COUNTS, st.sampled_from([0.8, 0.95, 0.999]))
def test_sequence_holds_the_share_seen_and_the_interval_for_a_fixed_number(counts, level):
    interval, fixed = confidence_sequence(*counts, level), clopper_pearson(*counts, level)

    assert interval.low <= counts[0] / counts[1] <= interval.high
    assert interval.high - interval.low > fixed.high - fixed.low


@pytest.mark.parametrize("share", [0.02, 0.6, 0.85])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_true_share_is_ever_left_outside_at_most_as_often_as_the_level_allows(share, level):
    still_inside = np.array([1.0])  # chance of each number of fails while it has always been inside
    for n in range(1, 201):
        still_inside = np.append(still_inside * (1 - share), 0) + np.append(0, still_inside * share)
        for fails in np.flatnonzero(still_inside):
            interval = confidence_sequence(int(fails), n, level)
            if not interval.low <= share <= interval.high:
                still_inside[fails] = 0.0

    assert level <= still_inside.sum() < 1.0


def test_fixed_intervals_do_not_survive_looking_again_and_again():
    still_inside = np.array([1.0])
    for n in range(1, 101):
        still_inside = np.append(still_inside * 0.4, 0) + np.append(0, still_inside * 0.6)
        for fails in np.flatnonzero(still_inside):
            interval = clopper_pearson(int(fails), n, 0.95)
            if not interval.low <= 0.6 <= interval.high:
                still_inside[fails] = 0.0

    assert still_inside.sum() < 0.9


def test_without_samples_everything_is_possible():
    assert confidence_sequence(0, 0, 0.9) == Interval(0.0, 1.0, 0.9)


@pytest.mark.parametrize(("fails", "samples", "level"), [(3, 2, 0.95), (-1, 2, 0.95), (1, 2, 1.0)])
def test_impossible_counts_are_refused(fails, samples, level):
    with pytest.raises(ValueError, match="must"):
        confidence_sequence(fails, samples, level)


def test_level_after_a_choice_of_four_of_twenty():
    assert selected_level(0.95, selected=4, share=1 / 20) == pytest.approx(0.99)
    assert selected_level(0.95, selected=20, share=1 / 20) == pytest.approx(0.95)
    assert selected_level(0.95, selected=3, share=1 / 2) == pytest.approx(0.95)
    with pytest.raises(ValueError, match="selected"):
        selected_level(0.95, selected=0, share=0.5)
    with pytest.raises(ValueError, match="share"):
        selected_level(0.95, selected=1, share=0.0)
