"""The way between our frame, Scenic's world and CARLA's left-handed one, with values worked by hand."""

import math

import carla
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scenic.core.vectors import Orientation, Vector
from scenic.simulators.carla.utils import utils as scenic_utils

from vlmlab.core.scenes.render.carla.frames import (
    CAMERA_AHEAD_M,
    EgoFrame,
    camera_mount,
)
from vlmlab.core.scenes.scene import Camera

metres = st.floats(-150, 150)
angles = st.floats(-3.1, 3.1)


def test_car_that_faces_north_has_our_axes():
    frame = EgoFrame.of(10.0, 20.0, 0.0)

    # The camera is 4.79 / 2 - 1.7 = 0.695 m ahead of the car's middle.
    assert (frame.x, frame.y) == pytest.approx((10.0, 20.695))
    assert frame.from_world(12.0, 25.695) == pytest.approx((2.0, 5.0))


def test_car_that_faces_west_has_north_on_its_right():
    frame = EgoFrame.of(50.0, 1.75, math.pi / 2)

    assert frame.from_world(50.0 - 0.695 - 8.0, 1.75 + 2.0) == pytest.approx((2.0, 8.0))
    assert frame.yaw_of(math.pi) == pytest.approx(math.pi / 2)


@given(metres, metres, angles, metres, metres)
def test_what_is_right_of_the_car_is_at_positive_y_of_its_carla_frame(x, y, heading, there_x, there_y):
    right, ahead = EgoFrame.of(x, y, heading).from_world(there_x, there_y)
    transform = carla.Transform(
        scenic_utils.scenicToCarlaLocation(Vector(x, y, 0)),
        scenic_utils.scenicToCarlaRotation(Orientation.fromEuler(heading, 0, 0)),
    )

    offset = scenic_utils.scenicToCarlaLocation(Vector(there_x, there_y, 0)) - transform.location

    forward, side = transform.get_forward_vector(), transform.get_right_vector()
    assert offset.x * forward.x + offset.y * forward.y == pytest.approx(ahead + CAMERA_AHEAD_M, abs=1e-2)
    assert offset.x * side.x + offset.y * side.y == pytest.approx(right, abs=1e-2)


def test_camera_that_looks_right_and_down_is_turned_clockwise_and_pitched_down():
    camera = Camera(position=(0.1, 0.0, 1.65), look_at=(0.1 + 6.0, 6.0, 1.65 - 6.0))

    mount = camera_mount(camera)

    assert (mount.x, mount.y, mount.z) == pytest.approx((0.695, 0.1, 1.65))
    assert mount.yaw == pytest.approx(45.0)
    assert mount.pitch == pytest.approx(-math.degrees(math.atan(1 / math.sqrt(2))))
