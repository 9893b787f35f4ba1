"""Builders of what happens on the stove. Their anchor is the middle of the hob, just over its surface."""

import numpy as np

from vlmlab.core.scenes.kitchen_frame import COUNTER_DEPTH
from vlmlab.core.scenes.render import kitchen_textures
from vlmlab.core.scenes.render.builders.kitchen_parts import billow, gas_ring, pan, plume, sheet, tongue
from vlmlab.core.scenes.render.kitchen_range import BURNERS, GRATE_ABOVE_ANCHOR
from vlmlab.core.scenes.render.mesh import Material, Mesh, merge, paint
from vlmlab.core.scenes.render.primitives import lathe, quad, sphere
from vlmlab.core.scenes.scene import SceneObject
from vlmlab.core.seeding import pick

FRONT = -COUNTER_DEPTH / 2
"""Y of the stove's front from the anchor."""
TOWEL_X, TOWEL_WIDTH, TOWEL_LENGTH, TOWEL_ON_TOP = 0.06, 0.24, 0.52, 0.15
INKS: tuple[kitchen_textures.Painted, ...] = ((190, 40, 40), (40, 90, 180), (50, 130, 70))
FLAMES = 9


def build_stove_on(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return blue gas flames on two burners: left in front and right at the back."""
    flames = []
    for (x, y), radius in ((BURNERS[0], 0.056), (BURNERS[3], 0.05)):
        flames.append(gas_ring(rng, radius=radius, height=0.062).moved(x, y, -0.008))
    return merge(flames)


def build_pan_stove(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a pan with a frying egg on the left front burner; its handle sticks out over the front."""
    x, y = BURNERS[0]
    white, yolk = (
        paint(0.78, 0.75, 0.68, roughness=0.4),
        paint(0.9, 0.5, 0.03, reflectance=0.06, roughness=0.15),
    )
    egg = [
        lathe([[1e-4, 0.012], [0.055, 0.016], [0.072, 0.009]], white, around=20),
        sphere(0.025, yolk, around=14).moved(scale=(1, 1, 0.55)).moved(z=0.018),
    ]
    turn = float(rng.uniform(-0.25, 0.15))
    return merge([pan(), *egg]).moved(yaw=turn).moved(x, y, GRATE_ABOVE_ANCHOR)


def build_pan_counter(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a steaming pan on the counter; its handle sticks out over the edge at the anchor (-Y)."""
    steam = plume(rng, width=0.26, height=0.34, sheets=4, shade=0.92, opacity=0.75).moved(z=0.03)
    food = lathe(
        [[1e-4, 0.016], [0.11, 0.016]], paint(0.45, 0.14, 0.03, reflectance=0.08, roughness=0.2), around=28
    )
    turned = merge([pan(), food]).moved(yaw=float(rng.uniform(-0.25, 0.25)))
    return merge([turned, steam]).moved(y=0.18)


def build_smoke(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a burnt pan on the right back burner and a dark cloud that rises from it past the hood."""
    x, y = BURNERS[3]
    cloud = billow(rng, rise=0.95, lean=0.62, sizes=(0.11, 0.34), puffs=11, shade=0.035).moved(z=0.1)
    burnt = pan(is_burnt=True).moved(yaw=0.5 + float(rng.uniform(0, 0.3)))
    return merge([burnt, cloud]).moved(x, y, GRATE_ABOVE_ANCHOR)


def _draped(rng: np.random.Generator, cloth: Material) -> Mesh:
    """Return a towel whose upper part lies on the hob and whose lower part hangs down before the oven."""
    columns, rows = 24, 32
    across, down = np.meshgrid(np.linspace(-0.5, 0.5, columns), np.linspace(0, TOWEL_LENGTH, rows))
    phase = rng.random(3) * 6
    fold = 0.012 * np.sin(across * 7 + phase[0]) * np.clip(down * 4, 0, 1)
    fold += 0.006 * np.sin(across * 15 + phase[1] + down * 6)
    lies = down < TOWEL_ON_TOP
    y = np.where(lies, FRONT - 0.02 + TOWEL_ON_TOP - down, FRONT - 0.03 - np.abs(fold))
    over = down - TOWEL_ON_TOP
    z = np.where(lies, 0.03 + np.abs(fold) + 0.006 * np.sin(down * 40), 0.03 - over)
    x = TOWEL_X + across * TOWEL_WIDTH * (1 + 0.15 * np.clip(over, 0, 1)) + 0.01 * np.sin(down * 9 + phase[2])
    return sheet(np.stack([x, y, z], -1), cloth)


def build_towel_near(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a dish towel over the front edge of the hob, its end beside the left front burner."""
    ink = pick(rng, INKS)
    return _draped(rng, Material((1, 1, 1), kitchen_textures.towel(ink, is_charred=False), roughness=0.9))


def build_towel_burning(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return the same towel, charred, with yellow flames and smoke over it."""
    ink = pick(rng, INKS)
    cloth = Material((1, 1, 1), kitchen_textures.towel(ink, is_charred=True), roughness=0.95)
    parts = [_draped(rng, cloth)]
    for number in range(FLAMES):
        x = TOWEL_X + float(rng.uniform(-0.11, 0.11))
        half, width = float(rng.uniform(0.08, 0.19)), float(rng.uniform(0.05, 0.085))
        y = FRONT - 0.05 + float(rng.uniform(0.0, 0.12))
        z = half + float(rng.uniform(-0.22, 0.0))
        parts.append(quad((x, y, z), (width, 0, 0), (0, 0, half), tongue(number, is_gas=False)))
    cloud = billow(rng, rise=0.6, lean=0.05, sizes=(0.07, 0.2), puffs=6, shade=0.09)
    return merge([*parts, cloud.moved(TOWEL_X, FRONT + 0.12, 0.2)])
