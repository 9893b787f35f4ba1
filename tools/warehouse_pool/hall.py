"""The storage hall: floor, racks with goods on both sides of an aisle, and the end wall with its doors."""

from dataclasses import dataclass

import numpy as np
from PIL import ImageDraw

from tools.warehouse_pool.loads import loaded_pallet, pile_of_crates
from vlmlab.core.scenes.render import textures
from vlmlab.core.scenes.render.mesh import Colour, Material, Mesh, Texture, merge, paint
from vlmlab.core.scenes.render.primitives import box, quad

AISLE = 2.4
"""Half of the width of the aisle; the racks begin there."""

WALL_Y, HALF_WIDTH, HEIGHT, START_Y = 9.0, 7.0, 6.5, -5.0
RACK_DEPTH, BAY, FIRST_BAY, BAYS = 1.1, 2.6, -3.4, 4
LEVELS = (0.0, 1.55, 3.1, 4.65)
DOCK_HALF, DOCK_HEIGHT, DROP = 1.15, 2.7, 1.3
EXIT_HALF, EXIT_HEIGHT = 0.52, 2.15
UPRIGHTS: tuple[Colour, ...] = ((0.02, 0.09, 0.35), (0.03, 0.22, 0.12), (0.3, 0.31, 0.33))
BEAMS: tuple[Colour, ...] = ((0.75, 0.2, 0.02), (0.72, 0.5, 0.03))
WALLS: tuple[Colour, ...] = ((0.5, 0.52, 0.54), (0.56, 0.53, 0.46), (0.36, 0.43, 0.5), (0.6, 0.6, 0.58))
YELLOW: Colour = (0.78, 0.55, 0.03)
SIGN_GREEN = (0, 128, 72)


@dataclass(frozen=True)
class HallPlan:
    """What the hall is like.

    Attributes:
        exit_x: middle of the fire exit; None without one.
        dock_x: middle of the dock door; None without one.
        is_dock_open: whether the yard can be seen through it.
    """

    exit_x: float | None
    dock_x: float | None
    is_dock_open: bool


def build_hall(plan: HallPlan, rng: np.random.Generator) -> Mesh:
    """Return the hall without the things that concepts stand for."""
    parts = [*_floor(rng), *_end_wall(plan, rng), *_shell(rng)]
    upright, beam = UPRIGHTS[int(rng.integers(len(UPRIGHTS)))], BEAMS[int(rng.integers(len(BEAMS)))]
    for side in (-1, 1):
        parts += _racks(side, paint(*upright, roughness=0.4), paint(*beam, roughness=0.4), rng)
    if plan.dock_x is not None and not plan.is_dock_open:
        parts.append(_closed_dock().moved(plan.dock_x, WALL_Y))
    return merge(parts)


def _floor(rng: np.random.Generator) -> list[Mesh]:
    bright = float(rng.uniform(0.26, 0.4))
    concrete = textures.asphalt(int(rng.integers(3)), brightness=round(bright, 2))
    material = Material((1.0, 1.0, 0.98), concrete, reflectance=0.03, roughness=0.45)
    long = (WALL_Y - START_Y) / 2
    parts = [
        quad((0, (WALL_Y + START_Y) / 2, 0), (HALF_WIDTH, 0, 0), (0, long, 0), material,
             repeat_u=3, repeat_v=3)
    ]  # fmt: skip
    line = paint(*YELLOW, roughness=0.6)
    for x in (-AISLE + 0.25, AISLE - 0.25):
        parts.append(quad((x, 2.0, 0.004), (0.05, 0, 0), (0, 6.0, 0), line))
    if rng.random() < 0.5:
        parts.append(quad((0, 7.6, 0.004), (AISLE - 0.2, 0, 0), (0, 0.05, 0), line))
    return parts


