"""Builders of drinks, spills and medicine. Counter things stand on z = 0 about their anchor."""

import numpy as np
from PIL import ImageDraw

from vlmlab.core.scenes.kitchen_frame import COUNTER_HEIGHT
from vlmlab.core.scenes.render import textures
from vlmlab.core.scenes.render.builders.kitchen_parts import (
    COFFEE,
    drops,
    mug,
    pick_mug,
    plume,
    puddle,
    trickle,
    tumbler,
    water,
)
from vlmlab.core.scenes.render.mesh import Material, Mesh, merge, paint
from vlmlab.core.scenes.render.primitives import cylinder, lathe, sphere, triangles
from vlmlab.core.scenes.scene import SceneObject


def _side(rng: np.random.Generator) -> int:
    return 1 if rng.random() < 0.5 else -1


def build_glass_upright(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a glass of water that stands on its foot at the anchor."""
    return tumbler(filled=0.62, height=0.16).moved(scale=1.15)


def build_glass_tipped(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a glass on its side by the counter's edge; water runs down the front to a pool on the floor.

    The anchor lies on the edge: the glass is behind it (+Y), the streams in front, the pool at floor height.
    """
    side = _side(rng)
    lying = tumbler(height=0.16).moved(scale=1.25).moved(tilt=side * np.pi / 2)
    parts = [
        lying.moved(yaw=side * -0.35).moved(x=-side * 0.17, y=0.10, z=0.058),
        puddle(0.12, water(0.6), rng, stretch=(1.3, 0.6)).moved(x=side * 0.03, y=0.07, z=0.001),
    ]
    for number in range(4):
        x = side * (-0.06 + 0.05 * number + float(rng.uniform(-0.012, 0.012)))
        thick = float(rng.uniform(0.006, 0.011))
        parts.append(trickle(water(0.62), rng, x=x, y=-0.012, drop=COUNTER_HEIGHT - 0.01, radius=thick))
    for _ in range(8):
        drop = sphere(float(rng.uniform(0.005, 0.009)), water(0.6), around=8).moved(scale=(1, 1, 1.6))
        parts.append(
            drop.moved(side * float(rng.uniform(-0.1, 0.14)), -0.03, float(rng.uniform(-0.85, -0.1)))
        )
    floor = -COUNTER_HEIGHT + 0.002
    parts.append(puddle(0.27, water(0.55), rng, stretch=(1.15, 0.62)).moved(side * 0.03, -0.18, floor))
    parts.append(
        drops(water(0.55), rng, count=12, spread=0.17, sizes=(0.008, 0.022)).moved(side * 0.03, -0.2, floor)
    )
    return merge(parts)


def build_coffee_spill(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a mug on its side in a pool of coffee that runs over the counter's edge at the anchor."""
    side = _side(rng)
    fallen = (
        mug(pick_mug(rng), is_full=False).moved(yaw=1.2).moved(tilt=side * np.pi / 2).moved(yaw=side * 0.4)
    )
    parts = [
        fallen.moved(x=-side * 0.15, y=0.13, z=0.044),
        puddle(0.145, COFFEE, rng, stretch=(1.25, 0.62)).moved(x=side * 0.05, y=0.08, z=0.001),
        drops(COFFEE, rng, count=10, spread=0.09, sizes=(0.006, 0.014)).moved(side * 0.05, 0.13, 0.001),
    ]
    for number in range(5):
        x = side * (-0.05 + 0.05 * number)
        drop = float(rng.uniform(0.22, 0.6))
        parts.append(trickle(COFFEE, rng, x=x, y=-0.012, drop=drop, radius=0.006))
    return merge(parts)


def build_wet_floor(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a wide pool of water with splashes about the anchor on the floor."""
    parts = [
        puddle(0.36, water(0.62), rng, stretch=(1.2, 0.62), thick=0.004).moved(z=0.002),
        drops(water(0.62), rng, count=14, spread=0.26, sizes=(0.012, 0.035)).moved(z=0.002),
    ]
    return merge(parts)


def build_hot_beverage(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a full mug that steams, its foot just behind the counter's edge at the anchor."""
    cup = mug(pick_mug(rng), is_full=True).moved(
        yaw=float(rng.uniform(-0.5, 0.5)) + (0.0 if rng.random() < 0.5 else np.pi)
    )
    steam = plume(rng, width=0.15, height=0.3, sheets=4, shade=0.95, opacity=0.85).moved(z=0.1)
    return merge([cup.moved(scale=1.15), steam]).moved(y=0.045)


def _draw_label(draw: ImageDraw.ImageDraw, width: int, height: int) -> None:
    """Draw a blue band for the word and four lines of small print with a red cross."""
    draw.rectangle([0, height * 0.42, width, height], fill=(255, 255, 255, 255))
    for row in range(4):
        y = height * (0.5 + 0.11 * row)
        draw.rectangle([width * 0.4, y, width * (0.68 - 0.05 * (row % 3)), y + 6], fill=(70, 70, 70, 255))
    draw.rectangle([width * 0.31, height * 0.62, width * 0.37, height * 0.68], fill=(200, 20, 20, 255))
    draw.rectangle([width * 0.325, height * 0.54, width * 0.355, height * 0.76], fill=(200, 20, 20, 255))


def _around(radius: float, low: float, high: float, material: Material, *, half_angle: float) -> Mesh:
    """Return a curved label on the front (-Y) of an upright cylinder."""
    angle = np.linspace(-half_angle, half_angle, 20) - np.pi / 2
    bottom = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(20, low)], -1)
    top = bottom + np.array([0, 0, high - low])
    across = np.linspace(0, 1, 20)
    uvs = np.concatenate([np.stack([across, 0 * across], -1), np.stack([across, 0 * across + 1], -1)])
    faces = [[n, n + 1, 21 + n] for n in range(19)] + [[n, 21 + n, 20 + n] for n in range(19)]
    return triangles(np.concatenate([bottom, top]), faces, material, uvs=uvs)


def build_pill_bottle(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return an open amber bottle at the anchor, its cap beside it, pills spilled in front (-Y)."""
    amber = paint(0.8, 0.24, 0.02, reflectance=0.06, roughness=0.15)
    white = paint(0.85, reflectance=0.05, roughness=0.3)
    word = textures.lettering("PILLS", width=256, height=72, ink=(255, 255, 255), ground=(20, 60, 150))
    print_ = textures.painted(_draw_label, width=256, height=128)
    bottle = [
        lathe([[0.030, 0], [0.031, 0.003], [0.031, 0.082], [0.024, 0.09], [0.024, 0.104], [0.0225, 0.104],
               [0.0225, 0.09], [0.029, 0.08]], amber, around=32),
        lathe([[0.0285, 0.004], [0.0285, 0.05], [1e-4, 0.053]], white, around=24),
        _around(0.0318, 0.045, 0.076, Material((1, 1, 1), word), half_angle=1.15),
        _around(0.0318, 0.012, 0.045, Material((1, 1, 1), print_), half_angle=1.5),
    ]  # fmt: skip
    parts = [
        merge(bottle).moved(scale=1.35),
        cylinder(0.029, 0.018, white, around=28).moved(scale=1.35).moved(0.11, -0.01),
    ]
    colours = ((0.85, 0.85, 0.83), (0.8, 0.08, 0.06), (0.85, 0.72, 0.1))
    for number in range(15):
        pill = sphere(0.0085, paint(*colours[number % 3], roughness=0.3), around=10).moved(
            scale=(1.7, 1, 0.75)
        )
        x = float(np.clip(rng.normal() * 0.05, -0.1, 0.1)) + 0.02
        y = -0.085 + float(np.clip(rng.normal() * 0.022, -0.045, 0.03))
        parts.append(pill.moved(yaw=float(rng.uniform(0, 3))).moved(x, y, 0.006))
    return merge(parts)
