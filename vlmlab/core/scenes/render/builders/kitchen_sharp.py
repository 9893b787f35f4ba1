"""Builders of blades and broken glass."""

from dataclasses import replace

import numpy as np

from vlmlab.core.scenes.render.kitchen_style import STEEL
from vlmlab.core.scenes.render.mesh import Colour, Material, Mesh, merge, paint
from vlmlab.core.scenes.render.packs import load_pack
from vlmlab.core.scenes.render.primitives import box, cylinder, lathe, torus, triangles, tube
from vlmlab.core.scenes.scene import SceneObject
from vlmlab.core.seeding import pick

BLADE = Material((0.3, 0.31, 0.33), reflectance=0.4, roughness=0.25, name="blade")
BOTTLE = Material((0.1, 0.5, 0.3), opacity=0.6, reflectance=0.16, roughness=0.06, name="green glass")
BLADE_LENGTH = 0.23
GRIPS: tuple[Colour, ...] = ((0.75, 0.1, 0.02), (0.05, 0.18, 0.6), (0.9, 0.5, 0.02))
SHARDS, LARGE_SHARDS = 40, 9


def _blade() -> Mesh:
    """Return a chef's blade along +X, edge towards -Y, point at the far end."""
    count = 24
    x = np.linspace(0, BLADE_LENGTH, count)
    back = np.full(count, 0.025)
    edge = -0.024 * np.clip(1 - (x / BLADE_LENGTH) ** 2.6, 0, 1) + 0.024 * (x / BLADE_LENGTH) ** 6
    rings = [(back, 0.0016), (edge, 0.0), (back, -0.0016)]
    vertices = np.concatenate([np.stack([x, y, np.full(count, z)], -1) for y, z in rings])
    faces = []
    for n in range(count - 1):
        a, b, c = n, count + n, 2 * count + n
        faces += [[a, b, b + 1], [a, b + 1, a + 1], [c, b + 1, b], [c, c + 1, b + 1]]
        faces += [[a, a + 1, c + 1], [a, c + 1, c]]
    return triangles(vertices, faces, BLADE)


