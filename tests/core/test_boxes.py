"""Overlap of boxes: hand-worked values, properties, and counting pixels."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.boxes import Box, boxes_array, iou, set_iou

corner = st.integers(0, 12)
box = st.tuples(corner, corner, corner, corner).map(
    lambda c: (min(c[0], c[2]), min(c[1], c[3]), max(c[0], c[2]), max(c[1], c[3]))
)
boxes = st.lists(box, min_size=1, max_size=4)


def counted_iou(first, second):
    cells = [{(x, y) for x in range(b[0], b[2]) for y in range(b[1], b[3])} for b in (first, second)]
    union = cells[0] | cells[1]
    return len(cells[0] & cells[1]) / len(union) if cells[0] and cells[1] else 0.0


def test_iou_of_half_shifted_squares_is_a_third():
    values = iou(np.array([[0.0, 0, 2, 2]]), np.array([[1.0, 0, 3, 2], [0, 0, 2, 2], [5, 5, 6, 6]]))

    assert values.tolist() == [[pytest.approx(1 / 3), 1.0, 0.0]]


def test_iou_of_a_box_without_area_is_zero():
    flat = np.array([[1.0, 1, 1, 4]])

    assert iou(flat, flat).tolist() == [[0.0]]


@given(boxes, boxes)
def test_iou_equals_counted_pixels_and_is_symmetric(first, second):
    one, two = np.array(first, dtype=float), np.array(second, dtype=float)

    values = iou(one, two)

    expected = [[counted_iou(a, b) for b in second] for a in first]
    assert values == pytest.approx(np.array(expected))
    assert values == pytest.approx(iou(two, one).T)
    assert ((values >= 0) & (values <= 1)).all()


def test_iou_names_the_argument_of_the_wrong_shape():
    with pytest.raises(ValueError, match="second must be"):
        iou(np.zeros((1, 4)), np.zeros(4))


UNIT = np.array([[0.0, 0, 2, 2]])


def test_set_iou_of_nothing_is_one_and_of_nothing_against_a_box_zero():
    none = np.zeros((0, 4))

    assert (set_iou(none, none), set_iou(none, UNIT), set_iou(UNIT, none)) == (1.0, 0.0, 0.0)


def test_set_iou_of_one_box_each_is_their_iou():
    assert set_iou(UNIT, np.array([[1.0, 0, 3, 2]])) == pytest.approx(1 / 3)


def test_set_iou_is_lowered_by_a_surplus_box_as_by_a_missing_one():
    both = np.array([[0.0, 0, 2, 2], [5, 5, 6, 6]])

    assert set_iou(both, UNIT) == set_iou(UNIT, both) == 0.5
    assert set_iou(both, both[::-1]) == 1.0
    assert set_iou(np.repeat(UNIT, 4, axis=0), UNIT) == 0.25


def test_set_iou_matches_for_the_largest_sum_where_the_best_pair_first_would_lose():
    predicted = np.array([[0.0, 0, 10, 1], [0, 0, 8, 1]])
    truth = np.array([[0.0, 0, 9, 1], [2, 0, 12, 1]])
    pairs = iou(predicted, truth)

    assert pairs == pytest.approx(np.array([[9 / 10, 8 / 12], [8 / 9, 6 / 12]]))
    greedy = (pairs[0, 0] + pairs[1, 1]) / 2
    assert set_iou(predicted, truth) == pytest.approx((8 / 12 + 8 / 9) / 2)
    assert set_iou(predicted, truth) > greedy


def best_of_all_matchings(first, second):
    short, long = sorted((first, second), key=len)
    sums = [
        sum(counted_iou(a, b) for a, b in zip(short, chosen, strict=True))
        for chosen in permutations(long, len(short))
    ]
    return max(sums) / len(long)


@given(boxes, boxes)
def test_set_iou_is_the_best_of_all_matchings_symmetric_and_a_share(first, second):
    one, two = np.array(first, dtype=float), np.array(second, dtype=float)

    value = set_iou(one, two)

    assert value == pytest.approx(best_of_all_matchings(first, second))
    assert value == pytest.approx(set_iou(two, one))
    assert -1e-12 <= value <= 1 + 1e-12


@given(box, box)
def test_set_iou_of_single_boxes_equals_iou(first, second):
    one, two = np.array([first], dtype=float), np.array([second], dtype=float)

    assert set_iou(one, two) == pytest.approx(iou(one, two)[0, 0])


def test_set_iou_names_the_argument_of_the_wrong_shape():
    with pytest.raises(ValueError, match="first must be"):
        set_iou(np.zeros(4), UNIT)


def test_boxes_array_keeps_order_and_takes_no_boxes():
    assert boxes_array([Box(0, 1, 2, 3)]).tolist() == [[0, 1, 2, 3]]
    assert boxes_array([]).shape == (0, 4)


def test_box_knows_its_size():
    assert (Box(1, 2, 4, 8).width, Box(1, 2, 4, 8).height, Box(1, 2, 4, 8).area) == (3, 6, 18)


@pytest.mark.parametrize(
    "corners", [(2, 0, 1, 1), (0, 2, 1, 1), (0, 0, float("nan"), 1), (0, 0, 1, float("inf"))]
)
def test_box_refuses_swapped_or_endless_corners(corners):
    with pytest.raises(ValueError, match="a box needs"):
        Box(*corners)
