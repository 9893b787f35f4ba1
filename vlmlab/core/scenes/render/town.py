"""The static world of the driving domain: road, sidewalks, junction, houses."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from PIL import ImageDraw, ImageFont

from vlmlab.core.scenes.render import textures
from vlmlab.core.scenes.render.mesh import Colour, Material, Mesh, Texture, merge, paint
from vlmlab.core.scenes.render.primitives import box, quad, triangles
from vlmlab.core.seeding import rng_for

BUMPER_Y = 1.7
ROAD_LEFT, ROAD_RIGHT = -5.25, 1.75
CENTRE_LINE_X = -1.75
SIDEWALK_WIDTH = 3.6
ROAD_START, ROAD_END = -10.0, 160.0
HOUSES_END = 110.0
JUNCTION_DEPTH = 8.0
HOUSE_DEPTH = 9.0
SIDE_KERB_X, SIDE_KERB_LENGTH = 31.75, 56.5  # from the edge of the road to where the ground ends
FACADES = 12
CITY_ROADS, SUBURB_ROADS = (0.10, 0.112, 0.125), (0.148, 0.16, 0.172)
CITY_ROAD_TINT, SUBURB_ROAD_TINT = (0.96, 0.98, 1.06), (1.07, 1.0, 0.9)
CITY_WALLS: tuple[Colour, ...] = (
    (0.42, 0.2, 0.15),
    (0.35, 0.38, 0.42),
    (0.30, 0.16, 0.11),
    (0.5, 0.42, 0.33),
    (0.42, 0.42, 0.43),
)
SUBURB_WALLS: tuple[Colour, ...] = (
    (0.75, 0.72, 0.66),
    (0.72, 0.62, 0.42),
    (0.55, 0.64, 0.70),
    (0.70, 0.52, 0.42),
    (0.58, 0.66, 0.55),
)
SHOPS: tuple[tuple[str, textures.Pixel], ...] = (
    ("BAKERY", (150, 60, 30)),
    ("BOOKS", (30, 70, 60)),
    ("CAFE", (110, 25, 40)),
    ("SHOES", (35, 45, 110)),
    ("FLOWERS", (70, 40, 100)),
)
SHOP_WIDTH, SHOP_HEIGHT = 5.0, 3.1
HEDGE_HEIGHT, HEDGE_DEPTH = 0.95, 0.7
WorldValue = float | int | str | bool | None | tuple[float, ...]


@dataclass(frozen=True)
class Street:
    """What a world's parameters say: town, wetness in [0, 1], near edge of the junction in metres along Y."""

    is_city: bool
    wetness: float
    junction_y: float | None
    seed: int

    @staticmethod
    def of(world: Mapping[str, WorldValue]) -> "Street":
        """Read the world of a scene description."""
        distance = world.get("junction_distance")
        seed = world.get("appearance_seed", 0)
        wetness = world.get("wetness", 0.0)
        return Street(
            is_city=str(world.get("town", "")).endswith("02"),
            wetness=float(wetness) if isinstance(wetness, int | float) else 0.0,
            junction_y=BUMPER_Y + float(distance) if isinstance(distance, int | float) else None,
            seed=int(seed) if isinstance(seed, int | float) else 0,
        )


def build_town(world: Mapping[str, WorldValue]) -> Mesh:
    """Return road, markings, sidewalks and houses of one street as a single mesh."""
    street = Street.of(world)
    return merge([*_ground(street), *_markings(street), *_houses(street)])


def _stretches(street: Street) -> list[tuple[float, float]]:
    """Return where the sidewalk runs, from Y to Y."""
    if street.junction_y is None:
        return [(ROAD_START, ROAD_END)]
    return [(ROAD_START, street.junction_y), (street.junction_y + JUNCTION_DEPTH, ROAD_END)]


