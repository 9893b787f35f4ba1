"""How much room each kind of a kitchen takes, what of it must be seen and where in the kitchen it belongs.

Bounds are metres around an object's position before its yaw; see ``kitchen_frame`` for the frame. At yaw 0 a
thing shows its front, and a person looks, towards -Y.
"""

import math
from dataclasses import dataclass
from typing import Literal

Slot = Literal["counter", "edge", "sink", "stove", "wall", "floor", "person"]


@dataclass(frozen=True)
class Box:
    """An axis-aligned box in metres."""

    x_min: float
    x_max: float
    y_min: float
    y_max: float
    z_min: float
    z_max: float

    def moved(self, position: tuple[float, float, float], yaw: float) -> "Box":
        """Return the bounds of the box after a turn about Z and a shift."""
        cosine, sine = math.cos(yaw), math.sin(yaw)
        xs = [x * cosine - y * sine for x in (self.x_min, self.x_max) for y in (self.y_min, self.y_max)]
        ys = [x * sine + y * cosine for x in (self.x_min, self.x_max) for y in (self.y_min, self.y_max)]
        x, y, z = position
        return Box(x + min(xs), x + max(xs), y + min(ys), y + max(ys), z + self.z_min, z + self.z_max)

    def meets(self, other: "Box", *, gap: float = 0.0) -> bool:
        """Return whether two boxes come closer than a gap sideways, at any common height."""
        return (
            self.x_min < other.x_max + gap
            and other.x_min < self.x_max + gap
            and self.y_min < other.y_max + gap
            and other.y_min < self.y_max + gap
            and self.z_min < other.z_max
            and other.z_min < self.z_max
        )

    def narrowed(self, share: float) -> "Box":
        """Return the box with its width and depth cut to a share about the middle."""
        x, y = (self.x_min + self.x_max) / 2, (self.y_min + self.y_max) / 2
        dx, dy = (self.x_max - self.x_min) / 2 * share, (self.y_max - self.y_min) / 2 * share
        return Box(x - dx, x + dx, y - dy, y + dy, self.z_min, self.z_max)


@dataclass(frozen=True)
class Body:
    """What the layout knows of a kind.

    Attributes:
        slot: where it belongs.
        shown: what of it must be in the picture.
        solid: where nothing else may stand.
        hides: share of the width of its solid parts that blocks the view; 0 = one can see past it.
        jitter: largest yaw that the layout draws, radians.
        clear: spots on the floor that people keep off, such as a puddle under the counter.
        size_px: side of a square that it should fill on the grid of the presence check.
        unhidden: share of it that nothing should hide.
        is_round: turning it changes nothing.
        from_left: how far to the left it may be seen from, as a slope; -inf = any way will do.
    """

    slot: Slot
    shown: Box
    solid: tuple[Box, ...]
    hides: float = 1.0
    jitter: float = 0.3
    clear: tuple[Box, ...] = ()
    size_px: float = 14.0
    unhidden: float = 0.7
    is_round: bool = False
    from_left: float = -math.inf


def _block(
    slot: Slot, x: float, y: tuple[float, float], height: float, *,
    hides: float = 1.0, jitter: float = 0.3, size_px: float = 14.0,
) -> Body:  # fmt: skip
    box = Box(-x, x, y[0], y[1], 0.0, height)
    return Body(slot, box, (box,), hides=hides, jitter=jitter, size_px=size_px)


def _round(
    slot: Slot, radius: float, height: float, *,
    hides: float = 1.0, jitter: float = 0.3, size_px: float = 14.0,
) -> Body:  # fmt: skip
    return _block(slot, radius, (-radius, radius), height, hides=hides, jitter=jitter, size_px=size_px)


def _person(radius: float, height: float, *, size_px: float = 30.0) -> Body:
    """Return a person, about as deep as wide, so that turning changes nothing."""
    box = Box(-radius, radius, -radius, radius, 0.0, height)
    return Body("person", box, (box,), hides=0.8, jitter=0.6, size_px=size_px, unhidden=0.75, is_round=True)


def _on_stove(shown: Box, *solid: Box, size_px: float) -> Body:
    return Body("stove", shown, solid, jitter=0.0, size_px=size_px)


