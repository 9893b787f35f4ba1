"""Regimes are paired by seed image, tested as named, and adjusted over the family whose size is told."""

import numpy as np
import pytest

from tests.core.most.finished_runs import numbers, run, wrong_from_the_start
from vlmlab.core.most.comparisons import PAIRED_METRICS, RegimeComparison, compare_regimes
from vlmlab.core.most.outcomes import RunStatus
from vlmlab.core.most.types import REGIMES, AnswerStatus
from vlmlab.core.stats import holm

EMPTY = AnswerStatus.EMPTY


def compared(results, name):
    return compare_regimes(results, PAIRED_METRICS[name])


def text_and_joint(values, field):
    """Runs of both regimes on one seed image for each pair of values."""
    return [
        run(f"s{number}", regime, case=numbers(**{field: value}))
        for number, pair in enumerate(values)
        for regime, value in zip(("text", "joint"), pair, strict=True)
    ]


def test_attack_success_is_compared_by_mcnemar():
    # Six fail only jointly, one only by text, two by both, one by neither.
    pairs = [(0.9, 0.1)] * 6 + [(0.1, 0.9)] + [(0.1, 0.1)] * 2 + [(0.9, 0.9)]

    family = compared(text_and_joint(pairs, "iou"), "asr_c1")

    assert family.comparisons == (
        RegimeComparison(
            "qwen", "street", ("text", "joint"), n=10, excluded=0, mean_difference=pytest.approx(-0.5),
            first_larger=1, second_larger=6, effect=pytest.approx(-5 / 7), p_value=2 * 8 / 2**7,
            p_adjusted=2 * 8 / 2**7,
        ),
    )  # fmt: skip
    assert (family.size, family.untested) == (1, 0)


def test_each_criterion_is_a_metric_of_its_own():
    results = [
        run("s1", "text", case=numbers(iou=0.9)),
        run("s1", "joint", case=numbers(status=EMPTY, iou=0.0)),
        run("s2", "text", case=numbers(iou=0.9)),
        run("s2", "joint", case=numbers(status=AnswerStatus.MALFORMED, iou=0.0)),
    ]

    failed_jointly = [
        compared(results, name).comparisons[0].second_larger for name in ("asr_c1", "asr_c2", "asr_c3")
    ]

    assert failed_jointly == [0, 1, 2]


def test_likeness_is_compared_by_signed_ranks():
    # Differences 0.1, 0.2, 0.3, 0.4, 0.5 and -0.05: ranks 2..6 and 1; 2 of 64 signs have a sum of at most 1.
    pairs = [(0.2, 0.1), (0.3, 0.1), (0.4, 0.1), (0.5, 0.1), (0.6, 0.1), (0.1, 0.15)]

    (found,) = compared(text_and_joint(pairs, "ned"), "ned").comparisons

    assert (found.n, found.first_larger, found.second_larger) == (6, 5, 1)
    assert found.p_value == pytest.approx(4 / 64)
    assert found.effect == pytest.approx(19 / 21)
    assert found.mean_difference == pytest.approx(1.45 / 6)
    assert not found.is_significant()
    assert found.is_significant(0.1)


def test_likeness_needs_boxes_in_both_regimes_and_cost_needs_finished_runs():
    results = [
        run("pair", "text"),
        run("pair", "joint"),
        run("silent", "text", case=numbers(status=EMPTY, iou=0.0)),
        run("silent", "joint"),
        run("alone", "joint"),
        run("broken", "text", status=RunStatus.CALL_ERROR),
        run("broken", "joint"),
        wrong_from_the_start("wrong", "text"),
        wrong_from_the_start("wrong", "joint"),
    ]

    (likeness,) = compared(results, "ned").comparisons
    (cost,) = compared(results, "text_budget").comparisons

    assert (likeness.n, likeness.excluded, likeness.excluded_share) == (1, 3, 0.75)
    assert (cost.n, cost.excluded) == (2, 2)


def test_pairs_are_within_system_and_scene_type():
    results = [
        run("s1", "text"),
        run("s1", "joint", sut="kimi"),
        run("s1", "joint", scene_type="kitchen"),
        run("s1", "text", sut="kimi"),
    ]

    family = compared(results, "swtd")

    assert [(one.sut, one.scene_type, one.n) for one in family.comparisons] == [("kimi", "street", 1)]


def test_a_comparison_without_a_pair_is_told_and_not_counted():
    results = [
        *text_and_joint([(0.2, 0.1)] * 5, "ned"),
        run("s1", "text", sut="kimi", case=numbers(status=EMPTY, iou=0.0)),
        run("s1", "joint", sut="kimi"),
    ]

    family = compared(results, "ned")

    assert (family.size, family.untested) == (1, 1)
    untested, tested = family.comparisons
    assert (untested.sut, untested.n, untested.excluded, untested.p_value) == ("kimi", 0, 1, None)
    assert not untested.is_significant()
    assert tested.p_adjusted == tested.p_value == pytest.approx(2 / 2**5)


def grid(suts=4, scene_types=4, seeds=6):
    """The grid of the paper, with fewer seed images: 4 systems, 4 scene types, 3 regimes."""
    rng = np.random.default_rng(0)
    return [
        run(
            f"s{seed}", regime, sut=f"sut {sut}", scene_type=f"scene {scene}",
            case=numbers(swtd=rng.random(), ned=rng.random(), iou=rng.random()),
            evaluations=int(rng.integers(99)),
        )
        for sut in range(suts)
        for scene in range(scene_types)
        for regime in REGIMES
        for seed in range(seeds)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("asr_c1", 48), ("asr_c2", 48), ("asr_c3", 48), ("swtd", 48), ("swtd_mean", 48),
        ("ms_ssim", 16), ("ned", 16),  # the paper counts significant ones of 16
        ("image_budget", 16), ("text_budget", 16), ("total_budget", 48), ("evaluations", 48), ("wall_s", 48),
    ],
)  # fmt: skip
def test_a_family_is_one_metric_over_the_whole_grid(name, size):
    family = compared(grid(), name)

    assert (family.size, family.untested) == (size, 0)
    assert {one.regimes for one in family.comparisons} == set(family.metric.regime_pairs)


def test_p_values_are_adjusted_over_the_family():
    family = compared(grid(), "swtd")

    p_values = [one.p_value for one in family.comparisons]

    assert len(set(p_values)) > 5
    assert [one.p_adjusted for one in family.comparisons] == holm(p_values)


def test_runs_that_cannot_be_paired_are_refused():
    with pytest.raises(ValueError, match="s1 twice"):
        compared([run("s1", "text"), run("s1", "text")], "swtd")
    with pytest.raises(ValueError, match="one IoU threshold"):
        compared([run("s1"), run("s2", iou_threshold=0.25)], "swtd")
