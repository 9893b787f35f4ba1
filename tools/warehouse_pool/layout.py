"""Where everything stands in one picture: a pure function of the concepts and a random generator."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from tools.warehouse_pool.floor import cone, loose_cable, spill
from tools.warehouse_pool.forklift import build_forklift
from tools.warehouse_pool.hall import (
    AISLE,
    WALL_Y,
    HallPlan,
    blocked_fire_exit,
    build_hall,
    exit_lines,
    fire_exit,
    open_dock,
)
from tools.warehouse_pool.loads import leaning_stack, straight_stack, wall_of_cartons
from tools.warehouse_pool.workers import build_driver, build_ladder_worker, build_worker
from vlmlab.core.scenes.concepts import Key
from vlmlab.core.scenes.render.mesh import Mesh, merge
from vlmlab.core.scenes.scene import Camera, Parameter

EXITS = frozenset({"fire_exit_clear", "fire_exit_blocked"})
BLOCKED_Y = 6.3
TRIES = 60
CLOSEST, MOST_STEPS = 3.2, 2.7
LAMPS = ((-1.6, -2.0, 5.6), (1.6, 1.0, 5.6), (-1.2, 3.8, 5.6), (1.2, 6.8, 5.6))
TINTS = ((1.0, 1.0, 0.96), (1.0, 0.93, 0.8), (0.92, 0.98, 1.05))


@dataclass(frozen=True)
class Spot:
    """A place on the floor that is taken: middle and radius in metres."""

    x: float
    y: float
    radius: float


@dataclass(frozen=True)
class Room:
    """Where a thing may stand: half of the width, and from y to y."""

    half_x: float
    near: float
    far: float


@dataclass(frozen=True, eq=False)
class Shown:
    """A concept and the shape that stands for it, in the hall."""

    concept: str
    mesh: Mesh


@dataclass(frozen=True, eq=False)
class Arrangement:
    """One picture before it is drawn."""

    hall: Mesh
    things: tuple[Shown, ...]
    camera: Camera
    environment: dict[str, Parameter | tuple[float, ...]]


Build = Callable[[np.random.Generator], Mesh]

ROOMS: dict[str, Room] = {
    "forklift_parked": Room(1.0, 4.0, 6.2),
    "forklift_moving": Room(0.9, 4.0, 6.2),
    "pallet_stack_straight": Room(1.6, 4.0, 7.0),
    "pallet_stack_leaning": Room(1.5, 4.2, 7.0),
    "worker_vest": Room(1.9, 3.0, 6.4),
    "worker_no_vest": Room(1.9, 3.0, 6.4),
    "spill": Room(1.2, 2.7, 4.8),
    "cone": Room(1.8, 2.8, 5.6),
}
"""The largest come first: they find room while the floor is empty."""

FORKLIFT = (Spot(0.0, 0.6, 0.75), Spot(0.0, -0.4, 0.7), Spot(0.0, -1.55, 0.7))
FOOTPRINTS: dict[str, tuple[Spot, ...]] = {
    "forklift_parked": FORKLIFT,
    "forklift_moving": FORKLIFT,
    "pallet_stack_straight": (Spot(0.0, 0.0, 0.75),),
    "pallet_stack_leaning": (Spot(0.0, 0.0, 0.85),),
    "worker_vest": (Spot(0.0, 0.0, 0.4),),
    "worker_no_vest": (Spot(0.0, 0.0, 0.4),),
    "spill": (Spot(0.0, 0.0, 0.8),),
    "cone": (Spot(0.0, 0.0, 0.3),),
}
"""Circles of floor that a thing covers while it faces -Y."""


def arrange(concepts: Key, rng: np.random.Generator) -> Arrangement | None:
    """Return where everything stands, or None when it does not fit."""
    side = 1.0 if rng.random() < 0.5 else -1.0
    exit_x = side * float(rng.uniform(1.45, 1.75)) if EXITS & set(concepts) else None
    dock_x = -side * float(rng.uniform(0.95, 1.2)) if _has_dock(concepts, rng) else None
    plan = HallPlan(exit_x, dock_x, "dock_door_open" in concepts)
    standing = _standing(concepts, rng)
    if standing is None:
        return None
    things = [*_fixed(concepts, plan, rng), *standing]
    order = {concept: number for number, concept in enumerate(concepts)}
    hall = build_hall(plan, rng)
    if exit_x is not None:
        hall = merge([hall, exit_lines().moved(exit_x, WALL_Y)])
    return Arrangement(
        hall=hall,
        things=tuple(sorted(things, key=lambda one: order[one.concept])),
        camera=_camera(things, rng),
        environment=_light(rng),
    )


def _has_dock(concepts: Key, rng: np.random.Generator) -> bool:
    is_closed_shown = bool(rng.random() < 0.5)
    return is_closed_shown or "dock_door_open" in concepts


def _fixed(concepts: Key, plan: HallPlan, rng: np.random.Generator) -> list[Shown]:
    """Return what belongs to the walls or reaches from rack to rack."""
    found = []
    if plan.exit_x is not None:
        blocked = "fire_exit_blocked" in concepts
        door = blocked_fire_exit(rng) if blocked else fire_exit()
        concept = "fire_exit_blocked" if blocked else "fire_exit_clear"
        found.append(Shown(concept, door.moved(plan.exit_x, WALL_Y)))
    if plan.dock_x is not None and plan.is_dock_open:
        found.append(Shown("dock_door_open", open_dock().moved(plan.dock_x, WALL_Y)))
    if "aisle_blocked" in concepts:
        cartons = wall_of_cartons(rng, half_width=AISLE - 0.1)
        found.append(Shown("aisle_blocked", cartons.moved(0, BLOCKED_Y)))
    if "cable_loose" in concepts:
        y = float(rng.uniform(3.0, 4.2))
        found.append(Shown("cable_loose", loose_cable(rng, half_width=AISLE - 0.1).moved(0, y)))
    return found


def _standing(concepts: Key, rng: np.random.Generator) -> list[Shown] | None:
    """Return what stands on the floor, each on a place of its own; None when there is no room."""
    taken, found = [], []
    if "worker_on_ladder" in concepts:
        side = 1.0 if rng.random() < 0.5 else -1.0
        x, y = side * (AISLE - 0.62), float(rng.uniform(3.8, 5.2))
        taken.append(Spot(x, y, 0.7))
        mesh = build_ladder_worker(rng, has_vest="worker_vest" in concepts)
        found.append(Shown("worker_on_ladder", mesh.moved(x, y, yaw=side * np.pi / 2)))
    limit = BLOCKED_Y - 0.7 if "aisle_blocked" in concepts else WALL_Y
    for concept in ROOMS:
        if concept not in concepts:
            continue
        place = _free_place(concept, taken, limit, rng)
        if place is None:
            return None
        x, y, yaw = place
        taken += _footprint(concept, x, y, yaw)
        found.append(Shown(concept, _builder(concept, concepts)(rng).moved(x, y, yaw=yaw)))
    return found


def _footprint(concept: str, x: float, y: float, yaw: float) -> list[Spot]:
    """Return the circles that a thing covers where it stands."""
    cos, sin = float(np.cos(yaw)), float(np.sin(yaw))
    return [
        Spot(x + one.x * cos - one.y * sin, y + one.x * sin + one.y * cos, one.radius)
        for one in FOOTPRINTS[concept]
    ]


def _free_place(
    concept: str, taken: list[Spot], limit: float, rng: np.random.Generator
) -> tuple[float, float, float] | None:
    """Return x, y and yaw of a free place between the racks and before ``limit``."""
    room = ROOMS[concept]
    for _ in range(TRIES):
        x, y = float(rng.uniform(-room.half_x, room.half_x)), float(rng.uniform(room.near, room.far))
        yaw = _turn(concept, rng)
        spots = _footprint(concept, x, y, yaw)
        inside = all(abs(one.x) + one.radius < AISLE and one.y + one.radius < limit for one in spots)
        if inside and all(_is_apart(one, other) for one in spots for other in taken):
            return x, y, yaw
    return None


def _is_apart(one: Spot, other: Spot) -> bool:
    return bool(np.hypot(one.x - other.x, one.y - other.y) > one.radius + other.radius)


def _builder(concept: str, concepts: Key) -> Build:
    """Return what makes the shape of a concept; a driver is dressed as the worker on the floor is."""
    has_vest = "worker_vest" in concepts

    def forklift_moving(rng: np.random.Generator) -> Mesh:
        return build_forklift(rng, is_moving=True, driver=build_driver(rng, has_vest=has_vest))

    builders: dict[str, Build] = {
        "forklift_parked": partial(build_forklift, is_moving=False, driver=None),
        "forklift_moving": forklift_moving,
        "pallet_stack_straight": straight_stack,
        "pallet_stack_leaning": leaning_stack,
        "worker_vest": partial(build_worker, has_vest=True),
        "worker_no_vest": partial(build_worker, has_vest=False),
        "spill": spill,
        "cone": lambda _rng: cone(),
    }
    return builders[concept]


def _turn(concept: str, rng: np.random.Generator) -> float:
    """Return how a thing is turned: vehicles and people at an angle to the camera, stacks nearly square."""
    side = 1.0 if rng.random() < 0.5 else -1.0
    if concept.startswith("forklift"):
        return side * float(rng.uniform(0.7, 1.2))
    if concept.startswith("worker"):
        return side * float(rng.uniform(0.0, 0.9))
    return side * float(rng.uniform(0.0, 0.15)) if concept.startswith("pallet") else 0.0


def _camera(things: list[Shown], rng: np.random.Generator) -> Camera:
    """Return a camera at the near end of the aisle that looks at what is shown."""
    middles = [np.add(*one.mesh.bounds) / 2 for one in things]
    aim_x = float(np.mean([middle[0] for middle in middles])) if middles else 0.0
    inside = [float(one.mesh.bounds[0][1]) for one in things if one.concept != "dock_door_open"]
    nearest = min(inside, default=WALL_Y)
    step = float(np.clip(nearest - CLOSEST, 0.0, MOST_STEPS))  # nearer where the foreground is empty
    x, z = float(rng.uniform(-0.9, 0.9)), float(rng.uniform(1.7, 2.6))
    y = float(rng.uniform(-1.4, -0.6)) + step
    look = (0.6 * aim_x + 0.1 * x, y + 7.0, float(rng.uniform(0.8, 1.15)))
    return Camera((x, y, z), look, fov=float(rng.uniform(56.0, 64.0)))


def _light(rng: np.random.Generator) -> dict[str, Parameter | tuple[float, ...]]:
    """Return lamps under the roof, brighter or darker, white, warm or cold."""
    power = float(rng.uniform(5.5, 9.0))
    tint = TINTS[int(rng.integers(len(TINTS)))]
    lamps: list[float] = []
    for x, y, z in LAMPS:
        lamps += [x, y, z, *(round(power * one, 3) for one in tint), 0.5]
    ambient = tuple(round(0.42 * one, 3) for one in tint)
    return {"indoor": True, "ambient": ambient, "exposure": 0.8, "lamps": tuple(lamps)}
