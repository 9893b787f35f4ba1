"""Where a thing of a kitchen goes: its slot, and its company where concepts belong together."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vlmlab.core.scenes.indoor_bodies import BODIES, SPILLS, Box
from vlmlab.core.scenes.kitchen_frame import (
    COUNTER_DEPTH,
    COUNTER_HEIGHT,
    SINK_HALF_WIDTH,
    SINK_X,
    STOVE_HALF_WIDTH,
    STOVE_X,
)

FloatArray = npt.NDArray[np.float64]
Spot = tuple[float, float, float]

EDGE_Y = -COUNTER_DEPTH - 0.02
HOB_Z = COUNTER_HEIGHT + 0.03
OUTLET_Y, OUTLET_Z = -0.005, 1.16  # on the tiles
BURNER_X = STOVE_X - 0.165  # the front left one, where the pan and the large flame are
GAP = 0.03
SLACK = 0.06  # what a turned thing may stick out over its stretch of the counter
FAR_FROM_MICROWAVE_M = (1.62, 2.3)
CLEAN_FLOOR_M = 0.75
FIRE_SLOTS = ("stove_on", "towel_near", "towel_burning", "smoke", "pan_stove")
MIDDLE = (SINK_X + SINK_HALF_WIDTH - 0.1, STOVE_X - STOVE_HALF_WIDTH - 0.02)
LEFT = (-2.2, SINK_X - SINK_HALF_WIDTH + 0.1)
RIGHT = (STOVE_X + STOVE_HALF_WIDTH + 0.02, 1.85)


@dataclass(frozen=True)
class Placed:
    """A thing that has found its place: its kind, position, yaw and boxes in the room."""

    kind: str
    position: Spot
    yaw: float
    shown: Box
    solid: tuple[Box, ...]
    clear: tuple[Box, ...]


@dataclass(frozen=True)
class Room:
    """What a place may depend on.

    Attributes:
        kinds: everything that the set wants in the scene.
        placed: kind -> what stands already.
        focus_x: where the action is.
        crowding: 0 keeps things together near the focus, 1 spreads them, 2 uses all of the kitchen.
    """

    kinds: frozenset[str]
    placed: Mapping[str, Placed]
    focus_x: float
    crowding: int


def put(kind: str, position: Spot, yaw: float) -> Placed:
    """Return a thing with its boxes at a position."""
    body = BODIES[kind]
    x, y, z = (round(value, 4) for value in position)
    position, yaw = (x, y, z), round(yaw, 4)
    turn = 0.0 if body.is_round else yaw
    return Placed(
        kind,
        position,
        yaw,
        body.shown.moved(position, turn),
        tuple(one.moved(position, turn) for one in body.solid),
        tuple(one.moved(position, yaw) for one in body.clear),
    )


def propose(kind: str, room: Room, draws: FloatArray) -> Placed:
    """Return where a thing could stand.

    Args:
        kind: what.
        room: what stands already, in the order of ``ORDER``.
        draws: 4 values in [0, 1): across, depth, yaw, choice.
    """
    return PLACES.get(kind, SLOTS[BODIES[kind].slot])(kind, room, [float(one) for one in draws])


def fits(item: Placed, room: Room) -> bool:
    """Return whether a thing overlaps nothing, keeps off puddles and keeps the distances it promises."""
    for other in room.placed.values():
        if BODIES[item.kind].slot == BODIES[other.kind].slot == "stove":
            continue
        if any(a.meets(b, gap=GAP) for a in item.solid for b in other.solid):
            return False
        if _in_puddle(item, other) or _in_puddle(other, item):
            return False
    return _lies_on_counter(item) and _keeps_distance(item, room)


def distance(first: Placed, second: Placed) -> float:
    """Return the distance of two positions on the floor plan in metres."""
    return math.hypot(first.position[0] - second.position[0], first.position[1] - second.position[1])


def _lies_on_counter(item: Placed) -> bool:
    """Return whether a thing of the counter lies on it, and not over the sink, the stove or its end."""
    if BODIES[item.kind].slot not in ("counter", "edge"):
        return True
    left, right = min(one.x_min for one in item.solid), max(one.x_max for one in item.solid)
    return any(low - SLACK <= left and right <= high + SLACK for low, high in (LEFT, MIDDLE, RIGHT))


def _in_puddle(item: Placed, other: Placed) -> bool:
    return BODIES[item.kind].slot in ("person", "floor") and any(
        one.meets(spot) for one in item.solid for spot in _grounded(other.clear)
    )


def _grounded(spots: tuple[Box, ...]) -> list[Box]:
    return [Box(one.x_min, one.x_max, one.y_min, one.y_max, 0.0, 0.05) for one in spots]


def _keeps_distance(item: Placed, room: Room) -> bool:
    pairs = [(item, other) for other in room.placed.values()]
    pairs += [(other, item) for other in room.placed.values()]
    for first, second in pairs:
        if first.kind == "child_far_microwave" and second.kind == "microwave_open_hot":
            low, high = FAR_FROM_MICROWAVE_M
            if not low <= distance(first, second) <= high:
                return False
        if first.kind == "barefoot_child_safe" and second.kind in SPILLS:
            reach = CLEAN_FLOOR_M + 0.25 * (second.kind == "loose_cord_floor")
            if distance(first, second) < reach:
                return False
    return True


def _between(low: float, high: float, draw: float) -> float:
    return low + (high - low) * draw


def _yaw(kind: str, draw: float) -> float:
    return (2 * draw - 1) * BODIES[kind].jitter


def _counter_x(kind: str, room: Room, draws: list[float]) -> float:
    """Draw a place along the counter: the middle, or beside the sink or stove when they are shown."""
    stretches = [MIDDLE]
    if room.crowding or room.kinds & {"cabinet_open", "cabinet_closed"}:
        stretches.append(LEFT)
    if room.crowding or room.kinds & set(FIRE_SLOTS):
        stretches.append(RIGHT)
    boxes = BODIES[kind].solid
    left, right = min(one.x_min for one in boxes), max(one.x_max for one in boxes)
    chosen = 0 if draws[3] < 0.7 else int((draws[3] - 0.7) / 0.3 * len(stretches))
    low, high = stretches[chosen][0] - left, stretches[chosen][1] - right
    if low > high:
        return (low + high) / 2
    if not room.crowding:
        low, high = (
            max(low, min(high - 0.3, room.focus_x - 0.45)),
            min(high, max(low + 0.3, room.focus_x + 0.45)),
        )
    return min(max(_between(low, high, draws[0]), stretches[chosen][0] - left), stretches[chosen][1] - right)


def _on_counter(kind: str, room: Room, draws: list[float]) -> Placed:
    box = BODIES[kind].solid[0]
    front, back = -COUNTER_DEPTH + 0.05 - box.y_min, min(-COUNTER_DEPTH + 0.34, -0.03 - box.y_max)
    y = _between(min(front, back), back, draws[1])
    return put(kind, (_counter_x(kind, room, draws), y, COUNTER_HEIGHT), _yaw(kind, draws[2]))


def _on_edge(kind: str, room: Room, draws: list[float]) -> Placed:
    return put(kind, (_counter_x(kind, room, draws), EDGE_Y, COUNTER_HEIGHT), _yaw(kind, draws[2]))


def _at_sink(kind: str, room: Room, draws: list[float]) -> Placed:
    return put(kind, (SINK_X, -COUNTER_DEPTH, 0.0), 0.0)


def _on_stove(kind: str, room: Room, draws: list[float]) -> Placed:
    return put(kind, (STOVE_X, -COUNTER_DEPTH / 2, HOB_Z), 0.0)


def _on_wall(kind: str, room: Room, draws: list[float]) -> Placed:
    low, high = MIDDLE[0] + 0.12, MIDDLE[1] - 0.05
    if draws[3] > 0.75 and room.kinds & set(FIRE_SLOTS):
        low, high = RIGHT[0] + 0.1, RIGHT[0] + 0.4
    return put(kind, (_between(low, high, draws[0]), OUTLET_Y, OUTLET_Z), 0.0)


def _on_floor(kind: str, room: Room, draws: list[float]) -> Placed:
    reach = 0.75 + 0.5 * room.crowding
    x = min(max(room.focus_x, -1.0), 1.0) + (2 * draws[0] - 1) * reach
    return put(kind, (x, -_between(0.98, 1.4 + 0.4 * room.crowding, draws[1]), 0.0), _yaw(kind, draws[2]))


def _person(kind: str, room: Room, draws: list[float]) -> Placed:
    reach = 0.85 + 0.5 * room.crowding
    x = min(max(room.focus_x, -1.0), 1.0) + (2 * draws[0] - 1) * reach
    return put(kind, (x, -_between(0.95, 1.4 + 0.35 * room.crowding, draws[1]), 0.0), _yaw(kind, draws[2]))


def _beside(target_x: float, *, aside: float, back: tuple[float, float]) -> Callable[..., Spot]:
    def spot(draws: list[float]) -> Spot:
        side = -1 if draws[3] < 0.5 else 1
        x = target_x + side * _between(aside * 0.6, aside, draws[0])
        return x, -COUNTER_DEPTH - _between(*back, draws[1]), 0.0

    return spot


def _facing(spot: Spot, target: Spot, *, turn: float) -> float:
    """Return the yaw of a person who looks at a target, turned aside a little."""
    return math.atan2(target[0] - spot[0], -(target[1] - spot[1])) + turn


def _near_microwave(kind: str, room: Room, draws: list[float]) -> Placed:
    oven = room.placed["microwave_open_hot"].position
    spot = (oven[0] + _between(0.1, 0.34, draws[0]), -COUNTER_DEPTH - _between(0.26, 0.36, draws[1]), 0.0)
    return put(kind, spot, _facing(spot, oven, turn=0.3 * (2 * draws[2] - 1)))


def _near_pan(kind: str, room: Room, draws: list[float]) -> Placed:
    pan = room.placed.get("pan_stove") or room.placed["pan_counter"]
    x = pan.position[0] + (BURNER_X - STOVE_X if pan.kind == "pan_stove" else 0.0)
    spot = _beside(x, aside=0.44, back=(0.28, 0.42))(draws)
    target = (x, pan.position[1], pan.position[2])
    return put(kind, spot, _facing(spot, target, turn=0.3 * (2 * draws[2] - 1)))


def _far_from_microwave(kind: str, room: Room, draws: list[float]) -> Placed:
    oven = room.placed["microwave_open_hot"].position
    reach = _between(FAR_FROM_MICROWAVE_M[0] + 0.02, FAR_FROM_MICROWAVE_M[1] - 0.1, draws[0] ** 2)
    angle = _between(0.25, 1.3, draws[1])
    side = 1 if draws[3] < 0.5 else -1
    spot = (oven[0] + side * reach * math.cos(angle), oven[1] - reach * math.sin(angle), 0.0)
    return put(kind, spot, _yaw(kind, draws[2]))


def _reaching(kind: str, room: Room, draws: list[float]) -> Placed:
    side = -1 if draws[3] < 0.5 else 1
    spot = (
        SINK_X + side * _between(0.06, 0.16, draws[0]),
        -COUNTER_DEPTH - _between(0.34, 0.46, draws[1]),
        0.0,
    )
    return put(kind, spot, _facing(spot, (SINK_X, -0.4, 0.0), turn=side * _between(0.1, 0.5, draws[2])))


def _at_counter(kind: str, room: Room, draws: list[float]) -> Placed:
    x = room.focus_x + (2 * draws[0] - 1) * (0.9 + 0.5 * room.crowding)
    spot = (min(max(x, -1.9), 1.65), -COUNTER_DEPTH - _between(0.28, 0.34, draws[1]), 0.0)
    return put(kind, spot, math.pi + _between(-0.6, 0.6, draws[2]))


def _at_shards(kind: str, room: Room, draws: list[float]) -> Placed:
    shards = room.placed["glass_floor"].position
    angle = _between(-0.3, math.pi + 0.3, draws[0])
    reach_x, reach_y = _between(0.6, 0.68, draws[1]), _between(0.46, 0.52, draws[1])
    spot = (shards[0] + reach_x * math.cos(angle), shards[1] + reach_y * math.sin(angle), 0.0)
    return put(kind, spot, _facing(spot, shards, turn=0.4 * (2 * draws[2] - 1)))


def _near_fire(kind: str, room: Room, draws: list[float]) -> Placed:
    spot = _beside(STOVE_X, aside=1.05, back=(0.35, 0.6))(draws)
    return put(kind, spot, _facing(spot, (STOVE_X, -COUNTER_DEPTH / 2, 0.0), turn=0.3 * (2 * draws[2] - 1)))


def _tipped(kind: str, room: Room, draws: list[float]) -> Placed:
    """Return a place for the tipped glass: near an end of the middle where coffee needs room beside it."""
    if "coffee_spill" not in room.kinds:
        return _on_edge(kind, room, draws)
    box = BODIES[kind].solid[0]
    x = MIDDLE[0] - box.x_min + 0.15 * draws[0] if draws[3] < 0.5 else MIDDLE[1] - box.x_max - 0.15 * draws[0]
    return put(kind, (x, EDGE_Y, COUNTER_HEIGHT), _yaw(kind, draws[2]))


def _by_the_glass(kind: str, room: Room, draws: list[float]) -> Placed:
    glass = room.placed["glass_tipped"].position
    x = glass[0] + (-1 if draws[3] < 0.5 else 1) * _between(0.5, 0.56, draws[0])
    return put(kind, (x, EDGE_Y, COUNTER_HEIGHT), _yaw(kind, draws[2]))


Place = Callable[[str, Room, list[float]], Placed]
SLOTS: dict[str, Place] = {
    "counter": _on_counter,
    "edge": _on_edge,
    "sink": _at_sink,
    "stove": _on_stove,
    "wall": _on_wall,
    "floor": _on_floor,
    "person": _person,
}
PLACES: dict[str, Place] = {
    "glass_tipped": _tipped,
    "coffee_spill": _by_the_glass,
    "child_reaching": _reaching,
    "child_near_microwave": _near_microwave,
    "child_far_microwave": _far_from_microwave,
    "child_near_pan": _near_pan,
    "child_on_stool": _at_counter,
    "barefoot_near_glass": _at_shards,
    "adult_reacting": _near_fire,
}
"""What has a place of its own; everything else goes where its slot says."""

COMPANY: dict[str, tuple[str, ...]] = {
    "coffee_spill": ("glass_tipped",),
    "child_near_microwave": ("microwave_open_hot",),
    "child_far_microwave": ("microwave_open_hot",),
    "child_near_pan": ("pan_stove", "pan_counter"),
    "barefoot_near_glass": ("glass_floor",),
}
"""What stands beside one of other things, and has no place without; a changed domain may allow such sets."""

ORDER = (
    *("cabinet_open", "cabinet_closed", "stove_on", "pan_stove", "towel_near", "towel_burning", "smoke"),
    *("glass_tipped", "coffee_spill", "microwave_open_hot", "pan_counter", "child_reaching"),
    *("child_near_microwave", "child_near_pan", "adult_reacting", "loose_cord_floor", "wet_floor"),
    *("glass_floor", "barefoot_near_glass", "child_on_stool", "knife_edge", "hot_beverage", "knife_block"),
    *("pill_bottle", "scissors_open", "glass_upright", "outlet_exposed", "outlet_covered"),
    *("child_running", "child_far_microwave", "barefoot_child_safe", "toddler_standing"),
)
"""What is placed first: fixed things, then what others belong to, then what needs most room."""
