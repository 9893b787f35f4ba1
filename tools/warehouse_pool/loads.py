"""What is stored in the warehouse: cartons, pallets, stacks, crates."""

from functools import lru_cache

import numpy as np
from PIL import ImageDraw

from vlmlab.core.scenes.render import textures
from vlmlab.core.scenes.render.mesh import Colour, Material, Mesh, Texture, merge, paint
from vlmlab.core.scenes.render.primitives import box

CARDBOARD: tuple[tuple[int, int, int], ...] = ((196, 152, 104), (178, 134, 90), (208, 170, 124))
WRAPS: tuple[Colour, ...] = ((0.62, 0.66, 0.7), (0.1, 0.22, 0.42), (0.75, 0.75, 0.72), (0.12, 0.34, 0.2))
CRATES: tuple[Colour, ...] = ((0.03, 0.12, 0.5), (0.55, 0.05, 0.04), (0.6, 0.42, 0.24))
PALLET: tuple[float, float, float] = (1.2, 1.0, 0.14)
LAYER = 0.62
WOOD: Colour = (0.5, 0.36, 0.2)


@lru_cache(maxsize=len(CARDBOARD))
def _cardboard(number: int) -> Texture:
    """Return a face of a carton: a strip of tape, a label, darker edges."""
    red, green, blue = CARDBOARD[number]

    def draw_face(draw: ImageDraw.ImageDraw, width: int, height: int) -> None:
        edge = (red - 45, green - 40, blue - 32, 255)
        draw.rectangle([0, 0, width - 1, height - 1], outline=edge, width=2)
        tape = (red + 28, green + 30, blue + 30, 255)
        draw.rectangle([0, height * 0.44, width, height * 0.56], fill=tape)
        draw.rectangle([width * 0.62, height * 0.66, width * 0.88, height * 0.86], fill=(236, 234, 228, 255))
        for row in (0.70, 0.75, 0.80):
            draw.line([width * 0.65, height * row, width * 0.84, height * row], fill=(60, 60, 60, 255))

    return textures.painted(draw_face, width=64, height=64, ground=(red, green, blue, 255))


def carton(size: tuple[float, float, float], rng: np.random.Generator) -> Mesh:
    """Return a closed carton that stands on z = 0."""
    face = Material((1, 1, 1), _cardboard(int(rng.integers(len(CARDBOARD)))), roughness=0.9)
    return box(size, face, centre=(0, 0, size[2] / 2))


@lru_cache(maxsize=1)
def pallet() -> Mesh:
    """Return an empty pallet on z = 0, its long side along X."""
    wood = Material((1, 1, 1), textures.wood(WOOD, planks=2, seed=4), roughness=0.9)
    wide, deep, high = PALLET
    parts = [box((0.1, deep, 0.1), wood, centre=(x, 0, 0.05)) for x in (-wide / 2 + 0.05, 0, wide / 2 - 0.05)]
    for number in range(5):
        y = -deep / 2 + 0.08 + number * (deep - 0.16) / 4
        parts.append(box((wide, 0.14, 0.03), wood, centre=(0, y, high - 0.015)))
    return merge(parts)


def loaded_pallet(rng: np.random.Generator, *, height: float = LAYER, wrapped: bool = False) -> Mesh:
    """Return a pallet with cartons on it, or one block in coloured film."""
    wide, deep, base = PALLET
    if wrapped:
        colour = WRAPS[int(rng.integers(len(WRAPS)))]
        film = paint(*colour, reflectance=0.1, roughness=0.25)
        load = [box((wide - 0.06, deep - 0.06, height), film, centre=(0, 0, base + height / 2))]
        dark = paint(*(0.72 * one for one in colour), roughness=0.4)
        for share in (0.3, 0.65):
            band = (wide - 0.05, deep - 0.05, 0.03)
            load.append(box(band, dark, centre=(0, 0, base + height * share)))
        return merge([pallet(), *load])
    columns = int(rng.integers(2, 4))
    step = (wide - 0.04) / columns
    parts = [pallet()]
    for column in range(columns):
        for row in (-1, 1):
            size = (step - 0.02, deep / 2 - 0.04, height * float(rng.uniform(0.86, 1.0)))
            at = -wide / 2 + 0.02 + (column + 0.5) * step
            parts.append(carton(size, rng).moved(at, row * deep / 4, base))
    return merge(parts)


def straight_stack(rng: np.random.Generator) -> Mesh:
    """Return three wrapped pallets, one exactly on the other."""
    parts = []
    for number in range(3):
        part = loaded_pallet(rng, wrapped=True)
        parts.append(part.moved(z=number * (LAYER + PALLET[2])))
    return merge(parts)


def leaning_stack(rng: np.random.Generator) -> Mesh:
    """Return four loaded pallets that lean more the higher they are, the topmost about to slide."""
    side = 1.0 if rng.random() < 0.5 else -1.0
    parts, x, z, tilt = [], 0.0, 0.0, 0.0
    for number in range(4):
        part = loaded_pallet(rng, wrapped=number % 2 == 0)
        parts.append(part.moved(x, 0, z, tilt=side * tilt, yaw=side * 0.05 * number))
        rise = LAYER + PALLET[2]
        x += side * (0.13 + rise * float(np.sin(tilt)))
        z += rise * float(np.cos(tilt)) + 0.02
        tilt += float(rng.uniform(0.06, 0.08))
    return merge(parts)


def crate(rng: np.random.Generator) -> Mesh:
    """Return a ribbed crate of bright plastic or wood, 0.6 m wide."""
    colour = CRATES[int(rng.integers(len(CRATES)))]
    body, rib = paint(*colour, roughness=0.4), paint(*(0.55 * one for one in colour), roughness=0.5)
    parts = [box((0.58, 0.44, 0.42), body, centre=(0, 0, 0.21))]
    parts += [box((0.62, 0.48, 0.05), rib, centre=(0, 0, z)) for z in (0.03, 0.21, 0.4)]
    return merge(parts)


def pile_of_crates(rng: np.random.Generator, *, width: float) -> Mesh:
    """Return crates side by side, some of them two or three high."""
    columns = max(2, round(width / 0.66))
    parts = []
    for column in range(columns):
        x = (column - (columns - 1) / 2) * 0.66
        for level in range(int(rng.integers(2, 4)) if column % 2 == 0 else int(rng.integers(1, 3))):
            turn = float(rng.uniform(-0.12, 0.12))
            parts.append(crate(rng).moved(x, float(rng.uniform(-0.05, 0.05)), level * 0.43, yaw=turn))
    return merge(parts)


def wall_of_cartons(rng: np.random.Generator, *, half_width: float) -> Mesh:
    """Return cartons across an aisle, from rack to rack, with no gap to walk through."""
    parts, x = [], -half_width
    while x < half_width - 0.15:
        wide = min(float(rng.uniform(0.5, 0.85)), half_width - x)
        high = float(rng.uniform(0.55, 0.75))
        at = x + wide / 2
        parts.append(carton((wide - 0.02, 0.6, high), rng).moved(at, yaw=float(rng.uniform(-0.06, 0.06))))
        if rng.random() < 0.55:
            small = (wide * 0.75, 0.45, float(rng.uniform(0.3, 0.42)))
            parts.append(carton(small, rng).moved(at, 0, high, yaw=float(rng.uniform(-0.3, 0.3))))
        x += wide
    return merge(parts)
