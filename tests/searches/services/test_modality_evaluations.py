"""Evaluations of a run as points: numbers, the front, and which of them a table shows."""

import pytest

from searches.models import Evaluation
from searches.services.modality_evaluations import (
    evaluation_lines,
    find_evaluation,
    run_points,
    stage_words,
)
from searches.services.modality_inputs import space_of
from tests.factories import make_sut
from tests.searches.modality_factory import Ending, make_grid, make_modality_campaign, make_seed_dataset
from vlmlab.core.most.types import Thresholds

pytestmark = pytest.mark.django_db

# status, IoU, f2, f3: by hand; the clean IoU is 0.8
ROWS = [
    ("boxes", 0.8, 0.0, 0.0),  # nothing lost, nothing changed: on the front
    ("boxes", 0.4, 0.1, 0.0),  # on the front
    ("boxes", 0.6, 0.2, 0.0),  # the one before is lower in f1 and f2
    ("call_error", 0.0, 0.05, 0.0),
    ("empty", 0.0, 0.01, 0.0),  # f1 = 0, but no boxes
    ("boxes", 0.2, 0.3, 0.0),  # too far from the clean picture, and still on the front
]


@pytest.fixture
def run():
    campaign = make_modality_campaign(make_seed_dataset(1))
    ending = Ending(iou=0.4, clean_iou=0.8, severities={"fog": 0.3})
    (run,) = make_grid(campaign, suts=[make_sut()], ended=lambda place: ending, regimes=("image",))
    strategy = list(space_of(run).strategy({"fog": 0.3}))
    Evaluation.objects.bulk_create(
        Evaluation(
            run_id=run.run_id,
            step=number // 4,
            position=number % 4,
            strategy=strategy,
            status=status,
            iou=iou,
            image_distance=f2,
            prompt_distance=f3,
            is_hit=number == 1,
        )
        for number, (status, iou, f2, f3) in enumerate(ROWS)
    )
    return run


@pytest.mark.parametrize(
    ("stage", "n_operators", "words"),
    [
        ("everything", 26, "a little of everything"),
        ("alone", 26, "a little of everything"),  # it shares its batch with the first single operators
        ("alone", 1, "alone"),
        ("combined", 1, "alone"),  # the last single operators share theirs with combinations
        ("combined", 3, "combined"),
        ("weaker", 1, "weaker"),
        ("generation 4", 2, "generation 4"),
    ],
)
def test_the_stage_of_an_evaluation_says_what_was_asked(stage, n_operators, words):
    assert stage_words(stage, n_operators=n_operators) == words


def test_failed_calls_count_as_no_evaluation(run):
    points = run_points(run, thresholds=Thresholds()).points

    assert [(point.key, point.number, point.f1) for point in points] == [
        ("0.0", 1, 1.0),
        ("0.1", 2, 0.5),
        ("0.2", 3, pytest.approx(0.75)),
        ("0.3", 0, None),
        ("1.0", 4, 0.0),
        ("1.1", 5, pytest.approx(0.25)),
    ]


def test_the_front_holds_answers_with_boxes_that_no_other_beats(run):
    found = run_points(run, thresholds=Thresholds())

    assert [point.key for point in found.shown("front")] == ["0.0", "0.1", "1.1"]
    assert [point.key for point in found.points if not point.is_admitted] == ["1.1"]
    assert found.counts() == {"all": 6, "hits": 1, "front": 3, "silent": 1, "errors": 1}


def test_a_table_has_the_acting_operators_of_its_rows(run, django_assert_num_queries):
    points = run_points(run, thresholds=Thresholds()).shown("hits")

    with django_assert_num_queries(1):
        lines = evaluation_lines(run, points, operators=space_of(run).operators)

    assert [(line.point.number, [bar.operator for bar in line.bars]) for line in lines] == [(2, ["fog"])]


@pytest.mark.parametrize("key", ["", "1", "0.9", "9.9", "a.b", "²." + "1", "0.1.2", "-1.0", "9" * 30 + ".0"])
def test_an_address_that_names_no_evaluation_finds_none(run, key):
    assert find_evaluation(run, key) is None


def test_an_evaluation_of_another_run_is_not_found(run):
    other = make_grid(
        make_modality_campaign(), suts=[make_sut()], ended=lambda place: Ending(), regimes=("image",)
    )[0]

    assert find_evaluation(other, "0.1") is None
    assert find_evaluation(run, "0.1").iou == 0.4
