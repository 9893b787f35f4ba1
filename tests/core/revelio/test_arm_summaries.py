"""Arms over their seeds, differences seed by seed, bands of curves, curves over tau; small and by hand."""

import pytest
from scipy import stats

from vlmlab.core.revelio.arm_summaries import (
    COMPARED,
    MEASURES,
    TAUS,
    RunFacts,
    band,
    differences,
    pooled_taus,
    summarise,
    tau_shares,
)
from vlmlab.core.revelio.metrics import ConvergencePoint, SetResult, Share, measure
from vlmlab.core.revelio.types import TrialStatus


def results(*fails: int, m: int = 5, action: str = "stop") -> list[SetResult]:
    """One full set for each number of fails, each of a concept of its own."""
    return [
        SetResult(
            (f"{action}{place}",), one, m - one, 0,
            TrialStatus.DECIDED_FAIL if one >= 3 else TrialStatus.DECIDED_PASS, False, action,
        )
        for place, one in enumerate(fails)
    ]  # fmt: skip


def facts(arm: str, seed: int, *fails: int, is_final: bool = True, confirmed: int | None = None) -> RunFacts:
    sets = results(*fails) + results(0, action="go")
    modes = sum(one >= 3 for one in fails)
    return RunFacts(
        arm, seed, is_final, measure(sets, needed=3, is_curtailed=False), confirmed,
        (ConvergencePoint(0, 0), ConvergencePoint(10, modes)), tau_shares(sets, is_curtailed=False), 20,
    )  # fmt: skip


def test_an_arm_has_the_mean_over_its_runs_and_the_counts_of_all():
    """Run 1: 1 of 3 sets fail; run 2: 2 of 4. Mean (1/3 + 1/2) / 2; counts 3 / 7."""
    (arm,) = summarise(["a"], [facts("a", 1, 5, 0), facts("a", 2, 4, 3, 1), facts("b", 1, 5)])

    pfm = arm.measures["pfm"]
    assert (arm.n_runs, pfm.pooled) == (2, Share(3, 7))
    assert pfm.seeds.mean == pytest.approx(5 / 12)
    assert arm.measures["modes"].seeds.mean == 1.5
    assert arm.measures["mfr"].pooled == Share(13, 35)
    assert arm.measures["confirmed"].seeds is None


def test_every_number_also_stands_by_expected_answer():
    (arm,) = summarise(["a"], [facts("a", 1, 5, 0)])

    assert {action: one["pfm"].pooled for action, one in arm.by_expected.items()} == {
        "go": Share(0, 1), "stop": Share(1, 2),
    }  # fmt: skip


def test_a_run_without_failure_modes_has_no_diversity_and_is_left_out_of_its_mean():
    (arm,) = summarise(["a"], [facts("a", 1, 0), facts("a", 2, 5, 5)])

    assert (arm.measures["diversity"].seeds.n, arm.measures["diversity"].seeds.mean) == (1, 1.0)


def test_arms_are_held_against_each_other_on_common_seeds_with_holm():
    runs = [
        *(facts("a", seed, 5, *[0] * 4) for seed in (1, 2, 3, 4)),
        *(facts("b", seed, *[5] * (1 + seed % 3), 0) for seed in (1, 2, 3, 9)),
        *(facts("c", seed, *[5] * (3 + seed % 2)) for seed in (1, 2, 3)),
    ]

    found = differences(["a", "b", "c"], runs, MEASURES["modes"])

    assert [(one.first, one.second, one.paired.n) for one in found] == [
        ("a", "b", 3), ("a", "c", 3), ("b", "c", 3),
    ]  # fmt: skip
    oracles = [
        stats.ttest_rel([2, 3, 1], [1, 1, 1]).pvalue,
        stats.ttest_rel([4, 3, 4], [1, 1, 1]).pvalue,
        stats.ttest_rel([4, 3, 4], [2, 3, 1]).pvalue,
    ]
    assert [one.paired.p_value for one in found] == [pytest.approx(one) for one in oracles]
    smallest = min(range(3), key=oracles.__getitem__)
    assert found[smallest].p_adjusted == pytest.approx(3 * oracles[smallest])
    assert found[0].paired.mean == pytest.approx(1.0)


def test_runs_at_work_are_no_part_of_a_difference():
    runs = [facts("a", 1, 5), facts("a", 2, 5), facts("b", 1, 5, 5), facts("b", 2, 5, is_final=False)]

    (found,) = differences(["a", "b"], runs, MEASURES["modes"])

    assert (found.paired.n, found.p_adjusted) == (1, None)


def test_arms_without_a_common_seed_have_no_difference():
    (found,) = differences(["a", "b"], [facts("a", 1, 5), facts("b", 2, 5)], MEASURES["modes"])

    assert found.paired is None


def test_a_band_keeps_what_an_ended_run_found_and_leaves_out_what_a_live_one_does_not_know():
    runs = [facts("a", 1, 5, 5), facts("a", 2, is_final=False), facts("a", 3, 5, 5, 5, 5)]

    points = band(runs, [0, 10, 20])

    assert [(one.inferences, one.mean, one.n) for one in points] == [(0, 0.0, 3), (10, 2.0, 3), (20, 3.0, 2)]
    assert points[1].low == 0.0


def test_a_curve_over_tau_counts_full_sets_that_reach_each_threshold():
    """Fails 5, 3, 1, 0 of 5: rates 1, .6, .2, 0."""
    lines = {tau: pooled for tau, pooled, _ in pooled_taus([facts("a", 1, 5, 3, 1)])}

    assert (lines[0.2], lines[0.25], lines[0.6], lines[0.65], lines[1.0]) == (
        Share(3, 4), Share(2, 4), Share(2, 4), Share(1, 4), Share(1, 4),
    )  # fmt: skip
    assert tuple(lines) == TAUS


def test_runs_that_stop_sets_early_have_no_curve_over_tau():
    assert tau_shares(results(5, 0), is_curtailed=True) == ()
    assert pooled_taus([]) == []


def test_what_is_compared_is_measured():
    assert set(COMPARED) <= set(MEASURES)