def _shell(rng: np.random.Generator) -> list[Mesh]:
    middle, long = (WALL_Y + START_Y) / 2, (WALL_Y - START_Y) / 2
    side_wall, roof = paint(0.42, roughness=0.9), paint(0.3, 0.31, 0.33, roughness=0.9)
    parts = [
        quad((-HALF_WIDTH, middle, HEIGHT / 2), (0, long, 0), (0, 0, HEIGHT / 2), side_wall),
        quad((HALF_WIDTH, middle, HEIGHT / 2), (0, -long, 0), (0, 0, HEIGHT / 2), side_wall),
        quad((0, START_Y, HEIGHT / 2), (-HALF_WIDTH, 0, 0), (0, 0, HEIGHT / 2), side_wall),
        quad((0, middle, HEIGHT), (HALF_WIDTH, 0, 0), (0, -long, 0), roof),
    ]
    glow = paint(0.8, emission=(2.4, 2.4, 2.3))
    steel = paint(0.22, 0.23, 0.25)
    for y in (-1.0, 2.5, 6.0):
        parts.append(box((2 * HALF_WIDTH, 0.14, 0.3), steel, centre=(0, y + 1.2, HEIGHT - 0.2)))
        for x in (-0.9, 0.9) if rng.random() < 0.5 else (0.0,):
            parts.append(quad((x, y, HEIGHT - 0.5), (0.12, 0, 0), (0, -0.8, 0), glow))
    return parts


def _end_wall(plan: HallPlan, rng: np.random.Generator) -> list[Mesh]:
    """Return the wall at the end of the aisle, with a hole where the dock stands open."""
    colour = WALLS[int(rng.integers(len(WALLS)))]
    panel = Material((1, 1, 1), _panels(colour), roughness=0.7)

    def piece(left: float, right: float, low: float, high: float) -> Mesh:
        centre = ((left + right) / 2, WALL_Y, (low + high) / 2)
        half_u, half_v = ((right - left) / 2, 0, 0), (0, 0, (high - low) / 2)
        return quad(centre, half_u, half_v, panel, repeat_u=(right - left) / 2, repeat_v=1)

    if plan.dock_x is None or not plan.is_dock_open:
        return [piece(-HALF_WIDTH, HALF_WIDTH, 0, HEIGHT)]
    left, right = plan.dock_x - DOCK_HALF, plan.dock_x + DOCK_HALF
    return [
        piece(-HALF_WIDTH, left, 0, HEIGHT),
        piece(right, HALF_WIDTH, 0, HEIGHT),
        piece(left, right, DOCK_HEIGHT, HEIGHT),
    ]


def _panels(colour: Colour) -> Texture:
    """Return sheet metal with upright ribs; the picture covers two metres."""
    image = np.empty((32, 64, 3), np.float32)
    image[:] = colour
    image[:, ::8] *= np.float32(0.72)
    image[:, 1::8] *= np.float32(1.12)
    return Texture.from_linear(image)


def _racks(side: int, upright: Material, beam: Material, rng: np.random.Generator) -> list[Mesh]:
    """Return the rack of one side, filled with pallets; a few places are empty."""
    parts = []
    front, back = side * AISLE, side * (AISLE + RACK_DEPTH)
    top = LEVELS[-1] + 1.2
    for number in range(BAYS + 1):
        y = FIRST_BAY + number * BAY
        for x in (front, back):
            parts.append(box((0.1, 0.1, top), upright, centre=(x, y, top / 2)))
        parts.append(box((RACK_DEPTH, 0.05, 0.05), upright, centre=((front + back) / 2, y, 1.0)))
    for bay in range(BAYS):
        y = FIRST_BAY + (bay + 0.5) * BAY
        for level in LEVELS:
            if level:
                for x in (front, back):
                    parts.append(box((0.06, BAY - 0.1, 0.12), beam, centre=(x, y, level - 0.06)))
            for place in (-0.62, 0.62):
                if rng.random() < 0.12:
                    continue
                height, is_wrapped = float(rng.uniform(0.6, 1.1)), bool(rng.random() < 0.35)
                load = loaded_pallet(rng, height=height, wrapped=is_wrapped)
                at = (side * (AISLE + RACK_DEPTH / 2 + 0.03), y + place, level)
                parts.append(load.moved(*at, yaw=np.pi / 2))
    return parts


def _hazard_stripes() -> Material:
    def draw_stripes(draw: ImageDraw.ImageDraw, width: int, height: int) -> None:
        for x in range(-height, width, 32):
            draw.polygon([(x, height), (x + 16, height), (x + 16 + height, 0), (x + height, 0)], fill="black")

    picture = textures.painted(draw_stripes, width=256, height=16, ground=(240, 200, 20, 255))
    return Material((1, 1, 1), picture, roughness=0.6)


