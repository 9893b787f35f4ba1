"""Maps of points: chains, displacements, and their inverses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.perturb.geometry import Displacement, Warp, about, chained, project, tilt

CORNERS = np.array([[0.0, 0.0], [40.0, 0.0], [40.0, 30.0], [0.0, 30.0]])
QUARTER = np.array([[0.0, -1.0], [1.0, 0.0]])


def ramp(height=30, width=40):
    """Return a field that moves what is right and low further, by a tenth of the way."""
    x = np.broadcast_to((np.arange(width) + 0.5) / 10.0, (height, width))
    y = np.broadcast_to(((np.arange(height) + 0.5) / 10.0)[:, None], (height, width))
    return Displacement(x.astype(np.float32), y.astype(np.float32))


def test_about_keeps_its_centre_and_turns_around_it():
    matrix = about((20.0, 15.0), QUARTER)

    moved = project(matrix, np.array([[20.0, 15.0], [30.0, 15.0]]))

    assert moved == pytest.approx(np.array([[20.0, 15.0], [20.0, 25.0]]))


def test_chained_does_the_first_warp_first():
    shift = Warp(np.array([[1.0, 0.0, 5.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    double = Warp(np.diag([2.0, 2.0, 1.0]))

    moved = chained([shift, double]).forward(np.array([[1.0, 1.0]]))

    assert moved == pytest.approx(np.array([[12.0, 2.0]]))


def test_chained_refuses_a_displacement_that_is_not_last():
    with pytest.raises(ValueError, match="only the last"):
        chained([Warp(displacement=ramp()), Warp()])


def test_an_empty_chain_moves_nothing():
    assert (chained([]).forward(CORNERS) == CORNERS).all()


def test_a_displacement_moves_points_to_where_the_pixels_come_from_them():
    moved = Warp(displacement=ramp()).forward(np.array([[11.0, 22.0]]))

    # The pixel at q is taken from q + q / 10, so 11 is seen at 10 and 22 at 20.
    assert moved == pytest.approx(np.array([[10.0, 20.0]]), abs=2e-3)


def test_a_displacement_is_interpolated_between_centres_and_constant_beyond_the_border():
    field = Displacement(np.array([[0.0, 4.0]], dtype=np.float32), np.array([[8.0, 8.0]], dtype=np.float32))

    values = field.at(np.array([[0.5, 0.5], [0.75, 0.5], [1.5, 0.5], [9.0, -3.0]]))

    assert values.tolist() == [[0.0, 8.0], [1.0, 8.0], [4.0, 8.0], [4.0, 8.0]]


@given(st.floats(0.0, 50.0), st.floats(0.0, 6.3), st.floats(0.0, 40.0), st.floats(0.0, 30.0))
def test_backward_undoes_forward(degrees, direction, x, y):
    warp = Warp(tilt((40, 30), degrees=degrees, direction=direction))

    there = warp.forward(np.array([[x, y]]))

    assert project(warp.backward_matrix(), there) == pytest.approx(np.array([[x, y]]), abs=1e-6)


def test_tilt_keeps_the_centre_and_makes_the_far_side_smaller():
    matrix = tilt((40, 30), degrees=30.0, direction=0.0)

    top_left, top_right, low_right, low_left = project(matrix, CORNERS)
    centre = project(matrix, np.array([[20.0, 15.0]]))

    assert centre == pytest.approx(np.array([[20.0, 15.0]]))
    # 20 px from the centre, seen from 50 px, turned by 30 degrees: 1 +- 20 sin 30 / 50 = 1.2 and 0.8.
    assert low_right[1] - top_right[1] == pytest.approx(30.0 / 1.2)
    assert low_left[1] - top_left[1] == pytest.approx(30.0 / 0.8)
    assert top_right[0] == pytest.approx(20.0 + 20.0 * np.cos(np.pi / 6) / 1.2)


def test_points_behind_the_eye_are_infinitely_far():
    behind = project(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 1.0]]), np.array([[2.0, 0.0]]))

    assert np.isinf(behind).all()
