"""The room of a kitchen: measures, and rooms that differ by their seed."""

import numpy as np

from vlmlab.core.scenes.kitchen_frame import (
    COUNTER_DEPTH,
    COUNTER_HEIGHT,
    ROOM_DEPTH,
    ROOM_HALF_WIDTH,
    ROOM_HEIGHT,
    SINK_HALF_WIDTH,
    SINK_X,
    STOVE_X,
)
from vlmlab.core.scenes.render.kitchen import build_kitchen
from vlmlab.core.scenes.render.kitchen_range import ANCHOR_Z, BURNERS, GRATE_ABOVE_ANCHOR
from vlmlab.core.scenes.render.kitchen_style import kitchen_style
from vlmlab.core.scenes.render.tracer import Geometry

DOWN, BACK = np.array([[0, 0, -1]], np.float32), np.array([[0, 1, 0]], np.float32)
ROOM = Geometry([(build_kitchen({"room_seed": 3}), 0)])


def way(start, direction):
    return float(ROOM.first_hits(np.array([start], np.float32), direction).distance[0])


def test_room_ends_at_its_walls_floor_and_ceiling():
    low, high = build_kitchen({"room_seed": 0}).bounds

    np.testing.assert_allclose(low, [-ROOM_HALF_WIDTH, -ROOM_DEPTH, 0], atol=0.02)
    np.testing.assert_allclose(high, [ROOM_HALF_WIDTH, 0, ROOM_HEIGHT], atol=0.02)


def test_counter_lies_at_its_height_from_the_wall_to_its_edge():
    for y in (-0.05, -0.3, -COUNTER_DEPTH + 0.02):
        np.testing.assert_allclose(way((0.1, y, 1.4), DOWN), 1.4 - COUNTER_HEIGHT, atol=1e-3)

    np.testing.assert_allclose(way((0.1, -COUNTER_DEPTH - 0.1, 1.4), DOWN), 1.4, atol=1e-3)


def test_sink_unit_is_left_open_for_the_cabinet():
    for share in (-0.8, 0.0, 0.8):
        x = SINK_X + share * SINK_HALF_WIDTH
        assert way((x, -2.0, 0.4), BACK) > 1.9

    assert way((0.1, -2.0, 0.4), BACK) < 2.0 - COUNTER_DEPTH + 0.06


def test_grates_carry_what_stands_on_the_burners():
    for x, y in BURNERS:
        at = (STOVE_X + x + 0.05, -COUNTER_DEPTH / 2 + y + 0.05, 1.4)
        np.testing.assert_allclose(1.4 - way(at, DOWN), ANCHOR_Z + GRATE_ABOVE_ANCHOR, atol=0.006)


def test_equal_seeds_give_equal_rooms_and_others_differ():
    first, again = build_kitchen({"room_seed": 5}), build_kitchen({"room_seed": 5})
    np.testing.assert_array_equal(first.corners, again.corners)

    looks = {
        (style.floor.texture.mean, style.front.albedo, style.is_framed, style.has_bars, style.has_fridge)
        for style in map(kitchen_style, range(12))
    }
    assert len(looks) >= 9


def test_a_room_without_a_seed_is_the_first_one():
    np.testing.assert_array_equal(build_kitchen({}).corners, build_kitchen({"room_seed": 0}).corners)
