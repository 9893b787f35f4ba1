"""Builders of street furniture: bus stop, traffic light, tree, lamp post, hydrant."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
from PIL import ImageDraw

from vlmlab.core.scenes.render import textures
from vlmlab.core.scenes.render.mesh import Colour, Material, Mesh, merge, paint
from vlmlab.core.scenes.render.packs import load_pack
from vlmlab.core.scenes.render.primitives import box, cylinder, quad, triangles, tube
from vlmlab.core.scenes.scene import SceneObject

SHELTER_LENGTH, SHELTER_DEPTH = 3.6, 1.3
LAMPS: tuple[tuple[str, Colour], ...] = (
    ("red", (1.0, 0.012, 0.008)),
    ("yellow", (1.0, 0.6, 0.02)),
    ("green", (0.02, 1.0, 0.25)),
)
LAMP_GAIN, LAMP_RADIUS = 5.0, 0.165
NEAR_TREES_Y = 18.0
GARDEN_GREEN: Colour = (0.45, 0.95, 0.4)


def _draw_poster(draw: ImageDraw.ImageDraw, width: int, height: int) -> None:
    draw.rectangle([0, 0, width, height * 0.6], fill=(250, 190, 40, 255))
    draw.ellipse([width * 0.2, height * 0.15, width * 0.8, height * 0.6], fill=(220, 40, 40, 255))
    draw.rectangle([width * 0.15, height * 0.7, width * 0.85, height * 0.78], fill=(60, 60, 60, 255))
    draw.rectangle([width * 0.15, height * 0.84, width * 0.7, height * 0.9], fill=(120, 120, 120, 255))


def _draw_bus_sign(draw: ImageDraw.ImageDraw, width: int, height: int) -> None:
    blue, white = (20, 80, 180, 255), (255, 255, 255, 255)
    draw.rounded_rectangle([0, 0, width - 1, height - 1], 14, fill=blue)
    draw.rounded_rectangle([22, 20, width - 23, height - 46], 10, fill=white)
    draw.rectangle([30, 32, width - 31, height - 86], fill=blue)
    draw.ellipse([28, height - 66, 46, height - 48], fill=blue)
    draw.ellipse([width - 47, height - 66, width - 29, height - 48], fill=blue)


def _shelter() -> list[Mesh]:
    glass = Material((0.6, 0.75, 0.8), opacity=0.22, reflectance=0.06, roughness=0.05)
    frame = paint(0.06, 0.07, 0.08, reflectance=0.05, roughness=0.3)
    bench = Material((1, 1, 1), textures.wood((0.4, 0.25, 0.12), planks=2, seed=3))
    roof = paint(0.10, 0.25, 0.45, reflectance=0.05, roughness=0.2)
    length, depth = SHELTER_LENGTH, SHELTER_DEPTH
    post = (0.07, 0.07, 2.35)
    parts = [
        box(post, frame, centre=(depth / 2, length * share, 1.17)) for share in (-0.5, -1 / 6, 1 / 6, 0.5)
    ]
    parts += [box(post, frame, centre=(-depth / 2, length * share, 1.17)) for share in (-0.5, 0.5)]
    parts += [
        box((0.02, length, 1.75), glass, centre=(depth / 2, 0, 1.25)),
        box((depth, 0.02, 1.75), glass, centre=(0, length / 2, 1.25)),
        box((depth + 0.4, length + 0.3, 0.1), roof, centre=(0, 0, 2.4)),
        box((0.42, length * 0.62, 0.06), bench, centre=(0.28, 0.2, 0.5)),
        box((0.05, 0.05, 0.5), frame, centre=(0.3, -0.7, 0.25)),
        box((0.05, 0.05, 0.5), frame, centre=(0.3, 1.0, 0.25)),
        box((1.15, 0.1, 1.6), frame, centre=(0, length / 2 - 0.1, 1.2)),
    ]
    return parts


def build_bus_stop(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a glass shelter with bench, poster, lettered roof edge and a bus sign on a pole."""
    return _bus_stop()


