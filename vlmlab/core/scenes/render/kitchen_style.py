"""What one kitchen is made of: colours and materials drawn from its seed."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from vlmlab.core.scenes.render import kitchen_textures, textures
from vlmlab.core.scenes.render.mesh import Colour, Material, paint
from vlmlab.core.seeding import pick, rng_for

WALLS: tuple[Colour, ...] = (
    (0.70, 0.68, 0.62),
    (0.55, 0.62, 0.64),
    (0.68, 0.62, 0.48),
    (0.58, 0.64, 0.55),
    (0.66, 0.60, 0.60),
)
TILES: tuple[Colour, ...] = (
    (0.74, 0.75, 0.73),
    (0.42, 0.58, 0.58),
    (0.68, 0.60, 0.48),
    (0.36, 0.46, 0.58),
    (0.55, 0.62, 0.50),
)
FRONTS: tuple[Colour, ...] = (
    (0.66, 0.64, 0.59),
    (0.10, 0.17, 0.25),
    (0.40, 0.24, 0.12),
    (0.42, 0.50, 0.42),
    (0.55, 0.42, 0.26),
    (0.30, 0.32, 0.34),
)
COUNTERS: tuple[Colour, ...] = (
    (0.24, 0.22, 0.21),
    (0.60, 0.58, 0.55),
    (0.09, 0.09, 0.10),
    (0.45, 0.40, 0.33),
)
PLANKS: tuple[Colour, ...] = ((0.40, 0.26, 0.14), (0.50, 0.38, 0.25), (0.27, 0.16, 0.09), (0.46, 0.42, 0.37))
STEEL = Material((0.5, 0.5, 0.5), reflectance=0.5, roughness=0.28, name="steel")
BRUSHED = Material((0.42, 0.42, 0.43), reflectance=0.3, roughness=0.4, name="brushed steel")
WOODEN = (2, 4)
VARIANTS = 24  # few enough that a process keeps all of them


@dataclass(frozen=True, eq=False)
class KitchenStyle:
    """Materials of one kitchen.

    Attributes:
        wall, splash, floor, counter, front, panel: materials of the surfaces.
        floor_metres: length of one repeat of the floor's texture.
        handle: of doors and drawers.
        is_framed: doors have a frame around a sunken panel.
        has_bars: handles are bars; knobs otherwise.
        has_fridge: a tall refrigerator stands at the right end.
    """

    wall: Material
    splash: Material
    floor: Material
    counter: Material
    front: Material
    panel: Material
    floor_metres: float
    handle: Material
    is_framed: bool
    has_bars: bool
    has_fridge: bool


def _darker(colour: Colour, by: float) -> Colour:
    return (colour[0] * by, colour[1] * by, colour[2] * by)


def _floor(rng: np.random.Generator) -> tuple[Material, float]:
    if rng.random() < 0.65:
        texture, metres = textures.wood(pick(rng, PLANKS), planks=6, seed=int(rng.integers(4))), 1.5
    else:
        light, dark = ((0.58, 0.56, 0.51), (0.34, 0.36, 0.37)) if rng.random() < 0.5 else (
            (0.56, 0.47, 0.37), (0.47, 0.38, 0.28),
        )  # fmt: skip
        texture, metres = kitchen_textures.checked_floor(light, dark), 0.8
    return Material((1, 1, 1), texture, reflectance=0.04, roughness=0.35, name="floor"), metres


def kitchen_style(seed: int) -> KitchenStyle:
    """Return the materials of one of ``VARIANTS`` kitchens; the same seed gives the same one."""
    return _style(seed % VARIANTS)


@lru_cache(maxsize=VARIANTS)
def _style(variant: int) -> KitchenStyle:
    rng = rng_for(variant, "world", "kitchen")
    wall = Material((1, 1, 1), textures.noise(pick(rng, WALLS), 0.05, seed=1), roughness=0.8)
    across, rows = pick(rng, ((4, 8), (4, 4), (6, 6)))
    tiles = kitchen_textures.wall_tiles(pick(rng, TILES), across=across, rows=rows, staggered=rows == 8)
    splash = Material((1, 1, 1), tiles, reflectance=0.05, roughness=0.2)
    floor, metres = _floor(rng)
    number = int(rng.integers(len(FRONTS)))
    colour = FRONTS[number]
    front, panel = paint(*colour), paint(*_darker(colour, 0.88))
    if number in WOODEN:
        grain = textures.wood(colour, planks=1, seed=7)
        front = Material((1, 1, 1), grain, roughness=0.5)
        panel = Material((0.88, 0.88, 0.88), grain, roughness=0.5)
    counter = Material(
        (1, 1, 1), kitchen_textures.stone(pick(rng, COUNTERS)), reflectance=0.05, roughness=0.16
    )
    handle = STEEL if rng.random() < 0.7 else paint(0.03, roughness=0.4)
    return KitchenStyle(
        wall=wall, splash=splash, floor=floor, counter=counter, front=front, panel=panel,
        floor_metres=metres, handle=handle, is_framed=bool(rng.random() < 0.65),
        has_bars=bool(rng.random() < 0.65), has_fridge=bool(rng.random() < 0.6),
    )  # fmt: skip
