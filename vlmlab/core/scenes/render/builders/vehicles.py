"""Builders of vehicles: ambulance, police car, parked and oncoming cars."""

import numpy as np
from PIL import ImageDraw

from vlmlab.core.scenes.render import textures
from vlmlab.core.scenes.render.builders.people import CLOTHES, pick
from vlmlab.core.scenes.render.mesh import Colour, Material, Mesh, Texture, merge, paint
from vlmlab.core.scenes.render.packs import load_pack, repainted
from vlmlab.core.scenes.render.primitives import box, quad
from vlmlab.core.scenes.scene import SceneObject

BLUE: Colour = (0.1, 0.25, 1.0)
RED: Colour = (1.0, 0.05, 0.03)


def _plate(texture: Texture) -> Material:
    return Material(albedo=(1, 1, 1), texture=texture, roughness=0.6)


def _light_bar(width: float, rng: np.random.Generator) -> Mesh:
    """Return a flashing bar of blue and red segments along X; about half of them are lit."""
    segments = []
    phase = int(rng.integers(2))
    for number in range(6):
        colour = (BLUE, RED)[number % 2]
        gain = 3.4 if (number + phase) % 2 or number in (0, 5) else 1.5
        glow = (colour[0] * gain, colour[1] * gain, colour[2] * gain)
        size = (width / 6 * 0.92, 0.28, 0.16)
        segments.append(
            box(size, paint(*colour, emission=glow), centre=((number - 2.5) * width / 6, 0, 0.08))
        )
    return merge(segments)


def _draw_star(draw: ImageDraw.ImageDraw, width: int, height: int) -> None:
    """Draw a six-armed blue star with a white staff."""
    for arm in range(3):
        angle = np.pi / 3 * arm + np.pi / 2
        along = np.array([np.cos(angle), np.sin(angle)]) * width * 0.46
        aside = np.array([-np.sin(angle), np.cos(angle)]) * width * 0.12
        middle = np.array([width / 2, height / 2])
        corners = [middle + a * along + b * aside for a, b in ((1, 1), (1, -1), (-1, -1), (-1, 1))]
        draw.polygon([(float(x), float(y)) for x, y in corners], fill=(10, 60, 190, 255))
    draw.rectangle([width / 2 - 3, height * 0.2, width / 2 + 3, height * 0.8], fill=(255, 255, 255, 255))


def _draw_chevrons(draw: ImageDraw.ImageDraw, width: int, height: int) -> None:
    """Draw red chevrons that fall from the middle to both sides."""
    half = width / 2
    for number in range(-6, 12):
        top = height - number * 36
        for edge in (width, 0):
            corners = [(half, top), (half, top - 18), (edge, top + half - 18), (edge, top + half)]
            draw.polygon(corners, fill=(215, 20, 20, 255))


def _draw_squares(draw: ImageDraw.ImageDraw, width: int, height: int) -> None:
    """Draw two rows of blue and yellow squares."""
    side = height / 2
    for row in range(2):
        for column in range(int(width / side) + 1):
            colour = (20, 60, 190, 255) if (row + column) % 2 else (235, 225, 20, 255)
            left, top = column * side, row * side
            draw.rectangle([left, top, left + side, top + side], fill=colour)


def _ambulance(rng: np.random.Generator) -> Mesh:
    van = repainted("van", firstcolor=(0.82, 0.82, 0.82)).moved(yaw=np.pi)
    low, high = van.bounds
    rear, half = float(low[1]), float(high[0] - low[0]) / 2
    word = _plate(
        textures.lettering("AMBULANCE", width=512, height=110, ink=(200, 10, 10), ground=(255, 255, 255))
    )
    star = Material(
        (1, 1, 1), textures.painted(_draw_star, width=128, height=128, ground=(255, 255, 255, 0)), 0.99
    )
    chevrons = _plate(textures.painted(_draw_chevrons, width=256, height=128, ground=(250, 220, 40, 255)))
    red = paint(0.75, 0.04, 0.03)
    parts = [
        van,
        box((half * 1.7, 0.10, 0.46), paint(0.9), centre=(0, rear + 0.03, 2.27)),
        quad((0, rear - 0.024, 2.27), (half * 0.82, 0, 0), (0, 0, 0.2), word),
        quad((0, rear - 0.022, 0.92), (half * 0.69, 0, 0), (0, 0, 0.30), chevrons),
        quad((half * 0.36, rear - 0.02, 1.62), (0.26, 0, 0), (0, 0.02, 0.26), star),
        quad((-half * 0.36, rear - 0.02, 1.62), (0.26, 0, 0), (0, 0.02, 0.26), star),
        _light_bar(1.5, rng).moved(y=rear + 0.35, z=float(high[2]) - 0.04),
        _light_bar(1.5, rng).moved(y=float(high[1]) - 2.0, z=float(high[2]) - 0.1),
    ]
    for side in (-1, 1):
        x = side * half * 0.87
        parts.append(quad((x, 0.4, 1.25), (0, 2.3 * side, 0), (0, 0, 0.13), red))
        parts.append(quad((x, 0.7, 1.75), (0, 1.2 * side, 0), (0, 0, 0.2), word))
        lamp = paint(0.6, 0.02, 0.02, emission=(0.5, 0.01, 0.01))
        parts.append(box((0.16, 0.04, 0.34), lamp, centre=(side * half * 0.82, rear - 0.012, 1.25)))
    return merge(parts).moved(y=float(high[1] - low[1]) / 2)


def _police_car(rng: np.random.Generator) -> Mesh:
    car = repainted("suv", firstcolor=(0.8, 0.8, 0.82)).moved(yaw=np.pi)
    low, high = car.bounds
    rear, half, top = float(low[1]), float(high[0] - low[0]) / 2, float(high[2])
    word = _plate(
        textures.lettering("POLICE", width=384, height=110, ink=(255, 255, 255), ground=(14, 34, 130))
    )
    squares = _plate(textures.painted(_draw_squares, width=512, height=96))
    parts = [
        car,
        box((half * 1.3, 0.06, 0.3), paint(0.05, 0.1, 0.4), centre=(0, rear + 0.0, 0.98)),
        quad((0, rear - 0.034, 0.98), (half * 0.63, 0, 0), (0, 0, 0.135), word),
        quad((0, rear - 0.03, 0.68), (half * 0.72, 0, 0), (0, 0, 0.11), squares),
        _light_bar(1.25, rng).moved(y=0.1, z=top - 0.02),
    ]
    for side in (-1, 1):
        parts.append(quad((side * half * 0.93, 0.1, 0.72), (0, 1.7 * side, 0), (0, 0, 0.16), squares))
    return merge(parts).moved(y=float(high[1] - low[1]) / 2)


def build_emergency_vehicle(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return an ambulance or a police car (parameter ``variant``), seen from behind, lights flashing."""
    variant = item.parameters.get("variant")
    if variant is None:
        variant = "police" if rng.random() < 0.4 else "ambulance"
    return _police_car(rng) if str(variant).startswith("police") else _ambulance(rng)


def build_car(item: SceneObject, rng: np.random.Generator) -> Mesh:
    """Return an everyday car."""
    colour = pick(rng, CLOTHES)
    if rng.random() < 0.5:
        return repainted("suv", firstcolor=colour)
    names = {material.name.lower() for material in load_pack("sedan").materials}
    return repainted("sedan", **{name: colour for name in ("car", "paint", "firstcolor") if name in names})