def _ground(street: Street) -> list[Mesh]:
    rng = rng_for(street.seed, "world", "ground")
    wet = street.wetness
    brightness = CITY_ROADS if street.is_city else SUBURB_ROADS
    road_texture = textures.asphalt(int(rng.integers(3)), brightness=brightness[int(rng.integers(3))])
    dark = 1.0 - 0.45 * wet
    red, green, blue = CITY_ROAD_TINT if street.is_city else SUBURB_ROAD_TINT
    road = Material(
        (dark * red, dark * green, dark * blue),
        road_texture,
        reflectance=0.02 + 0.08 * wet,
        roughness=0.8 - 0.7 * wet,
        name="road",
    )
    damp = 1.0 - 0.3 * wet
    slab_colours = (
        ((0.40, 0.25, 0.19), (0.17, 0.12, 0.10))
        if street.is_city
        else ((0.42, 0.41, 0.39), (0.22, 0.21, 0.2))
    )
    slabs = textures.slabs(*slab_colours, across=10 if street.is_city else 3)
    paving = Material((damp, damp, damp), slabs, reflectance=0.02 + 0.04 * wet, roughness=0.8 - 0.55 * wet)
    verge = Material((1, 1, 1), textures.noise((0.10, 0.19, 0.05), 1.0, seed=3), roughness=0.9)
    if street.is_city:
        verge = paving
    middle, half = (ROAD_LEFT + ROAD_RIGHT) / 2, (ROAD_RIGHT - ROAD_LEFT) / 2
    length = ROAD_END - ROAD_START
    centre = (middle, (ROAD_START + ROAD_END) / 2, 0)
    parts = [quad(centre, (half, 0, 0), (0, length / 2, 0), road, repeat_u=2, repeat_v=length / 4)]
    for start, end in _stretches(street):
        y, run = (start + end) / 2, end - start
        for x in (ROAD_RIGHT + SIDEWALK_WIDTH / 2, ROAD_LEFT - SIDEWALK_WIDTH / 2):
            parts.append(box((SIDEWALK_WIDTH, run, 0.15), paving, centre=(x, y, 0.075), texture_metres=3.0))
        for x in (ROAD_RIGHT + 0.06, ROAD_LEFT - 0.06):
            parts.append(box((0.16, run, 0.17), paint(0.45), centre=(x, y, 0.08)))
        for low, high in ((ROAD_RIGHT + SIDEWALK_WIDTH, 60.0), (-60.0, ROAD_LEFT - SIDEWALK_WIDTH)):
            at, half_u = ((low + high) / 2, y, 0.1), ((high - low) / 2, 0, 0)
            parts.append(quad(at, half_u, (0, run / 2, 0), verge, repeat_u=12, repeat_v=run / 4))
    if street.junction_y is not None:
        y = street.junction_y + JUNCTION_DEPTH / 2
        for side in (-1, 1):
            at = (side * 34 + middle, y, -0.002)
            parts.append(quad(at, (32, 0, 0), (0, JUNCTION_DEPTH / 2, 0), road, repeat_u=16, repeat_v=2))
            kerb = (side * SIDE_KERB_X + middle, street.junction_y + JUNCTION_DEPTH + 0.08, 0.08)
            parts.append(box((SIDE_KERB_LENGTH, 0.16, 0.17), paint(0.45), centre=kerb))
    return parts


def _stripe(x: float, y: float, half_x: float, half_y: float, material: Material) -> Mesh:
    return quad((x, y, 0.007), (half_x, 0, 0), (0, half_y, 0), material)


def _markings(street: Street) -> list[Mesh]:
    wet = street.wetness
    reflectance, roughness = 0.02 + 0.06 * wet, 0.8 - 0.65 * wet
    white = paint(0.72 - 0.22 * wet, reflectance=reflectance, roughness=roughness)
    yellow = paint(0.62 - 0.15 * wet, 0.45 - 0.1 * wet, 0.05, reflectance=reflectance, roughness=roughness)
    parts = []
    for start, end in _stretches(street):
        y, half = (start + end) / 2, (end - start) / 2
        if street.is_city:
            for begin in np.arange(start + 1.0, end - 2.0, 6.0):
                parts.append(_stripe(CENTRE_LINE_X, float(begin) + 1.5, 0.06, 1.5, white))
        else:
            parts += [_stripe(CENTRE_LINE_X + offset, y, 0.05, half, yellow) for offset in (-0.09, 0.09)]
        parts += [_stripe(x, y, 0.06, half, white) for x in (ROAD_RIGHT - 0.25, ROAD_LEFT + 0.25)]
    if street.junction_y is not None:
        middle = street.junction_y + JUNCTION_DEPTH / 2
        bright = paint(0.75, reflectance=reflectance, roughness=roughness)
        parts += [_stripe(ROAD_LEFT + 0.6 + n * 0.97, middle - 5.3, 0.25, 1.1, bright) for n in range(7)]
        parts.append(_stripe(0.0, middle - 7, 1.6, 0.2, bright))
    return parts


def _houses(street: Street) -> list[Mesh]:
    """Return the houses of both sides: detached with gables in town 1, a closed row of flats in town 2."""
    parts: list[Mesh] = []
    for side in (-1, 1):
        rng = rng_for(street.seed, "world", "houses", side)
        y = -6.0
        while y < HOUSES_END:
            length = float(rng.uniform(8, 14))
            height = float(rng.uniform(8, 15)) if street.is_city else float(rng.uniform(4.5, 6.5))
            setback = float(rng.uniform(0, 0.5)) if street.is_city else float(rng.uniform(3, 7))
            number, is_red = int(rng.integers(2 * FACADES)), bool(rng.random() < 0.6)
            gap = float(rng.uniform(0, 0.3)) if street.is_city else float(rng.uniform(2, 6))
            start = street.junction_y
            if start is not None and not (y + length < start - 1 or y > start + JUNCTION_DEPTH + 1):
                y += 1.0
                continue
            edge = ROAD_RIGHT + SIDEWALK_WIDTH + 0.2 if side > 0 else ROAD_LEFT - SIDEWALK_WIDTH - 0.2
            x = edge + side * (setback + HOUSE_DEPTH / 2)
            parts += _house(x, y, length, height, facade=number, is_city=street.is_city, is_red=is_red)
            front = (x - side * (HOUSE_DEPTH / 2 + 0.03), y + length / 2)
            if street.is_city:
                parts += _shop(front, length, side=side, number=number)
            else:
                parts += _front_garden(edge, front, length, side=side)
            y += length + gap
    return parts


