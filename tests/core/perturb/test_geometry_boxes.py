"""Hulls of moved boxes, and how well they are known."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vlmlab.core.boxes import iou
from vlmlab.core.perturb.geometry import Warp, about, tilt
from vlmlab.core.perturb.geometry_boxes import (
    check_boxes,
    moved_boxes,
    tight_shares,
    visible_shares,
    within_frame,
)

SIZE = (200, 100)
SQUARE = np.array([[50.0, 30.0, 90.0, 70.0]])


def turned(degrees, centre=(100.0, 50.0)):
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return Warp(about(centre, np.array([[cos, -sin], [sin, cos]])))


def shifted(right, down):
    return Warp(np.array([[1.0, 0.0, right], [0.0, 1.0, down], [0.0, 0.0, 1.0]]))


def test_a_hull_holds_the_turned_corners():
    (hull,) = moved_boxes(SQUARE, turned(30.0, centre=(70.0, 50.0)), SIZE)

    half = 20.0 * (math.cos(math.pi / 6) + math.sin(math.pi / 6))
    assert hull == pytest.approx([70.0 - half, 50.0 - half, 70.0 + half, 50.0 + half])


def test_hulls_are_cut_at_the_border_and_lose_their_area_outside():
    boxes = np.array([[50.0, 30.0, 90.0, 70.0], [10.0, 10.0, 20.0, 20.0]])

    moved = moved_boxes(boxes, shifted(-70.0, 0.0), SIZE)

    assert moved.tolist() == [[0.0, 30.0, 20.0, 70.0], [0.0, 10.0, 0.0, 20.0]]


def test_visible_shares_count_what_is_still_in_the_frame():
    shares = visible_shares(SQUARE, shifted(-70.0, -40.0), SIZE)

    assert shares == pytest.approx([0.5 * 0.75])


def test_boxes_that_only_shift_and_grow_stay_tight():
    assert tight_shares(SQUARE, Warp(np.diag([1.5, 0.5, 1.0]))) == pytest.approx([1.0])


def test_tight_shares_of_a_turned_square_count_both_axes():
    (share,) = tight_shares(SQUARE, turned(5.0))

    cos, sin = math.cos(math.radians(5.0)), math.sin(math.radians(5.0))
    assert share == pytest.approx(((cos - sin) / (cos + sin)) ** 2)


def test_tight_shares_of_long_boxes_fall_faster():
    square, long = tight_shares(np.array([[0.0, 0.0, 40.0, 40.0], [0.0, 0.0, 160.0, 10.0]]), turned(2.0))

    assert long < 0.4 < 0.8 < square


@settings(max_examples=60, deadline=None)
@given(
    places=st.tuples(*[st.floats(0.0, 1.0)] * 4),
    degrees=st.floats(-20.0, 20.0),
    tilted=st.floats(0.0, 40.0),
    width=st.floats(5.0, 90.0),
    height=st.floats(5.0, 60.0),
)
def test_no_thing_in_a_box_has_a_tight_box_further_from_the_hull(places, degrees, tilted, width, height):
    boxes = np.array([[60.0, 20.0, 60.0 + width, 20.0 + height]])
    warp = Warp(turned(degrees).matrix @ tilt(SIZE, degrees=tilted, direction=1.0))
    left, top, right, bottom = places
    touching = np.array(
        [
            [60.0, 20.0 + left * height],
            [60.0 + top * width, 20.0],
            [60.0 + width, 20.0 + right * height],
            [60.0 + bottom * width, 20.0 + height],
        ]
    )

    moved = warp.forward(touching)
    tight = np.concatenate([moved.min(axis=0), moved.max(axis=0)])[None, :]
    hull = moved_boxes(boxes, Warp(np.diag([0.1, 0.1, 1.0]) @ warp.matrix), (10_000, 10_000)) * 10.0
    if (tight >= 0.0).all():  # the hull is cut at the border
        assert float(iou(hull, tight)[0, 0]) >= tight_shares(boxes, warp)[0] - 1e-9


def test_boxes_without_area_stay_honest_and_points_are_followed():
    point = np.array([[70.0, 40.0, 70.0, 40.0]])

    assert tight_shares(point, turned(10.0)) == pytest.approx([1.0])
    assert moved_boxes(point, turned(180.0), SIZE) == pytest.approx(np.array([[130.0, 60.0, 130.0, 60.0]]))


def test_no_boxes_are_no_boxes():
    none = check_boxes([])

    assert none.shape == (0, 4)
    assert moved_boxes(none, turned(3.0), SIZE).shape == (0, 4)
    assert visible_shares(none, turned(3.0), SIZE).shape == (0,)
    assert tight_shares(none, turned(3.0)).shape == (0,)


@pytest.mark.parametrize(
    ("boxes", "sentence"),
    [
        ([[1.0, 2.0, 3.0]], r"boxes must be \(n, 4\), got \(1, 3\)"),
        ([1.0, 2.0, 3.0, 4.0], r"got \(4,\)"),
        ([[0.0, 0.0, float("nan"), 1.0]], "finite"),
        ([[5.0, 0.0, 1.0, 1.0]], "x_min <= x_max"),
    ],
)
def test_other_boxes_are_refused(boxes, sentence):
    with pytest.raises(ValueError, match=sentence):
        check_boxes(boxes)


def test_within_frame_leaves_inner_boxes_alone():
    assert (within_frame(SQUARE, SIZE) == SQUARE).all()
