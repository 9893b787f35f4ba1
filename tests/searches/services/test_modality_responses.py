"""Severity-response curves: which evaluations count, points by hand, intervals, what is behind a mark."""

import pytest
from scipy.stats import t as student

from searches.models import Evaluation
from searches.services.lone_strategies import Scope, lone_evaluations
from searches.services.modality_inputs import space_of
from searches.services.modality_responses import severity_responses
from tests.factories import make_sut
from tests.searches.modality_factory import Ending, make_grid, make_modality_campaign, make_seed_dataset
from vlmlab.core.most.outcomes import FailureCriterion
from vlmlab.core.stats import wilson

pytestmark = pytest.mark.django_db


class Sweep:
    """A campaign on some seed images whose evaluations the test writes."""

    def __init__(self, n_pictures=4, *, regimes=("image",), algorithm="sweep", replicates=1):
        self.sut = make_sut()
        self.campaign = make_modality_campaign(
            make_seed_dataset(n_pictures), config={"algorithm": algorithm, "inference_budget": 500}
        )
        self.runs = make_grid(
            self.campaign,
            suts=[self.sut],
            ended=lambda place: Ending(iou=0.7, clean_iou=0.8 if place.number % 2 else 0.9),
            regimes=regimes,
            replicates=replicates,
        )
        self.number = 0

    def answer(self, run, severities, *, iou=0.0, status="boxes", f2=0.0, stage="", attempt=0):
        self.number += 1
        return Evaluation.objects.create(
            run_id=run.run_id,
            step=self.number,
            position=0,
            strategy=list(space_of(run).strategy(severities)),
            status=status,
            iou=iou,
            image_distance=f2,
            stage=stage,
            attempt=attempt,
        )

    def responses(self, **chosen):
        return severity_responses(self.campaign, self.sut, **chosen)


def test_a_point_is_the_mean_of_all_answers_to_one_operator_alone():
    sweep = Sweep()
    for run, iou in zip(sweep.runs, (0.9, 0.7, 0.3, 0.1), strict=True):
        sweep.answer(run, {"fog": 0.4}, iou=iou)
        sweep.answer(run, {"fog": 0.4, "rain": 0.2}, iou=0.0)  # not alone
    sweep.answer(sweep.runs[0], {}, iou=1.0)  # nothing acts

    (curve,) = sweep.responses().curves

    (point,) = curve.points
    assert (curve.operator, point.severity, point.n) == ("fog", 0.4, 4)
    assert point.mean_iou == pytest.approx(0.5)
    assert point.sd == pytest.approx(0.3651484, abs=1e-6)  # sqrt(0.4 / 3)
    low, high = student.interval(0.95, 3, 0.5, 0.3651484 / 2)
    assert (point.iou_interval.low, point.iou_interval.high) == pytest.approx((max(low, 0), min(high, 1)))
    assert point.failures(FailureCriterion.C1) == 2
    assert point.failure_interval(FailureCriterion.C1) == wilson(2, 4)


def test_answers_without_boxes_count_as_0_and_fail_by_their_criterion_and_failed_calls_do_not_count():
    sweep = Sweep()
    for run, status in zip(sweep.runs, ("boxes", "empty", "malformed", "call_error"), strict=True):
        sweep.answer(run, {"fog": 0.4}, iou=0.9 if status == "boxes" else 0.0, status=status)

    point = sweep.responses().curves[0].points[0]

    assert (point.n, point.mean_iou) == (3, pytest.approx(0.3))
    assert [point.failures(one) for one in FailureCriterion] == [0, 1, 2]


def test_curves_begin_at_the_clean_answers_of_perturbed_seed_images():
    responses = Sweep().responses()

    assert responses.curves == ()
    assert (responses.clean.n, responses.clean.mean_iou) == (4, pytest.approx(0.85))


def test_joint_runs_ask_the_same_again_and_are_left_out():
    sweep = Sweep(1, regimes=("image", "text", "joint"))
    image, text, joint = sweep.runs
    sweep.answer(image, {"fog": 0.4}, iou=0.6)
    sweep.answer(text, {"casing": 0.4}, iou=0.5)
    sweep.answer(joint, {"fog": 0.4}, iou=0.1)

    points = {curve.operator: curve.points[0].mean_iou for curve in sweep.responses().curves}

    assert points == {"casing": 0.5, "fog": 0.6}


def test_a_joint_campaign_alone_gives_both_modalities():
    sweep = Sweep(1, regimes=("joint",))
    sweep.answer(sweep.runs[0], {"fog": 0.4}, iou=0.6)
    sweep.answer(sweep.runs[0], {"casing": 0.4}, iou=0.5)

    assert [(one.operator, one.modality) for one in sweep.responses().curves] == [
        ("casing", "text"),
        ("fog", "image"),
    ]


