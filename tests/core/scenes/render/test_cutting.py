"""Cutting keeps the surface and puts every triangle on one side; stencils read from left to right."""

import numpy as np
import pytest

from vlmlab.core.scenes.render.cutting import covered, cut, stencilled
from vlmlab.core.scenes.render.mesh import paint
from vlmlab.core.scenes.render.packs import load_pack
from vlmlab.core.scenes.render.primitives import triangles

RIGHT_ANGLE = triangles([[0, 0, 0], [2, 0, 0], [0, 0, 2]], [[0, 1, 2]], paint(0.5))


def normals_and_area(mesh):
    across = np.cross(
        mesh.corners[:, 1] - mesh.corners[:, 0], mesh.corners[:, 2] - mesh.corners[:, 0]
    ).astype(float)
    return across, np.linalg.norm(across, axis=1).sum() / 2


def test_a_cut_triangle_becomes_a_tip_and_a_trapezium_that_face_the_same_way():
    pieces = cut(RIGHT_ANGLE, axis=2, at=1.0)

    across, area = normals_and_area(pieces)
    middle = pieces.corners.mean(1)[:, 2]
    assert len(pieces) == 3
    assert area == pytest.approx(2.0)
    assert np.linalg.norm(across[middle > 1], axis=1).sum() / 2 == pytest.approx(0.5)
    assert (across[:, 1] < 0).all()


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_cutting_a_body_keeps_its_area_and_leaves_no_triangle_across_the_plane(axis):
    body = load_pack("h_child_run")

    pieces = cut(body, axis=axis, at=0.05)

    height = pieces.corners[:, :, axis] - 0.05
    assert len(pieces) > len(body)
    assert ((height.min(1) > -1e-4) | (height.max(1) < 1e-4)).all()
    assert normals_and_area(pieces)[1] == pytest.approx(normals_and_area(body)[1], rel=1e-4)


def test_a_plane_that_misses_changes_nothing():
    assert cut(RIGHT_ANGLE, axis=2, at=5.0) is RIGHT_ANGLE


def test_covered_triangles_get_the_new_material_and_the_others_keep_theirs():
    pieces = cut(RIGHT_ANGLE, axis=2, at=1.0)
    top = pieces.corners.mean(1)[:, 2] > 1

    dressed = covered(pieces, top, paint(0.9))

    assert [dressed.materials[number].albedo[0] for number in dressed.material_of] == [
        0.9 if one else 0.5 for one in top
    ]


@pytest.mark.parametrize(("across", "left"), [((0.0, 2.0), 0.0), ((2.0, 0.0), 1.0)])
def test_a_stencil_spans_its_panel_from_the_left_of_the_reader(across, left):
    painted = stencilled(RIGHT_ANGLE, np.array([True]), paint(0.9), axis=0, across=across, up=(0.0, 2.0))

    np.testing.assert_allclose(painted.uvs[0], [[left, 0], [1 - left, 0], [left, 1]])
