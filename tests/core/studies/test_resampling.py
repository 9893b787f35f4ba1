"""Intervals over participants crossed with cases."""

import numpy as np
import pytest

from vlmlab.core.seeding import rng_for
from vlmlab.core.stats import wilson
from vlmlab.core.studies.judgements import Judgement
from vlmlab.core.studies.resampling import mean_of_cases, share_of, two_way_interval


def judgements_of(table):
    """Return a judgement for each cell of a table people x cases that is not None."""
    return [
        Judgement(f"p{row}", f"c{column}", bool(value), float(value))
        for row, values in enumerate(table)
        for column, value in enumerate(values)
        if value is not None
    ]


def flags_of(judgements):
    return np.array([one.is_accepted for one in judgements], dtype=np.float64)


def share_interval(table, **named):
    judgements = judgements_of(table)
    return two_way_interval(judgements, share_of(flags_of(judgements)), rng=rng_for(0, "test"), **named)


def test_the_interval_is_that_of_a_slow_version_that_draws_people_and_cases_one_by_one():
    rng = np.random.default_rng(3)
    table = (rng.random((6, 8)) < 0.6).astype(float)
    shares = []
    for _ in range(4_000):
        people, cases = rng.integers(6, size=6), rng.integers(8, size=8)
        shares.append(table[np.ix_(people, cases)].mean())
    low, high = np.quantile(shares, [0.025, 0.975])

    found = share_interval(table.tolist(), draws=4_000)

    assert (found.low, found.high) == (pytest.approx(low, abs=0.03), pytest.approx(high, abs=0.03))


def test_the_mean_of_cases_is_that_of_a_slow_version_with_missing_answers():
    rng = np.random.default_rng(5)
    table = [[(None if rng.random() < 0.3 else float(rng.random())) for _ in range(7)] for _ in range(5)]
    judgements = judgements_of(table)
    values = np.array([one.iou for one in judgements])
    counted = np.array([float(one.iou > 0.3) for one in judgements])
    slow = []
    for _ in range(4_000):
        people, cases = rng.integers(5, size=5), rng.integers(7, size=7)
        means = []
        for case in cases:
            own = [table[one][case] for one in people]
            own = [value for value in own if value is not None and value > 0.3]
            means += [np.mean(own)] if own else []
        slow += [np.mean(means)] if means else []
    low, high = np.quantile(slow, [0.025, 0.975])

    found = two_way_interval(judgements, mean_of_cases(values, counted), rng=rng_for(0, "test"), draws=4_000)

    assert (found.low, found.high) == (pytest.approx(low, abs=0.03), pytest.approx(high, abs=0.03))


def test_answers_that_hang_on_the_person_make_it_wider_than_independent_answers_would_be():
    table = [[1.0] * 40 if row < 5 else [0.0] * 40 for row in range(10)]
    naive = wilson(200, 400)

    found = share_interval(table)

    assert found.high - found.low > 3 * (naive.high - naive.low)


def test_it_covers_the_true_share_about_as_often_as_it_says():
    covered = 0
    for number in range(120):
        rng = np.random.default_rng(number)
        chances = 0.5 + rng.uniform(-0.3, 0.3, size=(20, 1)) + rng.uniform(-0.2, 0.2, size=(1, 30))
        table = (rng.random((20, 30)) < chances).astype(float)
        found = share_interval(table.tolist(), draws=400)
        covered += found.low <= 0.5 <= found.high

    assert covered >= 106  # 95 % of 120 is 114; below 106 with probability under 0.001 at 94 %


def test_it_is_the_same_for_the_same_seed_and_stays_in_its_bounds():
    table = [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]

    first, again = share_interval(table), share_interval(table)

    assert first == again
    assert 0.0 <= first.low <= 4 / 6 <= first.high <= 1.0


def test_without_answers_or_with_too_few_usable_draws_there_is_no_interval():
    judgements = judgements_of([[1.0] * 4] * 3)
    nothing = np.zeros(len(judgements))

    assert two_way_interval([], share_of(np.zeros(0)), rng=rng_for(0, "test")) is None
    assert two_way_interval(judgements, mean_of_cases(nothing, nothing), rng=rng_for(0, "test")) is None


def test_many_answers_are_drawn_in_pieces(monkeypatch):
    table = [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]
    pieces = []
    monkeypatch.setattr("vlmlab.core.studies.resampling.MOST_AT_ONCE", 600)
    judgements = judgements_of(table)
    share = share_of(flags_of(judgements))

    two_way_interval(
        judgements,
        lambda weighed: pieces.append(len(weighed.weights)) or share(weighed),
        rng=rng_for(0, "test"),
        draws=250,
    )

    assert pieces == [100, 100, 50]


@pytest.mark.parametrize("table", [[[1.0, 0.0, 1.0]], [[1.0], [0.0], [1.0]], [[1.0]]])
def test_one_person_or_one_case_says_nothing_of_how_others_differ(table):
    assert share_interval(table) is None
