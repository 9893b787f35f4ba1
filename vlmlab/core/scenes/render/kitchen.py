"""The static world of the kitchen domain: room, window, cupboards, sink, stove."""

from collections.abc import Mapping
from functools import lru_cache

from PIL import ImageDraw

from vlmlab.core.scenes.kitchen_frame import COUNTER_HEIGHT, ROOM_DEPTH, ROOM_HALF_WIDTH, ROOM_HEIGHT, SINK_X
from vlmlab.core.scenes.render import textures
from vlmlab.core.scenes.render.kitchen_range import stove
from vlmlab.core.scenes.render.kitchen_style import VARIANTS, KitchenStyle, kitchen_style
from vlmlab.core.scenes.render.kitchen_units import base_row, fridge, wall_row
from vlmlab.core.scenes.render.mesh import Material, Mesh, merge, paint
from vlmlab.core.scenes.render.primitives import box, quad
from vlmlab.core.scenes.render.town import WorldValue

WINDOW_Z, WINDOW_HALF_WIDTH, WINDOW_HALF_HEIGHT = 1.74, 0.43, 0.38
SPLASH_TOP = 1.5
TILE_METRES = 0.6
PANELS_X, PANELS_Y = (-1.0, 1.0), -1.5
"""Where the two lamps of the ceiling hang."""


def build_kitchen(world: Mapping[str, WorldValue]) -> Mesh:
    """Return the room with everything that never changes place; ``room_seed`` says which kitchen it is."""
    seed = world.get("room_seed", 0)
    return _kitchen(int(seed) % VARIANTS if isinstance(seed, int | float) else 0)


@lru_cache(maxsize=VARIANTS)
def _kitchen(variant: int) -> Mesh:
    style = kitchen_style(variant)
    parts = [*_shell(style), *_window(), *base_row(style), *wall_row(style), *stove()]
    if style.has_fridge:
        parts.append(fridge())
    return merge(parts)


def _shell(style: KitchenStyle) -> list[Mesh]:
    """Return floor, ceiling with lamps, walls and the tiles over the counter."""
    half, deep, high = ROOM_HALF_WIDTH, ROOM_DEPTH / 2, ROOM_HEIGHT / 2
    repeat_x, repeat_y = 2 * half / style.floor_metres, 2 * deep / style.floor_metres
    rise, splash = (0, 0, high), SPLASH_TOP - COUNTER_HEIGHT
    parts = [
        quad((0, -deep, 0), (half, 0, 0), (0, deep, 0), style.floor, repeat_u=repeat_x, repeat_v=repeat_y),
        quad((0, 0, high), (half, 0, 0), rise, style.wall, repeat_u=4, repeat_v=2),
        quad((0, -2 * deep, high), (-half, 0, 0), rise, style.wall, repeat_u=4, repeat_v=2),
        quad((-half, -deep, high), (0, deep, 0), rise, style.wall, repeat_u=4, repeat_v=2),
        quad((half, -deep, high), (0, -deep, 0), rise, style.wall, repeat_u=4, repeat_v=2),
        quad((0, -deep, 2 * high), (half, 0, 0), (0, -deep, 0), paint(0.8, roughness=0.9)),
        quad(
            (0, -0.004, (COUNTER_HEIGHT + SPLASH_TOP) / 2), (half, 0, 0), (0, 0, splash / 2), style.splash,
            repeat_u=2 * half / TILE_METRES, repeat_v=splash / TILE_METRES,
        ),
    ]  # fmt: skip
    for x in PANELS_X:
        glow = paint(0.8, emission=(2.2, 2.15, 2.0))
        parts.append(quad((x, PANELS_Y, 2 * high - 0.005), (0.35, 0, 0), (0, -0.2, 0), glow))
    for x in (-half, half):
        parts.append(box((0.02, 2 * deep, 0.09), paint(0.75), centre=(x, -deep, 0.045)))
    return parts


def _draw_garden(draw: ImageDraw.ImageDraw, width: int, height: int) -> None:
    """Draw sky over a hedge, two trees and a lawn."""
    for row in range(height):
        blue = 215 + 35 * row // height
        draw.line([0, row, width, row], fill=(150 + 60 * row // height, 195 + 30 * row // height, blue, 255))
    draw.rectangle([0, height * 0.78, width, height], fill=(105, 150, 70, 255))
    draw.ellipse([-width * 0.2, height * 0.55, width * 0.7, height * 1.05], fill=(70, 115, 60, 255))
    draw.ellipse([width * 0.5, height * 0.5, width * 1.3, height * 1.1], fill=(85, 130, 65, 255))
    draw.rectangle([width * 0.27, height * 0.45, width * 0.31, height * 0.8], fill=(90, 70, 50, 255))
    draw.ellipse([width * 0.14, height * 0.18, width * 0.44, height * 0.58], fill=(80, 135, 70, 255))


def _window() -> list[Mesh]:
    """Return the window over the sink, a garden behind it."""
    view = textures.painted(_draw_garden, width=128, height=128)
    glass = Material((1, 1, 1), view, roughness=0.9, emission=(1.1, 1.1, 1.1))
    frame = paint(0.8)
    half_x, half_z = WINDOW_HALF_WIDTH, WINDOW_HALF_HEIGHT
    parts = [quad((SINK_X, -0.006, WINDOW_Z), (half_x, 0, 0), (0, 0, half_z), glass)]
    for side in (-1, 1):
        across = (2 * half_x + 0.1, 0.04, 0.05)
        parts.append(box(across, frame, centre=(SINK_X, -0.02, WINDOW_Z + side * (half_z + 0.025))))
        upright = (0.05, 0.04, 2 * half_z)
        parts.append(box(upright, frame, centre=(SINK_X + side * (half_x + 0.025), -0.02, WINDOW_Z)))
    sill = (2 * half_x + 0.16, 0.09, 0.03)
    parts.append(box(sill, frame, centre=(SINK_X, -0.045, WINDOW_Z - half_z - 0.05)))
    parts.append(box((0.03, 0.03, 2 * half_z), frame, centre=(SINK_X, -0.02, WINDOW_Z)))
    return parts