def _house(
    x: float, y: float, length: float, height: float, *, facade: int, is_city: bool, is_red: bool
) -> list[Mesh]:
    picture = textures.facade(
        facade % FACADES, floors=2, columns=3, walls=CITY_WALLS if is_city else SUBURB_WALLS
    )
    wall = Material((1, 1, 1), picture, reflectance=0.03, roughness=0.4)
    body = box(
        (HOUSE_DEPTH, length, height), wall, centre=(x, y + length / 2, height / 2), texture_metres=6.0
    )
    if is_city:
        cornice = box(
            (HOUSE_DEPTH + 0.5, length + 0.1, 0.35), paint(0.4), centre=(x, y + length / 2, height + 0.1)
        )
        return [body, cornice]
    roof = paint(0.25, 0.1, 0.07) if is_red else paint(0.14, 0.14, 0.15)
    eave, ridge = HOUSE_DEPTH / 2 + 0.4, height + 2.4
    profile = ((x - eave, height), (x, ridge), (x + eave, height))
    ends = [[px, end, pz] for end in (y - 0.3, y + length + 0.3) for px, pz in profile]
    faces = [[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4], [0, 2, 1], [3, 4, 5]]
    return [body, triangles(ends, faces, roof)]


def _facing_street(
    at: tuple[float, float, float],
    half_width: float,
    half_height: float,
    material: Material,
    *,
    side: int,
    repeats: float = 1.0,
) -> Mesh:
    """Return an upright panel that looks at the road."""
    return quad(at, (0, -side * half_width, 0), (0, 0, half_height), material, repeat_u=repeats)


def _shop(front: tuple[float, float], length: float, *, side: int, number: int) -> list[Mesh]:
    """Return the shops on the ground floor of a house in the city, with an awning."""
    x, y = front
    glass = Material((1, 1, 1), _shop_front(number % len(SHOPS)), reflectance=0.04, roughness=0.3)
    repeats = max(1, round(length / SHOP_WIDTH))
    panel = _facing_street(
        (x, y, SHOP_HEIGHT / 2), length / 2, SHOP_HEIGHT / 2, glass, side=side, repeats=repeats
    )
    red, green, blue = SHOPS[number % len(SHOPS)][1]
    cloth = paint(*(float((one / 255) ** 2.2 + 0.03) for one in (red, green, blue)), roughness=0.9)
    awning = quad((x - side * 0.2, y, 2.4), (0, -side * length * 0.42, 0), (side * 0.2, 0, 0.14), cloth)
    return [panel, awning]


@lru_cache(maxsize=len(SHOPS))
def _shop_front(number: int) -> Texture:
    """Return one shop window with a sign board over it."""
    word, board = SHOPS[number]

    def draw_shop(draw: ImageDraw.ImageDraw, width: int, height: int) -> None:
        board_height = height * 0.2
        draw.rectangle([0, 0, width, board_height], fill=(*board, 255))
        font = ImageFont.load_default(int(board_height * 0.8))
        draw.text((width / 2, board_height / 2), word, font=font, fill=(245, 240, 225, 255), anchor="mm")
        for left, right in ((0.04, 0.36), (0.40, 0.60), (0.64, 0.96)):
            top = board_height * (1.5 if right - left > 0.3 else 1.25)
            draw.rectangle([left * width, top, right * width, height * 0.9], fill=(70, 86, 98, 255))
            draw.rectangle([left * width, top, right * width, top + height * 0.14], fill=(150, 165, 172, 255))

    return textures.painted(draw_shop, width=192, height=120, ground=(176, 168, 152, 255))


def _front_garden(edge: float, front: tuple[float, float], length: float, *, side: int) -> list[Mesh]:
    """Return a hedge along the sidewalk with a gap, a path and a front door of a detached house."""
    x, y = front
    leaves = Material((1, 1, 1), textures.noise((0.045, 0.105, 0.03), 1.6, seed=7), roughness=0.95)
    door_y, gap = y - length * 0.2, 1.5
    parts = []
    for low, high in ((y - length / 2, door_y - gap / 2), (door_y + gap / 2, y + length / 2 + 1.0)):
        at = (edge + side * (0.75 + HEDGE_DEPTH / 2), (low + high) / 2, HEDGE_HEIGHT / 2)
        parts.append(box((HEDGE_DEPTH, high - low, HEDGE_HEIGHT), leaves, centre=at, texture_metres=1.5))
    path = paint(0.45, 0.42, 0.38, roughness=0.9)
    parts.append(quad(((edge + x) / 2, door_y, 0.11), (abs(x - edge) / 2, 0, 0), (0, 0.6, 0), path))
    parts.append(_facing_street((x, door_y, 1.15), 0.5, 1.05, paint(0.25, 0.05, 0.04), side=side))
    return parts
