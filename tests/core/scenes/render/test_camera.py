"""Projection, compared with numbers worked out by hand."""

import numpy as np
import pytest

from vlmlab.core.scenes.render.camera import Pinhole
from vlmlab.core.scenes.scene import Camera


def level_camera(fov=90.0):
    return Pinhole.of(Camera((0, 0, 1.5), (0, 10, 1.5), fov=fov), width=400, height=300)


def test_project_puts_a_point_where_the_hand_calculation_does():
    # fov 90 degrees: tan(45) = 1, so 200 pixels a unit of x / depth; 1 m right and 0.5 m down at 4 m.
    point = np.array([[1.0, 4.0, 1.0]], np.float32)

    projected = level_camera().project(point)

    np.testing.assert_allclose(projected, [[200 + 200 / 4, 150 + 0.5 * 200 / 4, 4.0]], atol=1e-4)


def test_rays_through_a_projected_point_meet_the_point():
    camera = Pinhole.of(Camera((0.1, 0, 1.5), (0.4, 12, 0.5), fov=56, roll=0.01), width=320, height=240)
    point = np.array([[0.7, 9.0, 1.1]], np.float32)
    x, y, _ = camera.project(point)[0]

    ray = camera.rays(np.array([x], np.float32), np.array([y], np.float32))[0]

    to_point = point[0] - camera.origin
    np.testing.assert_allclose(ray, to_point / np.linalg.norm(to_point), atol=1e-5)


def test_box_of_points_behind_the_camera_is_none():
    assert level_camera().box_of(np.array([[0, -5, 1]], np.float32)) is None


def test_box_of_a_metre_wide_square_at_ten_metres():
    square = np.array([[-0.5, 10, 1], [0.5, 10, 1], [0.5, 10, 2], [-0.5, 10, 2]], np.float32)

    assert level_camera().box_of(square) == pytest.approx((190, 140, 210, 160), abs=1e-3)
