"""Cupboards of a kitchen: base units with the counter and sink, wall units, doors with handles."""

import numpy as np

from vlmlab.core.scenes.kitchen_frame import (
    COUNTER_DEPTH,
    COUNTER_HEIGHT,
    ROOM_HALF_WIDTH,
    SINK_HALF_WIDTH,
    SINK_X,
    STOVE_HALF_WIDTH,
    STOVE_X,
)
from vlmlab.core.scenes.render.kitchen_style import STEEL, KitchenStyle
from vlmlab.core.scenes.render.mesh import Mesh, merge, paint
from vlmlab.core.scenes.render.primitives import box, cylinder, quad, sphere, tube

PLINTH = 0.1
TOP_THICKNESS = 0.04
UNIT_WIDTH = 0.45
BASE_HEIGHT = COUNTER_HEIGHT - TOP_THICKNESS - PLINTH
WALL_UNIT_Z, WALL_UNIT_HEIGHT, WALL_UNIT_DEPTH = (1.5, 0.72, 0.33)
FRIDGE_X, FRIDGE_HEIGHT = 1.92, 1.78
BASIN_HALF_X, BASIN_FRONT, BASIN_BACK, BASIN_DEPTH = 0.3, -0.52, -0.1, 0.2


def door(style: KitchenStyle, width: float, height: float, *, handle_x: float, handle_z: float) -> Mesh:
    """Return a door about the origin, front towards -Y at y = 0; the handle stands off it.

    Args:
        style: of the kitchen.
        width: metres.
        height: metres.
        handle_x: middle of the handle from the middle of the door.
        handle_z: the same, upwards.
    """
    thick = 0.02
    parts = [box((width, thick, height), style.front, centre=(0, thick / 2, 0))]
    if style.is_framed and width > 0.2 and height > 0.2:
        rim = 0.06
        for side in (-1, 1):
            across = (width, 0.012, rim)
            parts.append(box(across, style.front, centre=(0, -0.006, side * (height - rim) / 2)))
            upright = (rim, 0.012, height - 2 * rim)
            parts.append(box(upright, style.front, centre=(side * (width - rim) / 2, -0.006, 0)))
        inner = ((width - 2 * rim) / 2, 0, 0), (0, 0, (height - 2 * rim) / 2)
        parts.append(quad((0, -0.001, 0), *inner, style.panel))
    parts.append(_handle(style, is_upright=height > width or height > 0.3).moved(x=handle_x, z=handle_z))
    return merge(parts)


def _handle(style: KitchenStyle, *, is_upright: bool) -> Mesh:
    if not style.has_bars:
        return sphere(0.016, style.handle, around=12).moved(y=-0.03)
    size = (0.012, 0.012, 0.13) if is_upright else (0.13, 0.012, 0.012)
    bar = box(size, style.handle, centre=(0, -0.04, 0))
    ends = [(0, 0, z) for z in (-0.055, 0.055)] if is_upright else [(x, 0, 0) for x in (-0.055, 0.055)]
    feet = [box((0.01, 0.03, 0.01), style.handle, centre=(x, -0.025, z)) for x, _, z in ends]
    return merge([bar, *feet])


def _base_units(style: KitchenStyle, left: float, right: float) -> list[Mesh]:
    """Return closed units with a drawer over a door each."""
    width = right - left
    middle, depth = (left + right) / 2, COUNTER_DEPTH - 0.04
    parts = [
        box(
            (width, depth, BASE_HEIGHT), style.front, centre=(middle, -depth / 2, PLINTH + BASE_HEIGHT / 2),
            texture_metres=1.0,
        ),
        box((width, 0.5, PLINTH), paint(0.06), centre=(middle, -0.28, PLINTH / 2)),
    ]  # fmt: skip
    count = max(1, round(width / UNIT_WIDTH))
    each = width / count
    drawer, lower = 0.14, BASE_HEIGHT - 0.155
    for number in range(count):
        x = left + (number + 0.5) * each
        side = 1 if number % 2 else -1
        top = door(style, each - 0.01, drawer, handle_x=0, handle_z=0)
        parts.append(top.moved(x, -COUNTER_DEPTH + 0.02, PLINTH + BASE_HEIGHT - drawer / 2 - 0.005))
        leaf = door(style, each - 0.01, lower, handle_x=-side * (each / 2 - 0.04), handle_z=lower / 2 - 0.12)
        parts.append(leaf.moved(x, -COUNTER_DEPTH + 0.02, PLINTH + lower / 2 + 0.002))
    return parts


def base_row(style: KitchenStyle) -> list[Mesh]:
    """Return the base units left and right of sink and stove; the sink's own unit is a scene object."""
    end = FRIDGE_X if style.has_fridge else ROOM_HALF_WIDTH
    sink = SINK_X - SINK_HALF_WIDTH, SINK_X + SINK_HALF_WIDTH
    stove = STOVE_X - STOVE_HALF_WIDTH, STOVE_X + STOVE_HALF_WIDTH
    parts: list[Mesh] = []
    for left, right in ((-ROOM_HALF_WIDTH, sink[0]), (sink[1], stove[0]), (stove[1], end)):
        parts += _base_units(style, left, right)
    deep = COUNTER_DEPTH + 0.02
    z = COUNTER_HEIGHT - TOP_THICKNESS / 2
    basin = SINK_X - BASIN_HALF_X, SINK_X + BASIN_HALF_X
    for left, right in ((-ROOM_HALF_WIDTH, basin[0]), (basin[1], stove[0]), (stove[1], end)):
        size = (right - left, deep, TOP_THICKNESS)
        parts.append(box(size, style.counter, centre=((left + right) / 2, -deep / 2, z), texture_metres=0.5))
    for front, back in ((BASIN_BACK, 0.0), (-deep, BASIN_FRONT)):
        size = (2 * BASIN_HALF_X, back - front, TOP_THICKNESS)
        parts.append(box(size, style.counter, centre=(SINK_X, (front + back) / 2, z), texture_metres=0.5))
    return [*parts, *_sink()]