@lru_cache(maxsize=1)
def _bus_stop() -> Mesh:
    length, depth = SHELTER_LENGTH, SHELTER_DEPTH
    word = textures.lettering("BUS STOP", width=384, height=112, ink=(255, 255, 255), ground=(16, 60, 130))
    letters = Material((1, 1, 1), word, roughness=0.7)
    poster = Material((1, 1, 1), textures.painted(_draw_poster, width=96, height=160))
    sign = Material((1, 1, 1), textures.painted(_draw_bus_sign, width=128, height=150))
    pole_x, pole_y = -depth / 2 - 0.37, -length / 2 - 0.7
    grey = paint(0.25, reflectance=0.2, roughness=0.3)
    return merge(
        [
            *_shelter(),
            quad((0.22, -length / 2 - 0.16, 2.47), (0.64, 0, 0), (0, 0, 0.2), letters),
            quad((0, length / 2 - 0.16, 1.2), (0.52, 0, 0), (0, 0, 0.74), poster),
            cylinder(0.04, 3.0, grey, around=14).moved(pole_x, pole_y),
            box((0.58, 0.03, 0.74), paint(0.1), centre=(pole_x, pole_y - 0.06, 2.67)),
            quad((pole_x, pole_y - 0.08, 2.67), (0.28, 0, 0), (0, 0, 0.36), sign),
        ]
    )


def _visor(x: float, z: float) -> Mesh:
    angle = np.linspace(-0.2, np.pi + 0.2, 14)
    arc = np.stack([np.cos(angle) * 0.175 + x, 0 * angle - 0.23, np.sin(angle) * 0.175 + z], -1)
    front = arc - np.array([0, 0.2, 0])
    faces = [[i, i + 1, i + 15] for i in range(13)] + [[i, i + 15, i + 14] for i in range(13)]
    return triangles(np.concatenate([arc, front]), faces, paint(0.008))


def _signal_head(x: float, z: float, lit: str) -> list[Mesh]:
    parts = [
        box((1.0, 0.02, 1.56), paint(0.8, 0.6, 0.03), centre=(x, 0.06, z)),
        box((0.9, 0.03, 1.46), paint(0.006), centre=(x, 0.045, z)),
        box((0.42, 0.3, 1.22), paint(0.012), centre=(x, -0.08, z)),
    ]
    for number, (name, colour) in enumerate(LAMPS):
        gain = LAMP_GAIN if name == lit else 0.0
        glow = (colour[0] * gain, colour[1] * gain, colour[2] * gain)
        glass = paint(colour[0] * 0.04, colour[1] * 0.04, colour[2] * 0.04, emission=glow)
        height = z + 0.38 - number * 0.38
        parts.append(cylinder(LAMP_RADIUS, 0.02, glass, around=24).moved(x, -0.23, height, pitch=np.pi / 2))
        parts.append(_visor(x, height))
    return parts


def build_traffic_light(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a signal with one head over the lane and one at the post; parameter ``colour`` is lit."""
    return _traffic_light(str(item.parameters.get("colour", "")))


@lru_cache(maxsize=4)
def _traffic_light(lit: str) -> Mesh:
    grey = paint(0.10, 0.11, 0.12, reflectance=0.05, roughness=0.3)
    arm = tube([[0, 0, 5.4], [-1.2, 0, 5.6], [-2.6, 0, 5.65]], 0.07, grey, around=10)
    return merge(
        [
            cylinder(0.11, 5.6, grey, around=18),
            arm,
            *_signal_head(-2.5, 4.75, lit),
            *_signal_head(0, 3.3, lit),
        ]
    )


def build_tree(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a maple, with fewer leaves where it stands far away; green but in the city of town 2."""
    tree = load_pack("maple" if item.position[1] < NEAR_TREES_Y else "maple_far")
    if not str(item.parameters.get("town", "")).endswith("02"):
        leaves = next(material for material in tree.materials if material.name == "Twig")
        tree = tree.recoloured({"twig": replace(leaves, albedo=GARDEN_GREEN)})
    return tree.moved(scale=float(rng.uniform(0.55, 0.8)), yaw=float(rng.uniform(0, 6)))


def build_lamp(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a street lamp whose arm points along +X before it is placed."""
    return load_pack("lamp").moved(yaw=-np.pi / 2)


def build_hydrant(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a fire hydrant."""
    return load_pack("hydrant")
