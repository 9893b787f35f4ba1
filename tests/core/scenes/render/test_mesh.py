"""Meshes, their moves, and textures."""

import numpy as np
import pytest

from vlmlab.core.scenes.render.mesh import Texture, linear_rgb, merge, paint, rotation, unit
from vlmlab.core.scenes.render.primitives import box, cylinder, quad, sphere


def test_moved_turns_a_point_on_x_to_y_before_it_shifts():
    corner = quad((1, 0, 0), (0.1, 0, 0), (0, 0.1, 0), paint(0.5))

    moved = corner.moved(10, 0, 2, yaw=np.pi / 2)

    np.testing.assert_allclose(moved.corners.reshape(-1, 3).mean(0), [10, 1, 2], atol=1e-6)


def test_moved_keeps_normals_upright_and_unit_under_uneven_scale():
    top = quad((0, 0, 0), (1, 0, 0), (0, 1, 0), paint(0.5)).moved(scale=(3.0, 1.0, 0.5))

    np.testing.assert_allclose(top.normals.reshape(-1, 3), np.tile([0, 0, 1], (6, 1)), atol=1e-6)


def test_rotation_is_orthogonal_whatever_the_angles():
    matrix = rotation(0.3, -1.1, 2.0)

    np.testing.assert_allclose(matrix @ matrix.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(matrix) == pytest.approx(1.0)


def test_box_has_twelve_triangles_that_face_outwards_and_add_up_to_its_surface():
    mesh = box((2, 3, 4), paint(0.5), centre=(1, 1, 1))

    edges = mesh.corners[:, 1] - mesh.corners[:, 0], mesh.corners[:, 2] - mesh.corners[:, 0]
    crossed = np.cross(*edges)
    outward = (crossed * (mesh.corners.mean(1) - 1)).sum(1)
    assert len(mesh) == 12
    assert np.linalg.norm(crossed, axis=1).sum() / 2 == pytest.approx(2 * (6 + 8 + 12))
    assert (np.abs(outward) > 0).all()
    np.testing.assert_allclose(mesh.bounds, [[0, -0.5, -1], [2, 2.5, 3]])
    assert ((mesh.normals[:, 0] * (mesh.corners.mean(1) - 1)).sum(1) > 0).all()


def test_merge_keeps_each_triangle_with_its_own_material():
    red, blue = paint(1, 0, 0), paint(0, 0, 1)

    whole = merge([box((1, 1, 1), red), cylinder(1, 1, blue, around=8)])

    colours = [whole.materials[number].albedo for number in whole.material_of]
    assert colours[:12] == [(1, 0, 0)] * 12
    assert set(colours[12:]) == {(0, 0, 1)}


def test_outline_of_a_large_mesh_has_nearly_the_bounds_of_all_its_corners():
    ball = sphere(1.0, paint(0.5), around=80)

    assert len(ball) > 2000
    np.testing.assert_allclose([ball.outline.min(0), ball.outline.max(0)], ball.bounds, atol=0.005)


def test_unit_gives_length_one():
    vectors = np.array([[3, 4, 0], [0, 0, -2]], np.float32)

    np.testing.assert_allclose(unit(vectors), [[0.6, 0.8, 0], [0, 0, -1]], atol=1e-6)


def test_linear_rgb_maps_middle_grey_as_the_standard_says():
    assert float(linear_rgb(0.5)) == pytest.approx(0.21404, abs=1e-4)


def test_texture_sample_at_the_finest_level_is_bilinear():
    image = np.zeros((4, 4, 3), np.float32)
    image[0, 1] = 1.0  # second texel of the top row
    texture = Texture.from_linear(image)

    centre = texture.sample(np.array([[1.5 / 4, 3.5 / 4]], np.float32), np.zeros(1, np.float32))
    halfway = texture.sample(np.array([[2.0 / 4, 3.5 / 4]], np.float32), np.zeros(1, np.float32))

    np.testing.assert_allclose(centre, [[1, 1, 1]], atol=1e-6)
    np.testing.assert_allclose(halfway, [[0.5, 0.5, 0.5]], atol=1e-6)


def test_texture_sample_at_the_coarsest_level_is_the_mean():
    image = np.random.Generator(np.random.PCG64(1)).random((16, 16, 3)).astype(np.float32)
    texture = Texture.from_linear(image)

    samples = texture.sample(np.array([[0.2, 0.7]], np.float32), np.full(1, 99, np.float32))

    np.testing.assert_allclose(samples.mean(0), image.mean((0, 1)), atol=0.15)
    np.testing.assert_allclose(texture.mean, image.mean((0, 1)), atol=1e-5)
