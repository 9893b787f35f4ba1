"""What lies or stands on the floor of the warehouse as a danger or a warning."""

import numpy as np
import numpy.typing as npt

from vlmlab.core.scenes.render.builders.props import CONE_SCALE, FLUORESCENT, REFLECTIVE
from vlmlab.core.scenes.render.mesh import Colour, Material, Mesh, merge, paint
from vlmlab.core.scenes.render.packs import repainted
from vlmlab.core.scenes.render.primitives import cylinder, triangles, tube

LIQUIDS: tuple[Colour, ...] = ((0.008, 0.007, 0.006), (0.02, 0.012, 0.004), (0.012, 0.016, 0.02))
CABLES: tuple[Colour, ...] = ((0.9, 0.16, 0.01), (0.012, 0.012, 0.014), (0.75, 0.6, 0.02))
AROUND = 48
Doubles = npt.NDArray[np.float64]


def cone() -> Mesh:
    """Return a tall orange cone with two reflective collars."""
    return repainted("cone", redplastic=FLUORESCENT, whiteplastic=REFLECTIVE).moved(scale=CONE_SCALE)


def spill(rng: np.random.Generator) -> Mesh:
    """Return a dark, shiny puddle with a ragged edge and some drops, and the can that it ran out of."""
    colour = LIQUIDS[int(rng.integers(len(LIQUIDS)))]
    liquid = paint(*colour, reflectance=0.12, roughness=0.02)
    angle = np.linspace(0, 2 * np.pi, AROUND, endpoint=False)
    reach = 0.62 + 0.1 * np.sin(2 * angle + rng.uniform(0, 6)) + 0.08 * np.sin(5 * angle + rng.uniform(0, 6))
    parts = [_pool(reach * 1.25, reach * 0.95, angle, liquid)]
    for _ in range(4):
        away, turn, size = rng.uniform(0.85, 1.1), rng.uniform(0, 2 * np.pi), rng.uniform(0.05, 0.13)
        drop = _pool(np.full(AROUND, size), np.full(AROUND, size), angle, liquid)
        parts.append(drop.moved(float(away * np.cos(turn)), float(away * np.sin(turn))))
    drum = cylinder(0.14, 0.42, paint(0.05, 0.16, 0.4, reflectance=0.1, roughness=0.3), around=16)
    fallen = drum.moved(pitch=-np.pi / 2).moved(0.25, 0.3, 0.15, yaw=float(rng.uniform(-0.6, 0.6)))
    return merge([*parts, fallen])


def _pool(across: Doubles, along: Doubles, angle: Doubles, liquid: Material) -> Mesh:
    rim = np.stack([across * np.cos(angle), along * np.sin(angle), np.full(len(angle), 0.008)], -1)
    vertices = np.concatenate([[[0.0, 0.0, 0.008]], rim])
    first = np.arange(1, len(angle) + 1)
    faces = np.stack([np.zeros_like(first), first, np.roll(first, -1)], -1)
    return triangles(vertices, faces, liquid)


def loose_cable(rng: np.random.Generator, *, half_width: float) -> Mesh:
    """Return a cable that winds across a walkway along X, with a loop in it."""
    colour = CABLES[int(rng.integers(len(CABLES)))]
    t = np.linspace(0, 1, 90)
    phase = float(rng.uniform(0, 6))
    loop = np.exp(-(((t - rng.uniform(0.35, 0.65)) / 0.12) ** 2))
    x = (2 * t - 1) * half_width + 0.35 * loop * np.sin(22 * t)
    y = 0.28 * np.sin(7 * t + phase) + 0.38 * loop * np.cos(22 * t)
    z = np.full(len(t), 0.03)
    wire = tube(np.stack([x, y, z], -1), 0.022, paint(*colour, roughness=0.5), around=6)
    return merge([wire, wire.moved(0.02, 0.05)])
