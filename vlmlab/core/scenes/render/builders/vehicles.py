"""Builders of vehicles: ambulance, police car, parked and oncoming cars."""

import numpy as np
from PIL import ImageDraw

from vlmlab.core.scenes.render import textures
from vlmlab.core.scenes.render.builders.people import CLOTHES
from vlmlab.core.scenes.render.mesh import Colour, Material, Mesh, Texture, merge, paint
from vlmlab.core.scenes.render.packs import load_pack, repainted
from vlmlab.core.scenes.render.primitives import box, quad
from vlmlab.core.scenes.scene import SceneObject
from vlmlab.core.seeding import pick

BLUE: Colour = (0.02, 0.1, 1.0)
RED: Colour = (1.0, 0.02, 0.015)
LIT, UNLIT, BEACON = 4.0, 0.7, 2.2
VAN_SIDE, VAN_HEADER, SUV_SIDE = 1.0, 0.84, 0.952
"""Metres from the middle: side panels and roof board of the van, doors of the police car."""


def _plate(texture: Texture) -> Material:
    return Material(albedo=(1, 1, 1), texture=texture, roughness=0.6)


def _light_bar(width: float, rng: np.random.Generator, colours: tuple[Colour, Colour]) -> Mesh:
    """Return a flashing bar of segments in two colours along X; about half of them are lit."""
    segments = []
    phase = int(rng.integers(2))
    for number in range(6):
        colour = colours[number % 2]
        gain = LIT if (number + phase) % 2 or number in (0, 5) else UNLIT
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


def _sign(half_width: float, half_height: float, word: Material) -> Mesh:
    """Return a flat board with lettering on its face towards -Y, its back at the origin."""
    board = box((2 * half_width, 0.06, 2 * half_height), paint(0.85), centre=(0, -0.03, 0))
    return merge([board, quad((0, -0.066, 0), (half_width, 0, 0), (0, 0, half_height), word)])


def _ambulance(rng: np.random.Generator) -> Mesh:
    van = repainted("van", firstcolor=(0.82, 0.82, 0.82)).moved(yaw=np.pi)
    low, high = van.bounds
    rear, top = float(low[1]), float(high[2])
    word = _plate(
        textures.lettering("AMBULANCE", width=512, height=110, ink=(200, 10, 10), ground=(255, 255, 255))
    )
    star = Material(
        (1, 1, 1), textures.painted(_draw_star, width=128, height=128, ground=(255, 255, 255, 0)), 0.99
    )
    chevrons = _plate(textures.painted(_draw_chevrons, width=256, height=128, ground=(250, 220, 40, 255)))
    red, blue = paint(0.75, 0.04, 0.03), paint(0.02, 0.07, 0.5)
    parts = [
        van,
        box((2 * VAN_HEADER, 0.2, 0.44), paint(0.9), centre=(0, rear + 0.15, 2.27)),
        _sign(VAN_HEADER, 0.22, word).moved(y=rear + 0.05, z=2.27),
        quad((0, rear - 0.022, 0.92), (0.9, 0, 0), (0, 0, 0.30), chevrons),
        quad((0.43, rear - 0.02, 1.62), (0.26, 0, 0), (0, 0.02, 0.26), star),
        quad((-0.43, rear - 0.02, 1.62), (0.26, 0, 0), (0, 0.02, 0.26), star),
        _light_bar(1.5, rng, (BLUE, BLUE)).moved(y=rear + 0.35, z=top - 0.06),
        _light_bar(1.5, rng, (BLUE, BLUE)).moved(y=float(high[1]) - 2.0, z=top - 0.1),
    ]
    lamp = paint(0.6, 0.02, 0.02, emission=(0.5, 0.01, 0.01))
    for side in (-1, 1):
        panel = _sign(1.5, 0.27, word).moved(yaw=side * np.pi / 2)
        parts.append(panel.moved(side * (VAN_SIDE - 0.06), -0.95, 1.72))
        for stripe, z in ((red, 1.27), (blue, 1.13)):
            band = box((0.05, 4.4, 0.12), stripe, centre=(side * (VAN_SIDE - 0.01), -0.5, z))
            parts.append(band)
        parts.append(box((0.1, 0.07, 0.4), lamp, centre=(side * 0.88, rear + 0.02, 1.45)))
        parts.append(box((0.13, 0.1, 0.13), _beacon(), centre=(side * 0.72, rear + 0.03, 2.0)))
    return merge(parts).moved(y=float(high[1] - low[1]) / 2)


def _beacon() -> Material:
    return paint(*BLUE, emission=(BLUE[0] * BEACON, BLUE[1] * BEACON, BLUE[2] * BEACON))


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
        _light_bar(1.25, rng, (BLUE, RED)).moved(y=0.1, z=top - 0.02),
    ]
    for side in (-1, 1):
        at = side * (SUV_SIDE + 0.008)
        parts.append(quad((at, 0.1, 0.86), (0, 1.5 * side, 0), (0, 0, 0.12), squares))
        parts.append(quad((at, 0.05, 0.6), (0, 0.7 * side, 0), (0, 0, 0.13), word))
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
