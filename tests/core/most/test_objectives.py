"""Objectives by hand, their limits, and which answers no other beats."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vlmlab.core.most.objectives import (
    Objectives,
    PromptDistance,
    cosine_distance,
    image_distance,
    iou_ratio,
    non_dominated,
    objectives_of,
)
from vlmlab.core.most.types import AnswerStatus, Fidelity, Outcome, Query

VECTORS = {"locate the car": (1.0, 0.0), "locate the cat": (0.6, 0.8), "locate": (-1.0, 0.0)}


def test_objectives_of_boxes():
    outcome = Outcome(Query((0.5,)), AnswerStatus.BOXES, 0.3, Fidelity(0.1, 0.05))

    assert objectives_of(outcome, clean_iou=0.6) == Objectives(0.5, 0.1, 0.05)


@pytest.mark.parametrize(
    ("status", "iou", "ratio"),
    [
        (AnswerStatus.BOXES, 0.2, 0.25),
        (AnswerStatus.BOXES, 0.9, 1.125),  # better than clean stays better
        (AnswerStatus.BOXES, 0.0, 0.0),
        (AnswerStatus.EMPTY, 0.0, 0.0),
        (AnswerStatus.MALFORMED, 0.7, 0.0),  # boxes that were saved do not count
    ],
)
def test_iou_ratio_by_status(status, iou, ratio):
    assert iou_ratio(status, iou, clean_iou=0.8) == pytest.approx(ratio)


def test_a_failed_call_and_a_clean_answer_that_found_nothing_have_no_ratio():
    with pytest.raises(ValueError, match="status must"):
        iou_ratio(AnswerStatus.CALL_ERROR, 0.0, clean_iou=0.8)
    with pytest.raises(ValueError, match="clean_iou must"):
        iou_ratio(AnswerStatus.BOXES, 0.0, clean_iou=0.0)


def test_image_distance_by_hand():
    black = np.zeros((2, 3, 3), np.uint8)
    spot = black.copy()
    spot[0, 0] = (3, 4, 12)

    assert image_distance(black, black) == 0.0
    assert image_distance(black, np.full_like(black, 255)) == pytest.approx(1.0)
    assert image_distance(black, np.full_like(black, 51)) == pytest.approx(0.2)
    # The norm of (3, 4, 12) is 13, over 18 numbers.
    assert image_distance(black, spot) == pytest.approx(13 / (255 * 18**0.5))
    assert image_distance(spot, black) == image_distance(black, spot)


def test_image_distance_of_a_large_picture_is_exact():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 256, (2, 300, 1001, 3), dtype=np.uint8)

    exact = int(((first.astype(np.int64) - second) ** 2).sum())

    assert image_distance(first, second) == pytest.approx((exact / first.size) ** 0.5 / 255, rel=1e-12)


def test_image_distance_takes_views():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 256, (2, 8, 6, 3), dtype=np.uint8)

    assert image_distance(first[:, ::-1], second[:, ::-1]) == pytest.approx(image_distance(first, second))


@pytest.mark.parametrize(
    ("first", "second", "sentence"),
    [
        (np.zeros((2, 2, 3), np.uint8), np.zeros((2, 3, 3), np.uint8), "same shape"),
        (np.zeros((0, 2, 3), np.uint8), np.zeros((0, 2, 3), np.uint8), "same shape"),
        (np.zeros((2, 2, 3)), np.zeros((2, 2, 3), np.uint8), "uint8"),
    ],
)
def test_image_distance_refuses_what_cannot_be_compared(first, second, sentence):
    with pytest.raises(ValueError, match=sentence):
        image_distance(first, second)


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [
        ((1, 0), (2, 0), 0.0),
        ((1, 0), (0.6, 0.8), 0.4),
        ((3, 4), (4, 3), 1 - 24 / 25),
        ((1, 0), (0, 5), 1.0),
        ((1, 0), (-1, 0), 1.0),  # 2, clipped
        ((0.1, 0.3), (0.1, 0.3), 0.0),  # never a little below 0
    ],
)
def test_cosine_distance_by_hand(first, second, distance):
    value = cosine_distance(np.array(first), np.array(second, dtype=np.float32))

    assert value == pytest.approx(distance, abs=1e-7)
    assert 0.0 <= value <= 1.0


def test_a_vector_has_no_distance_to_itself_on_any_processor():
    vectors = np.random.default_rng(0).normal(size=(200, 384)).astype(np.float32)

    assert {cosine_distance(one, one.copy()) for one in vectors} == {0.0}


@pytest.mark.parametrize(
    ("first", "second"),
    [((0, 0), (1, 0)), ((1, 0), (1, 0, 0)), (((1, 0),), ((1, 0),)), ((np.nan, 0), (1, 0))],
)
def test_vectors_without_an_angle_are_refused(first, second):
    with pytest.raises(ValueError, match="first and second must"):
        cosine_distance(np.array(first), np.array(second))


class Embedder:
    """Looks vectors up and counts how often it was asked."""

    def __init__(self):
        self.asked = []

    def __call__(self, text):
        self.asked.append(text)
        return np.array(VECTORS[text])


def test_prompts_are_embedded_once_and_the_clean_one_only_when_needed():
    embed = Embedder()
    distance = PromptDistance("locate the car", embed)

    assert distance("locate the car") == 0.0
    assert embed.asked == []
    assert [distance("locate the cat"), distance("locate"), distance("locate the cat")] == [0.4, 1.0, 0.4]
    assert embed.asked == ["locate the car", "locate the cat", "locate"]


def test_the_oldest_distances_are_forgotten():
    embed = Embedder()
    distance = PromptDistance("locate the car", embed, remembered=1)

    values = [distance(text) for text in ("locate the cat", "locate", "locate", "locate the cat")]

    assert values == [0.4, 1.0, 1.0, 0.4]
    assert embed.asked == ["locate the car", "locate the cat", "locate", "locate the cat"]


def test_non_dominated_by_hand():
    rows = [
        Objectives(0.2, 0.1, 0.0),
        Objectives(0.2, 0.2, 0.0),  # beaten by the first
        Objectives(0.1, 0.3, 0.0),
        Objectives(0.2, 0.1, 0.0),  # equal to the first
        Objectives(1.0, 0.0, 0.0),
        Objectives(1.0, 0.1, 0.0),
    ]

    assert non_dominated(rows).tolist() == [True, False, True, True, True, False]
    assert non_dominated([]).tolist() == []
    with pytest.raises(ValueError, match="rows must"):
        non_dominated(np.array([[0.0, np.nan]]))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(*[st.integers(0, 4)] * 3), min_size=1, max_size=25))
def test_non_dominated_is_as_defined(rows):
    def beats(one, other):
        return all(x <= y for x, y in zip(one, other, strict=True)) and one != other

    expected = [not any(beats(other, row) for other in rows) for row in rows]

    assert non_dominated(np.array(rows, dtype=float)).tolist() == expected