def build_knife_edge(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a kitchen knife across the counter's edge, its blade sticking out at the anchor (-Y)."""
    grip = paint(0.02, reflectance=0.05, roughness=0.35)
    parts = [
        _blade(),
        box((0.13, 0.032, 0.022), grip, centre=(-0.07, 0.009, 0)),
        box((0.014, 0.04, 0.024), STEEL, centre=(-0.006, 0.006, 0)),
        *(cylinder(0.0045, 0.0235, STEEL, around=10).moved(x, 0.009, -0.0117) for x in (-0.03, -0.07, -0.11)),
    ]
    turn = -np.pi / 2 + float(rng.uniform(0.35, 0.6)) * (1 if rng.random() < 0.5 else -1)
    return merge(parts).moved(scale=1.3).moved(yaw=turn).moved(y=0.09, z=0.016)


def build_knife_block(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a wooden block with knives about the anchor, handles up."""
    turn = (-0.9, 0.9, 0.6)[int(rng.integers(3))]
    return load_pack("knifeblock").moved(scale=1.2, yaw=turn)


def _half_of_scissors(side: int, grip: Material) -> Mesh:
    blade = np.array(
        [[-0.012, 0, 0.002], [0.012, 0, 0.002], [0.003, 0.125, 0.002], [-0.001, 0.128, 0.002],
         [-0.012, 0, -0.001], [0.012, 0, -0.001], [0.003, 0.125, -0.001], [-0.001, 0.128, -0.001]]
    ) * [side, 1, 1]  # fmt: skip
    faces = [[0, 1, 2], [0, 2, 3], [4, 6, 5], [4, 7, 6], [0, 4, 5], [0, 5, 1],
             [1, 5, 6], [1, 6, 2], [3, 7, 4], [3, 4, 0]]  # fmt: skip
    ring = torus(0.025, 0.0075, grip, around=24, stretch=0.8).moved(scale=(1, 1.4, 1))
    shank = box((0.016, 0.055, 0.009), grip, centre=(-0.003 * side, -0.028, 0))
    return merge(
        [triangles(blade, faces, BLADE), shank, ring.moved(-0.013 * side, -0.088, 0, yaw=-0.18 * side)]
    )


def build_scissors_open(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return wide open scissors that lie about the anchor, points away from the camera (+Y)."""
    grip = paint(*pick(rng, GRIPS), reflectance=0.05, roughness=0.3)
    halves = [
        _half_of_scissors(side, grip).moved(yaw=side * 0.4).moved(z=0.008 + 0.0035 * side) for side in (-1, 1)
    ]
    pin = cylinder(0.007, 0.016, STEEL, around=14)
    return merge([*halves, pin]).moved(scale=1.55, yaw=float(rng.uniform(-0.5, 0.5)))


def _shard(size: float, rng: np.random.Generator) -> Mesh:
    """Return one flat splinter with bright broken edges."""
    count = int(rng.integers(3, 6))
    angle = np.sort(rng.uniform(0, 2 * np.pi, count))
    reach = size * rng.uniform(0.55, 1.2, count)
    outline = np.stack([reach * np.cos(angle), reach * np.sin(angle), 0 * angle], -1)
    faces = [[0, n, n + 1] for n in range(1, count - 1)]
    pane = triangles(outline, faces, replace(BOTTLE, opacity=float(rng.uniform(0.55, 0.75))))
    edge = Material((0.9, 1.0, 1.0), opacity=0.97, reflectance=0.2, roughness=0.1, name="glass edge")
    return merge([pane, tube(np.concatenate([outline, outline[:1]]), 0.0024, edge, around=4)])


def build_glass_floor(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a broken bottle about the anchor on the floor: its foot stands, shards lie around it."""
    parts = []
    for number in range(SHARDS):
        is_large = number < LARGE_SHARDS
        size = float(rng.uniform(0.05, 0.085) if is_large else rng.uniform(0.014, 0.045))
        lean = float(rng.uniform(0.4, 1.1)) if is_large else float(rng.normal()) * 0.3
        shard = _shard(size, rng).moved(pitch=lean, tilt=float(rng.normal()) * 0.3)
        reach, angle = 0.28 * np.sqrt(rng.random()), float(rng.uniform(0, 2 * np.pi))
        shard = shard.moved(yaw=float(rng.uniform(0, 2 * np.pi)))
        x, y = float(reach * np.cos(angle)) * 1.2, float(reach * np.sin(angle)) * 0.75
        parts.append(shard.moved(x, y, 0.004 - float(shard.bounds[0][2])))
    return merge([*parts, _broken_foot(rng).moved(0.05, 0.03, scale=1.7)])


def _broken_foot(rng: np.random.Generator) -> Mesh:
    """Return the lower end of a bottle with a jagged rim."""
    count, radius = 33, 0.036
    angle = np.linspace(0, 2 * np.pi, count)
    height = 0.03 + 0.04 * rng.random(count)
    height[-1] = height[0]
    bottom = np.stack([radius * np.cos(angle), radius * np.sin(angle), 0 * angle], -1)
    top = np.stack([radius * 1.12 * np.cos(angle), radius * 1.12 * np.sin(angle), height], -1)
    faces = [[n, n + 1, count + 1 + n] for n in range(count - 1)]
    faces += [[n, count + 1 + n, count + n] for n in range(count - 1)]
    edge = Material((0.9, 0.97, 0.97), opacity=0.95, reflectance=0.2, roughness=0.1)
    return merge(
        [
            triangles(np.concatenate([bottom, top]), faces, BOTTLE),
            lathe([[1e-4, 0.01], [radius, 0.01]], BOTTLE, around=24),
            tube(top, 0.0018, edge, around=4),
        ]
    )
