"""Builders of obstacles: cone, bin, container, debris, chain barrier."""

from functools import lru_cache
from itertools import pairwise

import numpy as np

from vlmlab.core.scenes.render import textures
from vlmlab.core.scenes.render.mesh import Colour, Material, Mesh, merge, paint
from vlmlab.core.scenes.render.packs import load_pack, repainted
from vlmlab.core.scenes.render.primitives import box, cylinder, sphere, torus, triangles
from vlmlab.core.scenes.scene import SceneObject

CONTAINER_COLOURS: tuple[Colour, ...] = (
    (0.05, 0.16, 0.42),
    (0.42, 0.07, 0.04),
    (0.05, 0.28, 0.14),
    (0.55, 0.25, 0.03),
)
POSTS_X = (-1.7, 0.0, 1.7)
CHAINS = ((1.0, 0.24), (0.55, 0.18))
LINKS = 22


def build_cone(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a traffic cone with white bands."""
    return repainted("cone", redplastic=(0.85, 0.16, 0.02), whiteplastic=(0.85, 0.85, 0.85))


def build_garbage_bin(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a green wheeled bin."""
    return load_pack("wheeliebin").moved(scale=1.25, yaw=float(rng.uniform(-0.4, 0.4)))


def build_container(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a shipping container across the lane; parameter ``scale`` makes it smaller."""
    colour = CONTAINER_COLOURS[int(rng.integers(len(CONTAINER_COLOURS)))]
    turn = np.pi / 2 + float(rng.uniform(-0.2, 0.2))
    scale = item.parameters.get("scale", 1.0)
    whole = repainted("container", color=colour).moved(yaw=turn, scale=0.8).moved(y=1.1)
    return whole.moved(scale=float(scale)) if isinstance(scale, int | float) else whole


def _dirt_heap(rng: np.random.Generator, dirt: Material) -> Mesh:
    around, rings = 36, 10
    radius, height = float(rng.uniform(0.45, 0.62)), float(rng.uniform(0.22, 0.36))
    angle = np.linspace(0, 2 * np.pi, around, endpoint=False)
    rough = rng.random((rings, around))
    share = np.linspace(0, 1, rings)[:, None]
    r = share * radius * (1 + 0.25 * np.sin(angle * 3 + rng.random() * 6) + 0.1 * rough)
    z = height * np.cos(share * np.pi / 2) ** 1.3 * (0.75 + 0.5 * rough)
    vertices = np.stack([r * np.cos(angle), r * np.sin(angle), z], -1).reshape(-1, 3)
    ring, spoke = np.mgrid[0 : rings - 1, 0:around]
    a, b = ring * around + spoke, ring * around + (spoke + 1) % around
    first = np.stack([b + around, b, a], -1).reshape(-1, 3)
    second = np.stack([a + around, b + around, a], -1).reshape(-1, 3)
    return triangles(vertices, np.concatenate([first, second]), dirt, uvs=vertices[:, :2] * 2)


def build_debris(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a field of three heaps of earth with rocks, planks and bricks."""
    parts = []
    dirt = Material(albedo=(1, 1, 1), texture=textures.noise((0.16, 0.10, 0.06), 0.9, seed=5), roughness=0.9)
    for x, y in ((-0.75, 0.1), (0.15, 0.6), (0.8, -0.05)):
        parts.append(_dirt_heap(rng, dirt).moved(x, y))
        for _ in range(7):
            size, angle, away = rng.uniform(0.12, 0.45), rng.uniform(0, 6.28), rng.uniform(0.25, 0.75)
            rock = load_pack(("rock1", "rock2")[int(rng.integers(2))])
            at = (x + away * np.cos(angle), y + away * np.sin(angle), -0.02 * size)
            parts.append(
                rock.moved(float(at[0]), float(at[1]), float(at[2]), yaw=float(angle), scale=float(size))
            )
    plank = Material(albedo=(1, 1, 1), texture=textures.wood((0.42, 0.28, 0.15), planks=1, seed=3))
    for _ in range(4):
        x, y, z = rng.uniform(-0.9, 0.9), rng.uniform(-0.2, 0.5), rng.uniform(0.05, 0.28)
        board = box((0.1, float(rng.uniform(0.7, 1.2)), 0.035), plank)
        yaw, pitch = float(rng.uniform(0, 3)), float(rng.uniform(-0.3, 0.3))
        parts.append(board.moved(float(x), float(y), float(z), yaw=yaw, pitch=pitch))
    for _ in range(5):
        x, y = float(rng.uniform(-1.1, 1.1)), float(rng.uniform(-0.6, 0.2))
        brick = box((0.22, 0.11, 0.07), paint(0.38, 0.12, 0.07))
        parts.append(brick.moved(x, y, 0.04, yaw=float(rng.uniform(0, 3))))
    return merge(parts)


def build_chain_barrier(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return three striped posts with two sagging red and white chains between them."""
    return _chain_barrier()


@lru_cache(maxsize=1)
def _chain_barrier() -> Mesh:
    red = paint(0.7, 0.03, 0.02, reflectance=0.04, roughness=0.3)
    white = paint(0.85, reflectance=0.04, roughness=0.3)
    parts = []
    for x in POSTS_X:
        for band in range(6):
            stripe = cylinder(0.055, 0.17, white if band % 2 == 0 else red, around=16)
            parts.append(stripe.moved(x, 0, 0.04 + band * 0.17))
        parts.append(cylinder(0.2, 0.05, paint(0.04), around=20).moved(x))
        parts.append(sphere(0.075, red, around=14).moved(x, 0, 1.1))
    for left, right in pairwise(POSTS_X):
        for height, sag in CHAINS:
            for number in range(LINKS):
                t = (number + 0.5) / LINKS
                slope = -sag * 4 * (1 - 2 * t) / (right - left)
                link = torus(0.034, 0.0115, red if number // 2 % 2 else white, around=10, stretch=1.55)
                link = link.moved(pitch=np.pi / 2 * (number % 2)).moved(tilt=float(-np.arctan(slope)))
                parts.append(link.moved(left + t * (right - left), 0, height - sag * 4 * t * (1 - t)))
    return merge(parts)
