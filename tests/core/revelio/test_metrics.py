"""Metrics by hand: always with counts, by expected answer, invalid apart, and no rate once curtailed."""

from itertools import combinations

import numpy as np
import pytest

from vlmlab.core.revelio.metrics import (
    ConvergencePoint,
    SetResult,
    Share,
    convergence,
    diversity,
    is_failure_mode,
    measure,
    minimal_modes,
    tau_curve,
)
from vlmlab.core.revelio.types import TrialStatus

FAIL, PASS = TrialStatus.DECIDED_FAIL, TrialStatus.DECIDED_PASS


def result(word, fails, passes, status, *, invalid=0, expected="stop", is_curtailed=False):
    return SetResult(tuple(word), fails, passes, invalid, status, is_curtailed, expected)


FULL = [
    result("ab", 4, 1, FAIL, invalid=2),
    result("abc", 5, 0, FAIL, expected="go"),
    result("d", 1, 4, PASS, invalid=1),
    result("e", 0, 5, PASS, expected="go"),
    result("f", 1, 0, TrialStatus.OPEN),
    result("g", 0, 0, TrialStatus.INCOMPATIBLE),
]


def test_measure_by_hand():
    metrics = measure(FULL, needed=3, is_curtailed=False)

    assert metrics.pfm == Share(2, 4)
    assert metrics.pfm_valid == Share(1, 4)  # ab keeps 2 valid fails, fewer than 3
    assert metrics.mfr == Share(10, 20)
    assert metrics.mfr_valid == Share(7, 17)
    assert metrics.diversity == pytest.approx(1 - 2 / 3)
    assert (metrics.mode_pairs, metrics.minimal_modes) == (1, 1)
    assert metrics.invalid == Share(3, 21)
    assert (metrics.parked, metrics.unfinished, metrics.incompatible, metrics.inferences) == (0, 1, 1, 21)


def test_measure_splits_by_expected_action():
    parts = measure(FULL, needed=3, is_curtailed=False).by_expected

    assert list(parts) == ["go", "stop"]
    assert (parts["go"].pfm, parts["go"].mfr) == (Share(1, 2), Share(5, 10))
    assert (parts["stop"].pfm, parts["stop"].mfr) == (Share(1, 2), Share(5, 10))
    assert parts["go"].diversity is None


def test_curtailed_runs_have_classes_but_no_failure_rate():
    results = [
        result("a", 3, 0, FAIL, is_curtailed=True),
        result("b", 3, 2, FAIL),
        result("c", 0, 1, TrialStatus.PARKED, is_curtailed=True),
    ]

    metrics = measure(results, needed=3, is_curtailed=True)

    assert (metrics.pfm, metrics.parked) == (Share(2, 2), 1)
    assert metrics.mfr is None
    assert metrics.mfr_valid is None
    assert [one.rate for one in results] == [None, 0.6, None]


def test_a_share_of_nothing_has_no_value():
    metrics = measure([], needed=3, is_curtailed=False)

    assert metrics.pfm.value is None
    assert metrics.mfr is not None
    assert metrics.mfr.value is None


def test_share_carries_an_exact_interval():
    interval = Share(5, 5).interval(0.9)

    assert (round(interval.low, 3), interval.high) == (0.549, 1.0)


def test_is_failure_mode_at_the_threshold_and_strictly_above():
    assert is_failure_mode(3, 5, 0.6)
    assert not is_failure_mode(3, 5, 0.6, strict=True)
    assert not is_failure_mode(2, 5, 0.6)


def test_diversity_by_hand():
    # ab-bc share 1 of 3, ab-de and bc-de none.
    assert diversity([("a", "b"), ("b", "c"), ("d", "e")]) == pytest.approx((2 / 3 + 1 + 1) / 3)
    assert diversity([("a",)]) is None


def test_diversity_is_the_mean_over_pairs_worked_slowly():
    rng = np.random.default_rng(0)
    keys = [
        tuple(sorted(rng.choice(list("abcdefgh"), size=rng.integers(1, 5), replace=False))) for _ in range(30)
    ]

    slow = [1 - len(set(a) & set(b)) / len(set(a) | set(b)) for a, b in combinations(keys, 2)]

    assert diversity(keys) == pytest.approx(sum(slow) / len(slow))


def test_minimal_modes_leave_out_supersets_of_any_mode():
    keys = [tuple("abc"), tuple("ab"), tuple("abcd"), tuple("ce"), tuple("ace")]

    assert minimal_modes(keys) == [("a", "b"), ("c", "e")]


def test_convergence_marks_the_sample_that_makes_a_mode():
    a, b = ("a",), ("b",)
    samples = [(a, True), (b, False), (a, True), (b, True), (a, True), (b, True), (b, False)]

    assert convergence(samples, needed=2) == [
        ConvergencePoint(0, 0),
        ConvergencePoint(3, 1),
        ConvergencePoint(6, 2),
        ConvergencePoint(7, 2),
    ]


def test_convergence_of_nothing_is_the_origin():
    assert convergence([], needed=3) == [ConvergencePoint(0, 0)]


def test_tau_curve_counts_sets_that_reach_each_threshold():
    assert tau_curve(FULL, thresholds=[0.2, 0.8, 1.0]) == [Share(3, 4), Share(2, 4), Share(1, 4)]
