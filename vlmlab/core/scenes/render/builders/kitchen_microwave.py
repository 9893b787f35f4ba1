"""Builder of the open microwave with a steaming bowl; it stands on z = 0, its front towards -Y."""

import numpy as np

from vlmlab.core.scenes.render import textures
from vlmlab.core.scenes.render.builders.kitchen_parts import plume
from vlmlab.core.scenes.render.kitchen_style import STEEL
from vlmlab.core.scenes.render.mesh import Colour, Material, Mesh, merge, paint
from vlmlab.core.scenes.render.primitives import box, cylinder, lathe, quad, sphere
from vlmlab.core.scenes.scene import SceneObject
from vlmlab.core.seeding import pick

WIDTH, HEIGHT, DEPTH = 0.52, 0.31, 0.36
CAVITY, WALL = 0.38, 0.02
LEFT = -WIDTH / 2
SPLIT = LEFT + CAVITY
SHELLS: tuple[Colour, ...] = ((0.55, 0.56, 0.57), (0.06, 0.06, 0.065), (0.76, 0.76, 0.74))


def _shell(shell: Material) -> list[Mesh]:
    lit = paint(0.72, 0.7, 0.62, emission=(0.42, 0.36, 0.22))
    middle, half = (LEFT + SPLIT) / 2, CAVITY / 2 - WALL
    tall = (0, 0, HEIGHT / 2 - WALL)
    return [
        box((WIDTH, DEPTH, WALL), shell, centre=(0, 0, WALL / 2)),
        box((WIDTH, DEPTH, WALL), shell, centre=(0, 0, HEIGHT - WALL / 2)),
        box((WALL, DEPTH, HEIGHT), shell, centre=(LEFT + WALL / 2, 0, HEIGHT / 2)),
        box((WIDTH - CAVITY, DEPTH, HEIGHT), shell, centre=((SPLIT + WIDTH / 2) / 2, 0, HEIGHT / 2)),
        box((WIDTH, WALL, HEIGHT), shell, centre=(0, DEPTH / 2 - WALL / 2, HEIGHT / 2)),
        quad((middle, DEPTH / 2 - WALL - 0.002, HEIGHT / 2), (half, 0, 0), tall, lit),
        quad((middle, 0, WALL + 0.001), (half, 0, 0), (0, DEPTH / 2, 0), lit),
        quad((middle, 0, HEIGHT - WALL - 0.001), (half, 0, 0), (0, DEPTH / 2, 0), lit),
        quad((LEFT + WALL + 0.001, 0, HEIGHT / 2), (0, DEPTH / 2, 0), tall, lit),
        quad((SPLIT - 0.001, 0, HEIGHT / 2), (0, DEPTH / 2, 0), tall, lit),
    ]


def _controls() -> list[Mesh]:
    """Return the panel with a green clock, a number pad and a start button."""
    x, front = (SPLIT + WIDTH / 2) / 2 + 0.004, -DEPTH / 2
    half = (WIDTH - CAVITY) / 2 - 0.01
    clock = textures.lettering("2:30", width=128, height=48, ink=(70, 255, 160), ground=(4, 14, 10))
    parts = [
        quad((x, front - 0.001, HEIGHT / 2), (half, 0, 0), (0, 0, HEIGHT / 2 - 0.012), paint(0.02)),
        quad((x, front - 0.003, HEIGHT * 0.84), (0.052, 0, 0), (0, 0, 0.021),
             Material((1, 1, 1), clock, emission=(1.3, 1.3, 1.3))),
    ]  # fmt: skip
    for row in range(4):
        for column in range(3):
            centre = (x - 0.036 + column * 0.036, front - 0.002, HEIGHT * 0.65 - row * 0.034)
            parts.append(box((0.027, 0.003, 0.02), paint(0.4), centre=centre))
    parts.append(box((0.09, 0.003, 0.022), paint(0.05, 0.5, 0.12), centre=(x, front - 0.002, HEIGHT * 0.16)))
    return parts


def _bowl(rng: np.random.Generator) -> Mesh:
    clay = paint(0.72, 0.12, 0.08, reflectance=0.06, roughness=0.25)
    soup = Material((1, 1, 1), textures.noise((0.6, 0.3, 0.06), 1.0, seed=8), roughness=0.4)
    parts = [
        lathe([[0.038, 0], [0.062, 0.012], [0.095, 0.07], [0.09, 0.07], [0.055, 0.02]], clay, around=28),
        lathe([[1e-4, 0.062], [0.045, 0.064], [0.086, 0.058]], soup, around=24),
    ]
    for _ in range(7):
        x, y = np.clip(rng.normal(size=2) * 0.032, -0.06, 0.06)
        parts.append(sphere(0.014, paint(0.1, 0.35, 0.05), around=8).moved(float(x), float(y), 0.064))
    return merge(parts)


def _door(shell: Material) -> Mesh:
    """Return the door from its hinge at the origin along +X."""
    dark = paint(0.015, reflectance=0.08, roughness=0.12)
    return merge(
        [
            box((CAVITY, 0.028, HEIGHT), shell, centre=(CAVITY / 2, 0, 0)),
            quad((CAVITY / 2, -0.015, 0), (CAVITY / 2 - 0.045, 0, 0), (0, 0, HEIGHT / 2 - 0.05), dark),
            quad((CAVITY / 2, 0.015, 0), (CAVITY / 2 - 0.03, 0, 0), (0, 0, HEIGHT / 2 - 0.03), paint(0.1)),
            box((0.018, 0.035, HEIGHT * 0.7), STEEL, centre=(CAVITY - 0.03, -0.035, 0)),
        ]
    )


def build_microwave_open_hot(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return a microwave oven with its door swung open to the left, light on, and a steaming bowl inside."""
    shell = paint(*pick(rng, SHELLS), reflectance=0.06, roughness=0.4)
    middle = (LEFT + SPLIT) / 2
    plate = cylinder(0.14, 0.007, paint(0.6, 0.7, 0.72, reflectance=0.08, roughness=0.2), around=32)
    turn = -np.pi / 2 - float(rng.uniform(0.05, 0.3))
    parts = [
        *_shell(shell),
        *_controls(),
        plate.moved(middle, -0.01, WALL + 0.004),
        _bowl(rng).moved(middle, -0.04, WALL + 0.012),
        _door(shell).moved(yaw=turn).moved(LEFT + 0.006, -DEPTH / 2 - 0.008, HEIGHT / 2),
    ]
    steam = plume(rng, width=0.24, height=0.42, sheets=3, shade=0.95, opacity=0.75)
    return merge([*parts, steam.moved(middle + 0.02, -DEPTH / 2 + 0.01, 0.12)])
