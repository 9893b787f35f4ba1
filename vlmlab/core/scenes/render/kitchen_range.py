"""The stove of a kitchen: oven, gas hob with four burners, hood."""

import numpy as np

from vlmlab.core.scenes.kitchen_frame import COUNTER_DEPTH, COUNTER_HEIGHT, STOVE_HALF_WIDTH, STOVE_X
from vlmlab.core.scenes.render.kitchen_style import BRUSHED, STEEL
from vlmlab.core.scenes.render.mesh import Mesh, merge, paint
from vlmlab.core.scenes.render.primitives import box, cylinder, torus, triangles, tube

BURNERS = ((-0.165, -0.13), (0.165, -0.13), (-0.165, 0.13), (0.165, 0.13))
"""Middles of the burners from the anchor of things on the stove, metres: left front first."""
GRATE_ABOVE_ANCHOR = 0.024
ANCHOR_Z = COUNTER_HEIGHT + 0.03
HOOD_Z = 1.58


def stove() -> list[Mesh]:
    """Return the whole stove with its hood."""
    return [_oven(), *_hob(), *_hood()]


def _oven() -> Mesh:
    width = 2 * STOVE_HALF_WIDTH
    dark = paint(0.02, reflectance=0.06, roughness=0.15)
    front = -COUNTER_DEPTH
    parts = [
        box((width - 0.01, COUNTER_DEPTH, COUNTER_HEIGHT), BRUSHED,
            centre=(STOVE_X, front / 2, COUNTER_HEIGHT / 2)),
        box((width - 0.02, 0.014, 0.1), paint(0.04, roughness=0.6), centre=(STOVE_X, front - 0.004, 0.06)),
        box((width - 0.04, 0.022, 0.56), BRUSHED, centre=(STOVE_X, front - 0.01, 0.44)),
        box((width - 0.18, 0.01, 0.3), dark, centre=(STOVE_X, front - 0.022, 0.43)),
        box((width - 0.01, COUNTER_DEPTH - 0.02, 0.012), dark,
            centre=(STOVE_X, front / 2, COUNTER_HEIGHT + 0.006)),
        box((width, 0.02, 0.1), BRUSHED, centre=(STOVE_X, -0.02, COUNTER_HEIGHT + 0.05)),
        box((0.12, 0.006, 0.04), paint(0.01, emission=(0.02, 0.1, 0.07)),
            centre=(STOVE_X, -0.034, COUNTER_HEIGHT + 0.06)),
    ]  # fmt: skip
    left, right = STOVE_X - STOVE_HALF_WIDTH, STOVE_X + STOVE_HALF_WIDTH
    rail = [[left + 0.07, front - 0.06, 0.68], [right - 0.07, front - 0.06, 0.68]]
    parts.append(tube(rail, 0.012, STEEL, around=10))
    parts += [
        box((0.02, 0.05, 0.02), STEEL, centre=(x, front - 0.035, 0.68)) for x in (left + 0.1, right - 0.1)
    ]
    for number in range(5):
        knob = cylinder(0.021, 0.032, paint(0.05, reflectance=0.06, roughness=0.2), around=16)
        parts.append(knob.moved(left + 0.12 + number * 0.13, front, COUNTER_HEIGHT - 0.07, pitch=np.pi / 2))
    return merge(parts)


def _hob() -> list[Mesh]:
    iron = paint(0.02, reflectance=0.03, roughness=0.5)
    parts = []
    for dx, dy in BURNERS:
        x, y, base = STOVE_X + dx, -COUNTER_DEPTH / 2 + dy, COUNTER_HEIGHT + 0.012
        parts.append(
            cylinder(0.05, 0.012, paint(0.25, reflectance=0.3, roughness=0.5), around=20).moved(x, y, base)
        )
        parts.append(cylinder(0.036, 0.008, iron, around=20).moved(x, y, base + 0.012))
        ring = torus(0.118, 0.006, iron, around=4).moved(yaw=np.pi / 4)
        parts.append(ring.moved(x, y, ANCHOR_Z + GRATE_ABOVE_ANCHOR - 0.006))
        for quarter in range(4):
            arm = box((0.1, 0.009, 0.01), iron, centre=(0.07, 0, 0)).moved(yaw=(quarter + 0.5) * np.pi / 2)
            parts.append(arm.moved(x, y, ANCHOR_Z + GRATE_ABOVE_ANCHOR - 0.005))
        for side in (-1, 1):
            for front in (-1, 1):
                foot = (x + side * 0.082, y + front * 0.082, base + 0.018)
                parts.append(box((0.009, 0.009, 0.036), iron, centre=foot))
    return parts


def _hood() -> list[Mesh]:
    half, deep, low = STOVE_HALF_WIDTH, 0.5, HOOD_Z
    high = low + 0.27
    corners = [
        [-half, -deep, low], [half, -deep, low], [half, 0, low], [-half, 0, low],
        [-0.16, -0.3, high], [0.16, -0.3, high], [0.16, 0, high], [-0.16, 0, high],
    ]  # fmt: skip
    faces = [[0, 1, 5], [0, 5, 4], [1, 2, 6], [1, 6, 5], [3, 0, 4], [3, 4, 7], [0, 2, 1], [0, 3, 2]]
    return [
        triangles(corners, faces, BRUSHED).moved(x=STOVE_X),
        box((2 * half, deep, 0.05), BRUSHED, centre=(STOVE_X, -deep / 2, low - 0.02)),
        box((0.32, 0.3, 0.75), BRUSHED, centre=(STOVE_X, -0.15, low + 0.27 + 0.37)),
    ]