def _sink() -> list[Mesh]:
    """Return a steel basin with a tap."""
    middle, half = (BASIN_FRONT + BASIN_BACK) / 2, (BASIN_BACK - BASIN_FRONT) / 2
    z, rise = COUNTER_HEIGHT - BASIN_DEPTH / 2, (0, 0, BASIN_DEPTH / 2)
    parts = [quad((SINK_X, middle, COUNTER_HEIGHT - BASIN_DEPTH), (BASIN_HALF_X, 0, 0), (0, half, 0), STEEL)]
    for y in (BASIN_FRONT, BASIN_BACK):
        parts.append(quad((SINK_X, y, z), (BASIN_HALF_X, 0, 0), rise, STEEL))
    for x in (SINK_X - BASIN_HALF_X, SINK_X + BASIN_HALF_X):
        parts.append(quad((x, middle, z), (0, half, 0), rise, STEEL))
    for y in (BASIN_FRONT, BASIN_BACK):
        rim = (2 * BASIN_HALF_X + 0.03, 0.016, 0.006)
        parts.append(box(rim, STEEL, centre=(SINK_X, y, COUNTER_HEIGHT + 0.001)))
    for x in (SINK_X - BASIN_HALF_X, SINK_X + BASIN_HALF_X):
        parts.append(box((0.016, 2 * half, 0.006), STEEL, centre=(x, middle, COUNTER_HEIGHT + 0.001)))
    angle = np.linspace(np.pi, 0, 16)
    bow = np.stack(
        [0 * angle + SINK_X, -0.13 - 0.07 * np.cos(np.pi - angle), 0.26 + 0.07 * np.sin(angle)], -1
    )
    bow[:, 2] += COUNTER_HEIGHT
    path = np.concatenate([[[SINK_X, -0.06, COUNTER_HEIGHT]], bow, [[SINK_X, -0.2, COUNTER_HEIGHT + 0.2]]])
    parts.append(tube(path, 0.013, STEEL, around=10))
    parts.append(cylinder(0.026, 0.03, STEEL, around=16).moved(SINK_X, -0.06, COUNTER_HEIGHT))
    parts.append(box((0.09, 0.014, 0.014), STEEL, centre=(SINK_X + 0.05, -0.06, COUNTER_HEIGHT + 0.05)))
    return parts


def wall_row(style: KitchenStyle) -> list[Mesh]:
    """Return the wall units beside window and hood."""
    end = FRIDGE_X if style.has_fridge else ROOM_HALF_WIDTH
    parts: list[Mesh] = []
    stove = STOVE_X - STOVE_HALF_WIDTH, STOVE_X + STOVE_HALF_WIDTH
    for left, right in (
        (-ROOM_HALF_WIDTH, SINK_X - 0.54),
        (SINK_X + 0.54, stove[0] - 0.01),
        (stove[1] + 0.01, end),
    ):
        count = max(1, round((right - left) / UNIT_WIDTH))
        each = (right - left) / count
        z = WALL_UNIT_Z + WALL_UNIT_HEIGHT / 2
        size = (right - left, WALL_UNIT_DEPTH, WALL_UNIT_HEIGHT)
        parts.append(box(size, style.front, centre=((left + right) / 2, -size[1] / 2, z), texture_metres=1.0))
        for number in range(count):
            side = 1 if number % 2 else -1
            leaf = door(
                style, each - 0.01, WALL_UNIT_HEIGHT - 0.01,
                handle_x=-side * (each / 2 - 0.04), handle_z=-WALL_UNIT_HEIGHT / 2 + 0.12,
            )  # fmt: skip
            parts.append(leaf.moved(left + (number + 0.5) * each, -WALL_UNIT_DEPTH - 0.02, z))
    return parts


def fridge() -> Mesh:
    """Return a tall refrigerator at the right end of the counter."""
    width = ROOM_HALF_WIDTH - FRIDGE_X - 0.03
    x, white = FRIDGE_X + 0.015 + width / 2, paint(0.62, 0.63, 0.64, reflectance=0.04, roughness=0.5)
    parts = [box((width, 0.62, FRIDGE_HEIGHT), white, centre=(x, -0.32, FRIDGE_HEIGHT / 2))]
    for low, high in ((0.06, 1.12), (1.14, FRIDGE_HEIGHT)):
        parts.append(box((width, 0.05, high - low), white, centre=(x, -0.665, (low + high) / 2)))
        bar = (0.022, 0.03, min(0.5, (high - low) * 0.6))
        parts.append(box(bar, STEEL, centre=(x - width / 2 + 0.06, -0.71, (low + high) / 2)))
    return merge(parts)
