"""Builders of sockets and cords. Sockets hang on the wall at their anchor, their face towards -Y."""

import numpy as np
import numpy.typing as npt

from vlmlab.core.scenes.render.builders.kitchen_parts import puddle
from vlmlab.core.scenes.render.kitchen_style import STEEL
from vlmlab.core.scenes.render.mesh import Colour, Mesh, merge, paint
from vlmlab.core.scenes.render.primitives import box, cylinder, sphere, tube
from vlmlab.core.scenes.scene import SceneObject
from vlmlab.core.seeding import pick

Path = npt.NDArray[np.float64]
SOCKET_SCALE = 1.5
WIRES: tuple[tuple[Colour, float, int], ...] = (
    ((0.6, 0.02, 0.02), -0.026, 1),
    ((0.02, 0.02, 0.02), -0.031, -1),
    ((0.8, 0.8, 0.8), 0.027, 1),
    ((0.05, 0.2, 0.6), 0.031, -1),
    ((0.5, 0.5, 0.02), 0.008, 1),
)
CORDS: tuple[Colour, ...] = ((0.8, 0.2, 0.02), (0.75, 0.65, 0.05), (0.03, 0.03, 0.03), (0.75, 0.75, 0.72))


def _receptacle(z: float, *, y: float) -> list[Mesh]:
    """Return one face with two slots and a round hole."""
    dark = paint(0.01)
    return [
        box((0.042, 0.004, 0.046), paint(0.72, reflectance=0.05, roughness=0.3), centre=(0, y, z)),
        box((0.0045, 0.002, 0.014), dark, centre=(-0.009, y - 0.0025, z + 0.006)),
        box((0.0045, 0.002, 0.011), dark, centre=(0.009, y - 0.0025, z + 0.006)),
        cylinder(0.0045, 0.002, dark, around=10).moved(0, y - 0.0015, z - 0.011, pitch=np.pi / 2),
    ]


def build_outlet_covered(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a wall socket under an intact white cover."""
    plate = paint(0.84, reflectance=0.05, roughness=0.3)
    parts = [
        box((0.08, 0.006, 0.125), plate, centre=(0, -0.004, 0)),
        box((0.086, 0.003, 0.131), paint(0.6), centre=(0, -0.0015, 0)),
        cylinder(0.004, 0.002, paint(0.5), around=10).moved(0, -0.0065, 0, pitch=np.pi / 2),
    ]
    for z in (0.03, -0.03):
        parts += _receptacle(z, y=-0.008)
    return merge(parts).moved(scale=SOCKET_SCALE)


def build_outlet_exposed(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a socket without its cover: an open box, bare wires that hang out of it, cracked plaster."""
    rim = paint(0.12, 0.2, 0.4)
    parts = [
        puddle(0.075, paint(0.35, 0.32, 0.28), rng, stretch=(0.9, 1.2), thick=0.0004).moved(
            pitch=np.pi / 2, y=-0.0002
        ),
        box((0.08, 0.002, 0.124), paint(0.01), centre=(0, -0.003, 0)),
        box((0.036, 0.012, 0.078), paint(0.62, 0.56, 0.42), centre=(0.0, -0.012, 0)).moved(tilt=0.16),
        box((0.026, 0.004, 0.11), STEEL, centre=(0, -0.008, 0)).moved(tilt=0.16),
    ]
    for side in (-1, 1):
        parts.append(box((0.086, 0.014, 0.005), rim, centre=(0, -0.006, side * 0.0635)))
        parts.append(box((0.005, 0.014, 0.13), rim, centre=(side * 0.042, -0.006, 0)))
    for z in (0.018, -0.018):
        for x in (-0.008, 0.008):
            parts.append(box((0.004, 0.003, 0.012), paint(0.01), centre=(x, -0.0185, z)))
    for colour, x, turn in WIRES:
        along = np.linspace(0, 1, 16)
        bow = x + 0.03 * np.sin(along * 3 + turn) * np.sign(x)
        path = np.stack([bow, -0.006 - 0.05 * np.sin(along * 2.4), turn * (0.05 - 0.125 * along)], -1)
        parts.append(tube(path, 0.0036, paint(*colour), around=7))
        bare = paint(0.75, 0.32, 0.1, reflectance=0.3, roughness=0.3)
        end = path[-1]
        parts.append(tube([end, end + np.array([0.004, -0.012, -turn * 0.01])], 0.0024, bare, around=6))
    return merge(parts).moved(scale=SOCKET_SCALE)


def _smooth_path(knots: Path, count: int) -> Path:
    """Return ``(count, 2)`` points of a Catmull-Rom curve through the knots."""
    last = len(knots) - 1
    t = np.linspace(0, last, count)
    cell = np.clip(t.astype(np.int64), 0, last - 1)
    f = (t - cell)[:, None]
    a, b, c, d = (knots[np.clip(cell + step, 0, last)] for step in (-1, 0, 1, 2))
    curve: Path = 0.5 * (
        2 * b + (c - a) * f + (2 * a - 5 * b + 4 * c - d) * f**2 + (3 * b - a - 3 * c + d) * f**3
    )
    return curve


def build_loose_cord_floor(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return an extension cord in loops about the anchor on the floor, with its plug and its sockets."""
    skin = paint(*pick(rng, CORDS), reflectance=0.04, roughness=0.35)
    knots = np.clip(rng.normal(size=(9, 2)), -1.2, 1.2) * [0.28, 0.14]
    knots[0], knots[-1] = (-0.45, 0.06), (0.36, -0.1)
    path = _smooth_path(knots, 160)
    lift = 0.01 + 0.012 * (np.sin(np.linspace(0, 40, 160)) > 0.6)
    cord = tube(np.column_stack([path, lift]), 0.0095, skin, around=8)
    return merge(
        [
            cord,
            _socket_bar().moved(float(path[-1, 0]) + 0.13, float(path[-1, 1]), 0.022),
            _plug().moved(float(path[0, 0]) - 0.02, float(path[0, 1]), 0.018),
        ]
    )


def _socket_bar() -> Mesh:
    """Return a bar of three sockets along X with a glowing switch."""
    parts = [box((0.28, 0.07, 0.04), paint(0.8, reflectance=0.04, roughness=0.3))]
    for x in (-0.09, -0.025, 0.04):
        parts.append(cylinder(0.024, 0.003, paint(0.55), around=16).moved(x, 0, 0.0195))
        for side in (-1, 1):
            parts.append(cylinder(0.0045, 0.002, paint(0.01), around=8).moved(x + side * 0.009, 0, 0.0222))
    parts.append(
        box((0.025, 0.03, 0.006), paint(0.8, 0.05, 0.03, emission=(0.7, 0.02, 0.02)), centre=(0.11, 0, 0.021))
    )
    return merge(parts)


def _plug() -> Mesh:
    grip = paint(0.03, reflectance=0.05, roughness=0.3)
    pins = [box((0.03, 0.005, 0.01), STEEL, centre=(-0.045, side * 0.01, 0)) for side in (-1, 1)]
    return merge([box((0.06, 0.038, 0.032), grip), sphere(0.016, grip, around=10).moved(x=0.03), *pins])
