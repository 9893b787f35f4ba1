"""Builders of obstacles: cone, bin, container, debris, chain barrier."""

from functools import lru_cache
from itertools import pairwise

import numpy as np

from vlmlab.core.scenes.render import textures
from vlmlab.core.scenes.render.cutting import covered, cut, stencilled
from vlmlab.core.scenes.render.mesh import Colour, Material, Mesh, Texture, merge, paint
from vlmlab.core.scenes.render.packs import load_pack, repainted
from vlmlab.core.scenes.render.primitives import box, cylinder, quad, sphere, torus, triangles
from vlmlab.core.scenes.scene import SceneObject
from vlmlab.core.seeding import pick

CONTAINER_COLOURS: tuple[Colour, ...] = (
    (0.07, 0.15, 0.30),
    (0.30, 0.08, 0.055),
    (0.07, 0.20, 0.13),
    (0.40, 0.22, 0.08),
)
CONTAINER_LENGTH = 3.9
CONTAINER_SCALE = (0.8, CONTAINER_LENGTH / 6.06, 0.8)
CONTAINER_RIGHT = 1.86  # the curb begins a little further right
NAME_Y, NAME_Z, STRIPE_Z = (-1.35, 1.35), (1.3, 1.75), (0.62, 0.78)
CONE_SCALE = 1.25  # the cone of motorways, 0.88 m
FLUORESCENT: Colour = (1.4, 0.26, 0.02)  # it sends out more red light than falls on it
REFLECTIVE: Colour = (1.05, 1.05, 1.05)
POSTS_X = (-1.7, 0.0, 1.7)
CHAINS = ((1.0, 0.24), (0.55, 0.18))
LINKS = 22


def build_cone(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a tall traffic cone of fluorescent plastic with two reflective collars."""
    return repainted("cone", redplastic=FLUORESCENT, whiteplastic=REFLECTIVE).moved(scale=CONE_SCALE)


def build_garbage_bin(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a green wheeled bin."""
    return load_pack("wheeliebin").moved(scale=1.25, yaw=float(rng.uniform(-0.4, 0.4)))


def build_container(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a shipping container across the lane, off the curb; parameter ``scale`` makes it smaller."""
    colour = pick(rng, CONTAINER_COLOURS)
    turn = -np.pi / 2 + float(rng.uniform(-0.1, 0.1))
    scale = item.parameters.get("scale", 1.0)
    whole = _container(colour).moved(yaw=turn).moved(y=1.1)
    whole = whole.moved(scale=float(scale)) if isinstance(scale, int | float) else whole
    right = item.position[0] + float(whole.moved(yaw=item.yaw).bounds[1][0])
    aside = min(0.0, CONTAINER_RIGHT - right)
    return whole.moved(x=aside * float(np.cos(item.yaw)), y=-aside * float(np.sin(item.yaw)))


@lru_cache(maxsize=4)
def _container(colour: Colour) -> Mesh:
    """Return a container along Y, doors towards -Y, with lettering, a stripe and a dark foot."""
    bare = repainted("container", color=colour).moved(scale=CONTAINER_SCALE)
    high, deep = bare.bounds[1][2], bare.bounds[1][0]
    for axis, places in ((1, NAME_Y), (2, (*NAME_Z, *STRIPE_Z))):
        for at in places:
            bare = cut(bare, axis=axis, at=at)
    x, y, z = np.moveaxis(bare.corners.mean(1), 1, 0)
    walls = [material.name.lower() for material in bare.materials].index("color")
    is_long = (bare.material_of == walls) & (np.abs(x) > deep - 0.15) & (z < high - 0.1)
    is_long &= np.abs(y) < CONTAINER_LENGTH / 2 - 0.1
    painted = covered(bare, is_long & (z > STRIPE_Z[0]) & (z < STRIPE_Z[1]), paint(0.6, 0.6, 0.57))
    panel = is_long & (y > NAME_Y[0]) & (y < NAME_Y[1]) & (z > NAME_Z[0]) & (z < NAME_Z[1])
    word = Material((1, 1, 1), _container_name(colour))
    for side, across in ((x < 0, NAME_Y[::-1]), (x > 0, NAME_Y)):
        painted = stencilled(painted, panel & side, word, axis=1, across=across, up=NAME_Z)
    shadow = Material((0.01, 0.01, 0.01), opacity=0.55, reflectance=0.0, roughness=1.0)
    foot = box((2 * deep + 0.02, CONTAINER_LENGTH + 0.02, 0.07), paint(0.02), centre=(0, 0, 0.035))
    ground = quad((0, 0, 0.012), (deep + 0.09, 0, 0), (0, CONTAINER_LENGTH / 2 + 0.09, 0), shadow)
    return merge([painted, foot, ground])


def _container_name(colour: Colour) -> Texture:
    """Return white lettering on the colour of the container."""
    red, green, blue = (round(255 * one ** (1 / 2.2)) for one in colour)
    return textures.lettering(
        "CARGO 2614", width=512, height=96, ink=(240, 240, 235), ground=(red, green, blue)
    )


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
    """Return a field of three heaps of earth with rocks, planks, bricks and pieces of concrete."""
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
    plank = Material(albedo=(1, 1, 1), texture=textures.wood((0.62, 0.45, 0.26), planks=1, seed=3))
    for _ in range(4):
        x, y, z = rng.uniform(-0.9, 0.9), rng.uniform(-0.2, 0.5), rng.uniform(0.05, 0.28)
        board = box((0.1, float(rng.uniform(0.7, 1.2)), 0.035), plank)
        yaw, pitch = float(rng.uniform(0, 3)), float(rng.uniform(-0.3, 0.3))
        parts.append(board.moved(float(x), float(y), float(z), yaw=yaw, pitch=pitch))
    for _ in range(5):
        x, y = float(rng.uniform(-1.1, 1.1)), float(rng.uniform(-0.6, 0.2))
        brick = box((0.22, 0.11, 0.07), paint(0.55, 0.14, 0.07))
        parts.append(brick.moved(x, y, 0.04, yaw=float(rng.uniform(0, 3))))
    for _ in range(4):
        x, y, z = rng.uniform(-1.0, 1.0), rng.uniform(-0.5, 0.3), rng.uniform(0.08, 0.2)
        slab = box((float(rng.uniform(0.25, 0.45)), 0.3, 0.07), paint(0.62, 0.6, 0.57, roughness=0.9))
        yaw, pitch = float(rng.uniform(0, 3)), float(rng.uniform(-0.6, 0.6))
        parts.append(slab.moved(float(x), float(y), float(z), yaw=yaw, pitch=pitch))
    return merge(parts)


def build_chain_barrier(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return three striped posts with two sagging red and white chains between them."""
    return _chain_barrier()


@lru_cache(maxsize=1)
def _chain_barrier() -> Mesh:
    red = paint(0.95, 0.03, 0.02, reflectance=0.04, roughness=0.3)
    white = paint(*REFLECTIVE, reflectance=0.04, roughness=0.3)
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