BODIES: dict[str, Body] = {
    "glass_upright": _round("counter", 0.055, 0.19, size_px=18.0),
    "knife_block": _round("counter", 0.15, 0.26, size_px=22.0),
    "scissors_open": _block("counter", 0.13, (-0.19, 0.18), 0.03, hides=0.0, jitter=0.4, size_px=18.0),
    "pill_bottle": _block("counter", 0.14, (-0.14, 0.06), 0.14, size_px=18.0),
    "microwave_open_hot": Body(
        "counter",
        shown=Box(-0.3, 0.26, -0.45, 0.18, 0.0, 0.42),
        solid=(Box(-0.26, 0.26, -0.19, 0.19, 0.0, 0.31), Box(-0.39, -0.22, -0.57, -0.19, 0.0, 0.31)),
        jitter=0.05,
        size_px=36.0,
        from_left=-0.15,  # its door opens to the left
    ),
    "glass_tipped": Body(
        "edge",
        shown=Box(-0.24, 0.24, -0.1, 0.17, -0.25, 0.12),
        solid=(Box(-0.24, 0.24, -0.06, 0.17, 0.0, 0.12),),
        hides=0.0,
        jitter=0.1,
        clear=(Box(-0.4, 0.4, -0.5, 0.02, -0.92, -0.88),),
        size_px=22.0,
    ),
    "coffee_spill": Body(
        "edge",
        shown=Box(-0.24, 0.24, -0.04, 0.24, -0.2, 0.09),
        solid=(Box(-0.22, 0.22, -0.04, 0.26, 0.0, 0.09),),
        hides=0.0,
        jitter=0.1,
        size_px=20.0,
    ),
    "knife_edge": _block("edge", 0.17, (-0.2, 0.26), 0.04, hides=0.0, jitter=0.15, size_px=20.0),
    "pan_counter": Body(
        "edge",
        shown=Box(-0.16, 0.16, -0.19, 0.32, 0.0, 0.25),
        solid=(Box(-0.17, 0.17, -0.2, 0.32, 0.0, 0.1),),
        jitter=0.15,
        size_px=24.0,
    ),
    "hot_beverage": _block("edge", 0.1, (-0.02, 0.1), 0.2, jitter=0.15, size_px=18.0),
    "cabinet_open": Body(
        "sink",
        shown=Box(-0.55, 0.55, -0.25, 0.2, 0.08, 0.87),
        solid=(Box(-0.64, -0.44, -0.46, 0.0, 0.1, 0.87), Box(0.44, 0.64, -0.46, 0.0, 0.1, 0.87)),
        jitter=0.0,
        size_px=46.0,
        unhidden=0.6,
    ),
    "cabinet_closed": Body(
        "sink",
        shown=Box(-0.45, 0.45, -0.07, 0.0, 0.1, 0.87),
        solid=(),
        jitter=0.0,
        size_px=40.0,
        unhidden=0.65,
    ),
    "stove_on": _on_stove(Box(-0.25, 0.25, -0.2, 0.2, 0.0, 0.1), size_px=26.0),
    "towel_near": _on_stove(Box(-0.1, 0.22, -0.37, -0.16, -0.34, 0.06), size_px=26.0),
    "towel_burning": _on_stove(Box(-0.12, 0.24, -0.38, -0.16, -0.34, 0.4), size_px=34.0),
    "smoke": _on_stove(Box(-0.2, 0.5, -0.2, 0.1, 0.05, 0.75), size_px=40.0),
    "pan_stove": _on_stove(
        Box(-0.31, 0.0, -0.48, 0.02, 0.02, 0.11), Box(-0.31, 0.0, -0.3, 0.02, 0.0, 0.11), size_px=24.0
    ),
    "outlet_exposed": Body("wall", Box(-0.12, 0.12, -0.08, 0.0, -0.15, 0.15), (), jitter=0.0, size_px=20.0),
    "outlet_covered": Body("wall", Box(-0.07, 0.07, -0.02, 0.0, -0.1, 0.1), (), jitter=0.0, size_px=17.0),
    "wet_floor": _block("floor", 0.48, (-0.3, 0.3), 0.02, hides=0.0, size_px=34.0),
    "loose_cord_floor": _block("floor", 0.62, (-0.2, 0.2), 0.05, hides=0.0, size_px=36.0),
    "glass_floor": _block("floor", 0.38, (-0.25, 0.25), 0.06, hides=0.0, size_px=32.0),
    "toddler_standing": _person(0.17, 0.92),
    "child_running": _person(0.4, 1.18, size_px=40.0),
    "child_far_microwave": _person(0.22, 1.0),
    "child_near_microwave": _person(0.18, 1.08),
    "child_near_pan": _person(0.22, 0.98),
    "child_reaching": _person(0.2, 0.9),
    "child_on_stool": _person(0.22, 1.7, size_px=36.0),
    "barefoot_near_glass": _person(0.2, 0.92),
    "barefoot_child_safe": _person(0.17, 0.92),
    "adult_reacting": Body(
        "person",
        shown=Box(-0.36, 0.3, -0.6, 0.1, 0.0, 1.7),
        solid=(Box(-0.3, 0.28, -0.25, 0.12, 0.0, 1.7), Box(-0.42, 0.3, -0.75, -0.25, 0.7, 1.45)),
        hides=0.8,
        jitter=0.3,
        size_px=44.0,
    ),
    "toaster": _round("counter", 0.15, 0.17),
    "kettle": _round("counter", 0.1, 0.2),
    "apples": _round("counter", 0.14, 0.16),
    "plant": _round("counter", 0.14, 0.24),
    "utensils": _round("counter", 0.06, 0.34),
    "bread": _round("counter", 0.14, 0.1),
}
DISTRACTOR_KINDS = ("toaster", "kettle", "apples", "plant", "utensils", "bread")
SPILLS = frozenset({"glass_tipped", "coffee_spill", "wet_floor", "loose_cord_floor", "glass_floor"})
