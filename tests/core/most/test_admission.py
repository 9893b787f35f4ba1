"""Fidelity before asking: what is measured once, and how far a strategy is weakened."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.most.tiny import tiny_space
from vlmlab.core.most.admission import (
    GRID,
    MAX_PROBES,
    FidelityMemory,
    allowed,
    allowed_strategy,
    as_strategy,
    largest_admissible,
)
from vlmlab.core.most.types import Fidelity, SearchTarget, Thresholds

THRESHOLDS = Thresholds()


def weakened(row, fidelity) -> tuple[float, ...]:
    target = SearchTarget(tiny_space(len(row)), fidelity, 0.8)
    return largest_admissible(np.array(row), target=target, thresholds=THRESHOLDS)


def image_distance(distance):
    return lambda strategy: Fidelity(distance(max(strategy)), 0.0)


def test_a_strategy_within_the_thresholds_comes_back_as_it_is():
    row = (0.3, 0.1, 0.0, 1 / 3)

    assert weakened(row, image_distance(lambda s: 0.2)) == row


def test_a_linear_distance_is_met_with_one_probe():
    probed = []

    def fidelity(strategy):
        probed.append(strategy)
        return Fidelity(0.4 * strategy[0], 0.0)

    strategy = weakened((1.0, 0.0, 0.0, 0.0), fidelity)

    assert strategy == (0.5, 0.0, 0.0, 0.0)
    assert probed[:2] == [(1.0, 0.0, 0.0, 0.0), (0.5, 0.0, 0.0, 0.0)]


def test_all_severities_are_weakened_by_one_share():
    strategy = weakened((0.6, 0.2, 0.0, 0.0), image_distance(lambda s: 0.5 * s))

    assert strategy[0] == pytest.approx(0.4, abs=0.6 * 3 / GRID)
    assert strategy[1] == pytest.approx(strategy[0] / 3)


def test_the_prompt_counts_as_the_picture_does():
    strategy = weakened((0.0, 0.0, 1.0, 0.0), lambda s: Fidelity(0.1, 0.3 * s[2]))

    assert strategy == (0.0, 0.0, 0.5, 0.0)


def test_a_distance_that_jumps_leaves_no_perturbation():
    strategy = weakened((1.0, 0.0, 0.0, 0.0), image_distance(lambda s: 0.21 if s else 0.0))

    assert strategy == (0.0, 0.0, 0.0, 0.0)


def test_a_lost_truth_is_weakened_until_it_is_seen():
    strategy = weakened((1.0, 0.0, 0.0, 0.0), lambda s: Fidelity(0.0, 0.0, is_admissible=s[0] <= 0.4))

    assert 0.4 - 3 / GRID <= strategy[0] <= 0.4


def test_a_distance_that_differs_in_its_last_digits_asks_the_same():
    exact = weakened((0.7, 0.2, 0.0, 0.0), image_distance(lambda s: 0.613 * s))

    assert weakened((0.7, 0.2, 0.0, 0.0), image_distance(lambda s: 0.613 * s + 1e-9)) == exact


@given(
    st.lists(st.floats(0.0, 1.0), min_size=2, max_size=6),
    st.floats(0.3, 3.0),
    st.floats(0.01, 2.0),
)
def test_the_result_is_admissible_on_the_ray_and_takes_few_probes(severities, power, scale):
    space = tiny_space(len(severities) + 1)
    row = space.repair(np.array([[*severities, 0.0]]))[0]
    probed = []

    def fidelity(strategy):
        probed.append(strategy)
        return Fidelity(scale * max(strategy) ** power, 0.0)

    strategy = weakened(row, fidelity)

    assert fidelity(strategy).image_distance <= 0.2
    assert len(probed) <= MAX_PROBES + 2
    shares = [weak / whole for weak, whole in zip(strategy, row, strict=True) if weak]
    assert all(share == pytest.approx(shares[0], abs=1e-4) for share in shares)
    assert all(share <= 1.0 for share in shares)


@given(st.floats(0.25, 4.0), st.floats(0.21, 2.0))
def test_a_smooth_distance_is_met_within_a_quarter_of_the_largest_share(power, scale):
    largest = (0.2 / scale) ** (1.0 / power)

    strategy = weakened((1.0, 0.0, 0.0, 0.0), image_distance(lambda s: scale * s**power))

    if largest > 0.1:
        assert strategy[0] <= largest + 1e-9
        assert strategy[0] >= 0.75 * largest - 1 / GRID


def test_each_strategy_is_measured_once():
    measured = []
    memory = FidelityMemory(lambda strategy: measured.append(strategy) or Fidelity(0.1, 0.2))

    first, second = memory((0.5,)), memory((0.5,))

    assert first == second == Fidelity(0.1, 0.2)
    assert measured == [(0.5,)]
    assert memory.measured == 1
    assert dict(memory.known) == {(0.5,): Fidelity(0.1, 0.2)}


def test_what_is_stored_is_not_measured_again():
    memory = FidelityMemory(lambda strategy: pytest.fail("measured"), known={(0.5,): Fidelity(0.3, 0.0)})

    assert memory((0.5,)) == Fidelity(0.3, 0.0)
    assert memory.measured == 0


@given(st.lists(st.floats(-0.5, 1.5), min_size=2, max_size=8), st.floats(0.1, 3.0))
def test_what_is_allowed_once_stays_bit_by_bit(severities, budget):
    space = tiny_space(len(severities), perturbation_budget=budget)

    once = allowed(np.array([severities]), space)

    assert allowed(once, space).tolist() == once.tolist() == space.repair(once).tolist()
    assert once.sum() <= budget
    assert once == pytest.approx(np.round(once, 6), abs=1e-12)


@given(st.lists(st.integers(20_000, 100_000), min_size=2, max_size=8), st.floats(-1e-12, 1e-12))
def test_the_last_digits_of_arithmetic_do_not_matter(millionths, noise):
    row = (np.array([millionths]) + 0.5) / 1e6
    space = tiny_space(row.shape[1])

    assert allowed(row * (1.0 + noise), space).tolist() == allowed(row, space).tolist()


def test_severities_are_cut_to_six_decimals():
    row = np.array([0.12345678, 0.2, 0.0199999, 0.02])

    assert allowed_strategy(row, tiny_space(4)) == (0.123456, 0.2, 0.0, 0.02)


def test_a_negative_zero_is_no_severity_of_its_own():
    strategy = as_strategy(np.array([-0.0, 0.5]))

    assert [str(severity) for severity in strategy] == ["0.0", "0.5"]
