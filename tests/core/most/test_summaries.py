"""Table rows by hand: every run counted once, likeness over boxes only, costs over finished runs."""

import pytest

from tests.core.most.finished_runs import numbers, run, wrong_from_the_start
from vlmlab.core.most.outcomes import FailureCriterion, RunStatus
from vlmlab.core.most.summaries import (
    OutcomeCounts,
    Rate,
    Spread,
    by_cell,
    effectiveness,
    efficiency,
    outcome_counts,
    spread,
)
from vlmlab.core.most.types import AnswerStatus

RESULTS = [
    run("s1", case=numbers(iou=0.49, ms_ssim=0.8, ned=0.0, swtd=0.6), evaluations=10, wall_s=4.0),
    run("s2", case=numbers(iou=0.10, ms_ssim=0.9, ned=0.2, swtd=0.8), evaluations=30, wall_s=8.0),
    run("s3", case=numbers(iou=0.50, ms_ssim=1.0, ned=0.4, swtd=0.7, is_faithful=False), evaluations=20),
    run("s4", case=numbers(status=AnswerStatus.EMPTY, iou=0.0, ms_ssim=0.1), evaluations=40),
    run("s5", case=numbers(status=AnswerStatus.MALFORMED, iou=0.0, ned=1.0), evaluations=50),
    wrong_from_the_start("s6"),
    run("s7", status=RunStatus.CALL_ERROR, evaluations=7),
    run("s8", status=RunStatus.UNFINISHED, evaluations=8),
]


def test_every_run_is_counted_once():
    counts = outcome_counts(RESULTS)

    assert counts == OutcomeCounts(
        below=2, empty=1, malformed=1, held=1, baseline_failures=1, call_errors=1, unfinished=1
    )
    assert counts.finished == 5


def test_attack_success_under_each_criterion_has_the_same_denominator():
    counts = outcome_counts(RESULTS)

    rates = [counts.attack_success(criterion) for criterion in FailureCriterion]

    assert rates == [Rate(2, 5), Rate(3, 5), Rate(4, 5)]
    assert rates[0].value == 0.4
    # Wilson by hand, z = 1.96: centre (0.4 + 0.38415) / 1.76829 = 0.44345, half 0.32585.
    assert rates[0].interval() == pytest.approx((0.1176, 0.7693), abs=1e-4)


def test_a_rate_of_nothing_has_no_value():
    assert outcome_counts([]).attack_success(FailureCriterion.C1) == Rate(0, 0)
    assert Rate(0, 0).value is None
    assert Rate(0, 0).interval() == (0.0, 1.0)


def test_boxes_are_judged_at_the_threshold_of_their_search():
    results = [run(clean_iou=0.9, iou_threshold=0.75, case=numbers(iou=0.7))]

    assert outcome_counts(results).below == 1
    with pytest.raises(ValueError, match=r"one IoU threshold, got \[0.5, 0.75\]"):
        outcome_counts([*results, run()])


def test_likeness_is_over_runs_that_ended_with_boxes():
    row = effectiveness(RESULTS)

    assert row.outcomes == outcome_counts(RESULTS)
    assert row.unfaithful == 1
    # 0.31, 0.7, 0.3, 0.8 and 0.8.
    assert (row.iou_drop.n, row.iou_drop.mean) == (5, pytest.approx(0.582))
    assert row.ms_ssim == Spread(3, pytest.approx(0.9), pytest.approx(0.1))
    assert row.ned == Spread(3, pytest.approx(0.2), pytest.approx(0.2))
    assert row.swtd == Spread(3, pytest.approx(0.7), pytest.approx(0.1))
    assert row.swtd_mean == Spread(3, pytest.approx(0.75), pytest.approx(0.0))


def test_costs_are_over_all_finished_runs():
    row = efficiency(RESULTS)

    assert row.evaluations == Spread(5, 30.0, pytest.approx(250**0.5))
    assert row.wall_s == Spread(5, pytest.approx(2.4), pytest.approx((51.2 / 4) ** 0.5))
    assert row.image_budget == Spread(5, 0.25, 0.0)
    assert row.text_budget == Spread(5, 0.125, 0.0)
    assert row.total_budget == Spread(5, 0.375, 0.0)
    assert (row.perturbation_s.mean, row.inference_s.mean) == (0.0, 0.0)


def test_spread_of_too_few():
    assert spread([]) == Spread(0, None, None)
    assert spread([2.0]) == Spread(1, 2.0, None)


def test_cells_are_by_name_and_regimes_in_their_order():
    results = [
        run(regime=regime, sut=sut) for sut in ("qwen", "kimi") for regime in ("joint", "text", "image")
    ]

    cells = by_cell([*results, run("s2", scene_type="kitchen")])

    assert list(cells) == [
        ("kimi", "street", "image"),
        ("kimi", "street", "text"),
        ("kimi", "street", "joint"),
        ("qwen", "kitchen", "image"),
        ("qwen", "street", "image"),
        ("qwen", "street", "text"),
        ("qwen", "street", "joint"),
    ]
    assert cells["qwen", "street", "joint"] == [results[0]]