def test_a_sweep_is_put_together_by_level_wherever_a_seed_image_ends():
    sweep = Sweep(2)
    near, far = sweep.runs  # snow may go up to 0.3 on one seed image and to 0.9 on the other
    for level in (1, 2, 3):
        stage = f"level {level} of 3"
        sweep.answer(near, {"snow": 0.1 * level}, iou=0.8 - 0.2 * level, stage=stage)
        sweep.answer(far, {"snow": 0.3 * level}, iou=0.9 - 0.1 * level, stage=stage)

    (curve,) = sweep.responses().curves

    assert curve.is_by_level
    assert [(one.level, one.n) for one in curve.points] == [(1, 2), (2, 2), (3, 2)]
    assert [one.severity for one in curve.points] == pytest.approx([0.2, 0.4, 0.6])
    assert [one.mean_iou for one in curve.points] == pytest.approx([0.7, 0.55, 0.4])
    assert [(one.low, one.high) for one in curve.points] == [
        pytest.approx(span) for span in ((0.1, 0.3), (0.2, 0.6), (0.3, 0.9))
    ]


def test_a_question_put_again_in_a_later_batch_stays_in_its_level():
    sweep = Sweep(1)
    (run,) = sweep.runs
    sweep.answer(run, {"fog": 0.2}, status="call_error", stage="level 1 of 2")
    sweep.answer(run, {"fog": 0.2}, iou=0.7, stage="level 2 of 2", attempt=1)
    sweep.answer(run, {"fog": 0.4}, iou=0.5, stage="level 2 of 2")

    (curve,) = sweep.responses().curves

    assert [(one.level, one.severity, one.n) for one in curve.points] == [(1, 0.2, 1), (2, 0.4, 1)]


def test_the_evaluations_behind_a_level_leave_out_the_same_severity_of_another():
    sweep = Sweep(2)
    near, far = sweep.runs
    sweep.answer(near, {"snow": 0.3}, iou=0.1, stage="level 2 of 2")
    sweep.answer(far, {"snow": 0.3}, iou=0.6, stage="level 1 of 2")
    scope = Scope(sweep.campaign.pk, sweep.sut.pk)

    found = lone_evaluations(sweep.campaign, scope, operator="snow", low=0.0, high=1.0, level=2)

    assert [(one.run_id, one.iou) for one in found] == [(near.run_id, 0.1)]


def test_many_severities_are_put_together_in_tenths():
    sweep = Sweep(1, algorithm="screen")
    for number in range(11):
        sweep.answer(sweep.runs[0], {"fog": 0.3 + 0.01 * number}, iou=0.5)

    (curve,) = sweep.responses().curves

    assert [(round(one.low, 3), round(one.high, 3), one.n) for one in curve.points] == [
        (0.3, 0.39, 10),
        (0.4, 0.4, 1),
    ]
    assert not sweep.responses().is_sweep


def test_inputs_that_are_too_far_on_average_are_marked():
    sweep = Sweep(2)
    for run, f2 in zip(sweep.runs, (0.1, 0.35), strict=True):
        sweep.answer(run, {"fog": 0.4}, iou=0.5, f2=f2)
        sweep.answer(run, {"fog": 0.2}, iou=0.5, f2=0.1)

    assert [point.is_far for point in sweep.responses().curves[0].points] == [False, True]


def test_curves_can_be_narrowed_to_a_scene_type_and_never_mix_repeats():
    sweep = Sweep(2, replicates=2)  # a picture of the street, one of the kitchen
    ious = iter((0.9, 0.1, 0.5, 0.3))
    for run in sweep.runs:
        sweep.answer(run, {"fog": 0.4}, iou=next(ious))

    def mean(**chosen):
        return sweep.responses(**chosen).curves[0].points[0].mean_iou

    assert mean() == pytest.approx(0.7)
    assert mean(replicate=1) == pytest.approx(0.2)
    assert mean(stratum="kitchen") == pytest.approx(0.5)


def test_a_new_answer_is_seen_once_its_run_moves_on():
    sweep = Sweep(1)
    sweep.answer(sweep.runs[0], {"fog": 0.4}, iou=0.6)
    before = sweep.responses().curves[0].n
    sweep.answer(sweep.runs[0], {"fog": 0.5}, iou=0.6)
    run = sweep.runs[0]
    run.evaluations += 1
    run.save()

    assert (before, sweep.responses().curves[0].n) == (1, 2)


def test_the_evaluations_behind_a_mark_begin_with_the_worst():
    sweep = Sweep(3)
    for run, iou in zip(sweep.runs, (0.5, 0.1, 0.3), strict=True):
        sweep.answer(run, {"fog": 0.4}, iou=iou)
        sweep.answer(run, {"fog": 0.6}, iou=0.0)
        sweep.answer(run, {"rain": 0.4}, iou=0.0)
    scope = Scope(sweep.campaign.pk, sweep.sut.pk)

    found = lone_evaluations(sweep.campaign, scope, operator="fog", low=0.35, high=0.45)

    assert [one.iou for one in found] == [0.1, 0.3, 0.5]
    assert not lone_evaluations(sweep.campaign, scope, operator="snow", low=0.0, high=1.0).exists()
    other = Scope(sweep.campaign.pk, make_sut().pk)
    assert not lone_evaluations(sweep.campaign, other, operator="fog", low=0.0, high=1.0).exists()
