"""The camera sees what a layout promises to show."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.scenes.layout_camera import BASE_FOV, WIDEST_FOV, Target, aim, in_frame
from vlmlab.core.scenes.scene import Camera

EYE = (0.0, 0.0, 1.5)
MIDDLE = np.array([0.5, 0.5, 0.5])


def target(x, y, z=1.0, width=0.5):
    return Target(np.array([[x - width / 2, y, 0.1], [x + width / 2, y, z]]))


def test_camera_keeps_its_usual_view_when_all_is_ahead():
    camera = aim(EYE, [target(0.0, 6.0)], draws=MIDDLE)

    assert camera.fov == BASE_FOV
    assert camera.look_at[0] == 0.0
    assert camera.roll == 0.0


def test_camera_turns_right_for_what_stands_near_on_the_sidewalk():
    near = target(2.6, 4.0)

    camera = aim(EYE, [near], draws=MIDDLE)

    assert camera.look_at[0] > 0
    assert in_frame(camera, near.points)[0].all()


def test_camera_widens_only_up_to_its_limit():
    camera = aim(EYE, [target(4.5, 3.0), target(-1.5, 3.0)], draws=MIDDLE)

    assert camera.fov == WIDEST_FOV


@given(
    st.floats(2.0, 3.0), st.floats(4.0, 26.0), st.floats(-1.0, 1.0), st.floats(4.0, 26.0), st.floats(0.7, 2.0)
)
def test_one_thing_in_the_lane_and_one_on_the_sidewalk_are_both_in_the_frame(x, y, lane_x, lane_y, height):
    targets = [target(x, y, height), target(lane_x, lane_y, height)]

    camera = aim(EYE, targets, draws=MIDDLE)

    assert all(in_frame(camera, one.points)[0].all() for one in targets)


def test_in_frame_gives_image_coordinates():
    camera = Camera(position=(0.0, 0.0, 0.0), look_at=(0.0, 1.0, 0.0), fov=90.0)
    points = np.array([[0.0, 2.0, 0.0], [1.0, 2.0, 0.0], [0.0, 2.0, 0.75], [0.0, -2.0, 0.0], [2.1, 2.0, 0.0]])

    inside, image = in_frame(camera, points)

    assert image[:3] == pytest.approx(np.array([[0.0, 0.0], [0.5, 0.0], [0.0, 0.5]]))
    assert inside.tolist() == [True, True, True, False, False]


def test_roll_and_usual_view_come_from_the_draws():
    camera = aim(EYE, [], draws=np.array([1.0, 0.5, 1.0]))

    assert camera.roll == 0.008
    assert math.atan2(camera.look_at[0], camera.look_at[1]) == pytest.approx(math.atan2(0.5, 12.0), abs=1e-4)