def _door_frame(half: float, height: float, material: Material) -> list[Mesh]:
    parts = [box((0.1, 0.12, height), material, centre=(x, -0.05, height / 2)) for x in (-half, half)]
    return [*parts, box((2 * half + 0.1, 0.12, 0.1), material, centre=(0, -0.05, height))]


def _closed_dock() -> Mesh:
    """Return a closed roller door about x = 0, its wall at y = 0."""
    slats = np.full((64, 8, 3), 0.52, np.float32)
    slats[::8] = 0.24
    door = Material((1, 1, 1.03), Texture.from_linear(slats), roughness=0.5)
    panel = quad((0, -0.03, DOCK_HEIGHT / 2), (DOCK_HALF, 0, 0), (0, 0, DOCK_HEIGHT / 2), door)
    return merge([panel, *_door_frame(DOCK_HALF, DOCK_HEIGHT, paint(0.1, 0.12, 0.15))])


def open_dock() -> Mesh:
    """Return an open dock about x = 0, its wall at y = 0: rolled-up door, striped edge, yard far below."""
    yard = paint(0.3, 0.3, 0.3, emission=(0.2, 0.2, 0.21), roughness=0.9)
    pale = paint(0.6, emission=(0.75, 0.75, 0.75))
    sky = Material((0, 0, 0), None, emission=(0.5, 0.72, 1.05))
    hedge = paint(0.05, 0.12, 0.04, emission=(0.03, 0.06, 0.025))
    far = 14.0
    parts = [
        quad((0, far / 2, -DROP), (7, 0, 0), (0, far / 2, 0), yard),
        quad((0, far, 3.0), (12, 0, 0), (0, 0, 4.5), sky),
        quad((0, far - 0.1, -DROP + 0.8), (12, 0, 0), (0, 0, 0.8), hedge),
        quad((0, 0.02, -DROP / 2), (DOCK_HALF, 0, 0), (0, 0, DROP / 2), paint(0.2)),
    ]
    parts += [quad((x, far / 2, -DROP + 0.01), (0.08, 0, 0), (0, far / 2 - 1, 0), pale) for x in (-2.2, 2.2)]
    parts.append(quad((0, -0.12, 0.006), (DOCK_HALF, 0, 0), (0, 0.14, 0), _hazard_stripes(), repeat_u=1.5))
    roll = paint(0.45, 0.46, 0.48, roughness=0.5)
    parts.append(box((2 * DOCK_HALF, 0.3, 0.34), roll, centre=(0, -0.16, DOCK_HEIGHT + 0.1)))
    return merge([*parts, *_door_frame(DOCK_HALF, DOCK_HEIGHT, paint(*YELLOW, roughness=0.5))])


def fire_exit() -> Mesh:
    """Return a fire exit about x = 0, its wall at y = 0: door with a push bar, green sign over it."""
    door, frame = paint(0.72, 0.74, 0.72, roughness=0.5), paint(0.03, 0.3, 0.14, roughness=0.5)
    half_height = EXIT_HEIGHT / 2
    parts = [quad((0, -0.03, half_height), (EXIT_HALF, 0, 0), (0, 0, half_height), door)]
    parts += _door_frame(EXIT_HALF, EXIT_HEIGHT, frame)
    parts.append(box((0.8, 0.08, 0.07), paint(0.6, 0.04, 0.03), centre=(0, -0.08, 1.05)))
    word = textures.lettering("EXIT", width=128, height=64, ink=(255, 255, 255), ground=SIGN_GREEN)
    sign = Material((1, 1, 1), word, emission=(0.75, 0.75, 0.75), roughness=0.8)
    parts.append(quad((0, -0.09, EXIT_HEIGHT + 0.36), (0.52, 0, 0), (0, 0, 0.26), sign))
    return merge(parts)


def exit_lines() -> Mesh:
    """Return the yellow field on the floor that is kept free before a fire exit, about x = 0."""
    line = paint(*YELLOW, roughness=0.6)
    parts = [quad((x, -0.75, 0.005), (0.04, 0, 0), (0, 0.75, 0), line) for x in (-0.75, 0.75)]
    parts.append(quad((0, -1.5, 0.005), (0.79, 0, 0), (0, 0.04, 0), line))
    return merge(parts)


def blocked_fire_exit(rng: np.random.Generator) -> Mesh:
    """Return a fire exit with crates piled up right before the door."""
    return merge([fire_exit(), pile_of_crates(rng, width=1.7).moved(0, -0.55)])
