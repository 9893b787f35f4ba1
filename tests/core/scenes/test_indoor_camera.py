"""The kitchen camera fills its frame, stands high enough and tells what it does not see."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.scenes.indoor_camera import HIGH_ENOUGH_M, NEAREST_M, Subjects, aim, project, rate
from vlmlab.core.scenes.indoor_places import put
from vlmlab.core.scenes.kitchen_frame import COUNTER_DEPTH, COUNTER_HEIGHT
from vlmlab.core.scenes.scene import Camera

MIDDLE = np.full(4, 0.5)
draws = st.lists(st.floats(0, 0.999), min_size=4, max_size=4).map(np.array)


def glass(x=0.0, y=-0.4):
    return put("glass_upright", (x, y, COUNTER_HEIGHT), 0.0)


def child(x=0.0, y=-1.2, kind="toddler_standing"):
    return put(kind, (x, y, 0.0), 0.0)


def straight_on(height=1.0, distance=2.0):
    return Camera((0.0, -distance, height), (0.0, 0.0, height), fov=90.0)


def test_project_puts_a_point_where_the_tangent_says():
    points = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 0.0, 1.75]])

    image, depth = project(straight_on(), points)

    # at 2 m a frame of 90 degrees is 4 m wide and 3 m high
    assert image == pytest.approx(np.array([[0, 0], [0.5, 0], [0, 0.5]]), abs=1e-12)
    assert depth == pytest.approx([2.0, 2.0, 2.0])


@given(st.floats(-1.2, 1.2), st.floats(-1.7, -1.0), st.floats(-0.5, 0.5), draws)
def test_aim_keeps_every_corner_in_the_frame(x, y, glass_x, view):
    subjects = Subjects.of([child(x, y), glass(glass_x)])

    image, depth = project(aim(subjects, draws=view), subjects.corners)

    assert np.abs(image).max() < 1.0
    assert depth.min() > 0.3


@given(st.floats(-0.5, 0.5), draws)
def test_aim_looks_down_on_what_lies_on_the_counter(x, view):
    camera = aim(Subjects.of([glass(x)]), draws=view)

    assert camera.position[2] >= HIGH_ENOUGH_M - 1e-3
    assert math.dist(camera.position, (x, -0.4, COUNTER_HEIGHT)) > NEAREST_M - 0.1


def test_aim_comes_nearer_to_fewer_things():
    alone = aim(Subjects.of([glass()]), draws=MIDDLE)
    joined = aim(Subjects.of([glass(), child(1.0)]), draws=MIDDLE)

    assert alone.position[1] > joined.position[1]


def test_rate_is_one_for_a_child_in_full_view_and_none_for_one_behind_the_camera():
    camera = straight_on(height=0.6, distance=2.6)

    assert rate(camera, Subjects.of([child()])) == 1.0
    assert rate(camera, Subjects.of([child(y=-3.5)])) == 0.0


def test_rate_falls_when_somebody_stands_before_a_thing_and_not_when_behind_it():
    camera = Camera((0.0, -3.0, 1.1), (0.0, 0.0, 1.0), fov=40.0)
    open_view = rate(camera, Subjects.of([glass()]))

    before = rate(camera, Subjects.of([glass()]).joined_by([child(kind="child_on_stool")]))
    behind = rate(camera, Subjects.of([glass()]).joined_by([put("plant", (0.0, -0.15, COUNTER_HEIGHT), 0.0)]))

    assert before == 0.0
    assert behind == open_view > 0.85


def test_rate_asks_for_size():
    near, far = straight_on(distance=1.2), straight_on(distance=4.0)
    subjects = Subjects.of([glass()])

    # seen straight on at 0.8 m a glass 0.11 m wide and 0.19 m high is 16 x 29 pixels of a grid 240 wide
    assert rate(near, subjects) == 1.0
    assert rate(far, subjects) < 0.4


def test_an_open_microwave_is_not_seen_from_the_side_of_its_door():
    oven = put("microwave_open_hot", (0.0, -0.33, COUNTER_HEIGHT), 0.0)
    from_left = Camera((-1.5, -1.8, 1.5), (0.0, -COUNTER_DEPTH, 1.0), fov=62.0)
    from_right = Camera((0.6, -2.2, 1.5), (0.0, -COUNTER_DEPTH, 1.0), fov=62.0)

    assert rate(from_left, Subjects.of([oven])) < 0.4
    assert rate(from_right, Subjects.of([oven])) > 0.9
