"""Operators that move things: what is marked in a picture is found where boxes and masks say."""

import math

import numpy as np
import pytest

from tests.core.perturb.image_cases import rng
from vlmlab.core.perturb import IMAGE_OPERATORS
from vlmlab.core.perturb.geometry import project
from vlmlab.core.perturb.geometry_boxes import moved_boxes
from vlmlab.core.perturb.image_geometry import GEOMETRY_OPERATORS, bending, rotation, shearing, shifting
from vlmlab.core.perturb.image_operators import strategy_warp, warped_image

MOVING = tuple(operator.name for operator in GEOMETRY_OPERATORS)
SIZE = (320, 240)
BOXES = np.array([[90, 60, 170, 130], [200, 100, 230, 190], [130, 150, 160, 170]])
COLOURS = ((255, 0, 0), (0, 255, 0), (0, 0, 255))


def marked():
    """Return a dark picture with a red, a green and a blue rectangle."""
    picture = rng("marks").integers(0, 40, (SIZE[1], SIZE[0], 3), dtype=np.uint8)
    for (left, top, right, bottom), colour in zip(BOXES, COLOURS, strict=True):
        picture[top:bottom, left:right] = colour
    return picture


def found(picture):
    """Return where the three rectangles are: pixels that are mostly of their colour."""
    boxes = []
    for channel in range(3):
        others = picture[..., [number for number in range(3) if number != channel]].max(axis=2)
        rows, columns = np.nonzero(picture[..., channel].astype(int) - others > 100)
        boxes.append([columns.min(), rows.min(), columns.max() + 1, rows.max() + 1])
    return np.array(boxes, dtype=np.float64)


@pytest.mark.parametrize("name", MOVING)
@pytest.mark.parametrize("severity", [0.02, 0.1, 0.35, 0.7, 1.0])
def test_a_marked_rectangle_is_found_within_a_pixel_of_its_moved_box(name, severity):
    operator = IMAGE_OPERATORS[name]
    for seed in range(4):
        picture = operator.apply(marked(), severity, rng(name, seed))

        boxes = operator.apply_boxes(BOXES, severity, rng(name, seed), SIZE)

        assert np.abs(found(picture) - boxes).max() <= 1.0


@pytest.mark.parametrize("seed", range(4))
def test_rectangles_are_found_after_all_geometric_operators_together(seed):
    strategy = dict.fromkeys(MOVING, 0.2)
    warp = strategy_warp(strategy, rng_of=lambda name: rng(name, seed), image_size=SIZE)

    boxes = found(warped_image(marked(), warp))

    assert np.abs(boxes - moved_boxes(BOXES.astype(np.float64), warp, SIZE)).max() <= 1.0


@pytest.mark.parametrize("name", MOVING)
def test_masks_move_like_the_picture(name):
    operator = IMAGE_OPERATORS[name]
    masks = np.stack([(marked() == colour).all(axis=2) for colour in COLOURS])

    moved = operator.apply_masks(masks, 0.6, rng(name))

    picture = operator.apply(marked(), 0.6, rng(name))
    for mask, colour in zip(moved, COLOURS, strict=True):
        assert np.abs(picture[mask].mean(axis=0) - colour).max() < 12.0


@pytest.mark.parametrize("name", MOVING)
def test_severity_0_moves_neither_boxes_nor_masks(name):
    operator = IMAGE_OPERATORS[name]
    masks = rng().random((2, 5, 6)) < 0.5
    outside = np.array([[-3.0, 1.0, 4.0, 99.0]])

    assert operator.apply_boxes(outside, 0.0, rng(), SIZE).tolist() == outside.tolist()
    assert (operator.apply_masks(masks, 0.0, rng()) == masks).all()


@pytest.mark.parametrize("name", MOVING)
def test_the_warp_is_drawn_alike_for_picture_boxes_and_masks(name):
    operator = IMAGE_OPERATORS[name]
    generators = [rng(name) for _ in range(3)]

    operator.apply(marked(), 0.3, generators[0])
    operator.apply_boxes(BOXES, 0.9, generators[1], SIZE)
    operator.apply_masks(np.ones((1, SIZE[1], SIZE[0]), bool), 0.5, generators[2])

    states = [generator.bit_generator.state for generator in generators]
    assert states[0] == states[1] == states[2]


def test_only_geometric_operators_move_boxes():
    assert [name for name, operator in IMAGE_OPERATORS.items() if operator.moves_boxes] == list(MOVING)


def test_rotation_turns_by_its_angle_either_way():
    turns = set()
    for seed in range(12):
        matrix = rotation(10.0, rng("turn", seed), SIZE).matrix
        turns.add(round(math.degrees(math.atan2(matrix[1, 0], matrix[0, 0])), 6))

    assert turns == {10.0, -10.0}


def test_shearing_slides_rows_by_its_slope():
    matrix = shearing(0.25, rng(), SIZE).matrix

    above, middle, below = project(matrix, np.array([[160.0, 0.0], [160.0, 120.0], [160.0, 240.0]]))

    assert middle.tolist() == [160.0, 120.0]
    assert abs(above[0] - 160.0) == pytest.approx(30.0)
    assert below[0] - 160.0 == pytest.approx(160.0 - above[0])


def test_shifting_moves_the_centre_by_its_share_and_scales_by_no_more():
    for seed in range(20):
        matrix = shifting(0.2, rng("shift", seed), SIZE).matrix
        (centre,) = project(matrix, np.array([[160.0, 120.0]]))

        assert math.hypot((centre[0] - 160.0) / 320.0, (centre[1] - 120.0) / 240.0) == pytest.approx(0.2)
        assert math.exp(-0.2) <= matrix[0, 0] == matrix[1, 1] <= math.exp(0.2)


@pytest.mark.parametrize("size", [(448, 336), (96, 160), (1200, 300)])
def test_bending_has_its_root_mean_square_and_folds_nothing(size):
    for seed in range(5):
        field = bending(7.0, rng("bend", seed), size).displacement

        spread = math.sqrt(float(np.mean(field.right**2) + np.mean(field.down**2)))
        assert spread == pytest.approx(7.0 * min(size) / 336.0, rel=1e-4)
        right_x, right_y = np.gradient(field.right, axis=(1, 0))
        down_x, down_y = np.gradient(field.down, axis=(1, 0))
        # The map q -> q + d(q) keeps its orientation: no two places show the same thing.
        assert ((1.0 + right_x) * (1.0 + down_y) - right_y * down_x).min() > 0.0
