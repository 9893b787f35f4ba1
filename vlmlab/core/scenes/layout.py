"""Where the objects of a driving scene stand: footprints, free slots, and what the camera can see of them.

Frame: metres, Z up, the ego camera at y = 0 looks along +Y, the front bumper is ``BUMPER_Y`` ahead of it,
the ego lane spans x = -1.75..1.75, the sidewalk on the right begins at x = 1.9. All distances are from
the bumper to the nearest point of an object.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

BUMPER_Y = 1.7
LANE_HALF_WIDTH = 1.75
SIDEWALK_LEFT, SIDEWALK_RIGHT = 1.95, 5.3
CURB_HEIGHT = 0.15
JUNCTION_DEPTH = 8.0
CAR_HALF_WIDTH = 0.95
GAP = 0.12


@dataclass(frozen=True)
class Extent:
    """Bounds of a kind around its position, before its yaw, in metres.

    Attributes:
        x_min, x_max, y_min, y_max: footprint.
        height: top above the ground.
        jitter: largest yaw that the layout draws, radians.
        hides: share of its footprint's width (about the centre) that blocks the view; 0 = see-through.
        yields: share of its footprint that may be built over (loose rubble lies against other things).
        is_wide: it fills the lane, so its sides may leave the frame.
    """

    x_min: float
    x_max: float
    y_min: float
    y_max: float
    height: float
    jitter: float = 0.25
    hides: float = 1.0
    yields: float = 0.0
    is_wide: bool = False

    @property
    def area(self) -> float:
        """Footprint in square metres."""
        return (self.x_max - self.x_min) * (self.y_max - self.y_min)


EXTENTS = {
    "pedestrian": Extent(-0.45, 0.45, -0.45, 0.45, 1.82, hides=0.7),
    "child_pedestrian": Extent(-0.38, 0.38, -0.32, 0.32, 1.18, hides=0.6),
    "wheelchair_pedestrian": Extent(-0.53, 0.53, -0.53, 0.53, 1.33, hides=0.7),
    "police_pedestrian": Extent(-0.38, 0.38, -0.5, 0.3, 1.89, hides=0.7),
    "cyclist": Extent(-0.87, 0.87, -0.83, 0.83, 1.78, hides=0.5),
    "emergency_vehicle": Extent(-1.2, 1.2, -0.04, 5.96, 2.67, jitter=0.03),
    "police_car": Extent(-1.05, 1.05, -0.04, 4.65, 1.8, jitter=0.03),
    "cone": Extent(-0.2, 0.2, -0.2, 0.2, 0.7, hides=0.8),
    "garbage_bin": Extent(-0.42, 0.42, -0.42, 0.42, 1.0, hides=0.9),
    "container": Extent(-2.5, 2.5, -0.2, 2.4, 2.07, jitter=0.03, is_wide=True),
    "debris": Extent(-1.45, 1.45, -0.86, 1.31, 0.42, yields=0.45, is_wide=True),
    "chain_barrier": Extent(-1.9, 1.9, -0.2, 0.2, 1.18, jitter=0.08, hides=0.0, is_wide=True),
    "bus_stop": Extent(-1.31, 0.85, -2.54, 1.95, 2.5, jitter=0.04),
}


@dataclass(frozen=True)
class Placement:
    """An object that has found its place.

    Attributes:
        concept, kind, bucket, placement: what it is and where the concepts want it.
        position: x, y, z.
        yaw: radians.
        distance_m: bumper to nearest point.
        box: x_min, x_max, y_min, y_max, height of the rotated footprint.
        extent: of its kind.
        scale: factor on its size.
    """

    concept: str
    kind: str
    bucket: str
    placement: str
    position: tuple[float, float, float]
    yaw: float
    distance_m: float
    box: tuple[float, float, float, float, float]
    extent: Extent
    scale: float = 1.0

    @property
    def solid_box(self) -> tuple[float, float, float, float]:
        """The part of the footprint on which nothing else may stand: x_min, x_max, y_min, y_max."""
        x_min, x_max, y_min, y_max, _ = self.box
        x_cut, y_cut = (
            (high - low) * self.extent.yields / 2 for low, high in ((x_min, x_max), (y_min, y_max))
        )
        return x_min + x_cut, x_max - x_cut, y_min + y_cut, y_max - y_cut

    @property
    def blocking_box(self) -> tuple[float, float, float, float, float]:
        """The part of the box that hides what is behind it."""
        x_min, x_max, y_min, y_max, height = self.box
        middle, half = (x_min + x_max) / 2, (x_max - x_min) / 2 * self.extent.hides
        return middle - half, middle + half, y_min, y_max, height


@dataclass(frozen=True)
class Wish:
    """An object that wants a place: its concept, kind, extent key, placement and distance range in metres."""

    concept: str
    kind: str
    extent_key: str
    bucket: str
    placement: str
    low_m: float
    high_m: float


def place(
    wish: Wish, draws: FloatArray, *, crowding: int, lengthwise: bool = False, scale: float = 1.0
) -> Placement:
    """Put one object where its draws say, without looking at others.

    Args:
        wish: what to place.
        draws: at least 3 values in [0, 1): distance, side, yaw.
        crowding: 0 keeps a lane object near the lane's middle; 1 uses the whole lane and favours the ends
            of each range, so that several objects find room; 2 lets broad objects stand further aside.
        lengthwise: turn a long object so that it leaves a view past it.
        scale: factor on its size.
    """
    extent = EXTENTS[wish.extent_key]
    yaw = (2 * float(draws[2]) - 1) * extent.jitter + (math.pi / 2 if lengthwise else 0.0)
    x_min, x_max, y_min, y_max = (scale * one for one in _rotated(extent, yaw))
    half, shift = (x_max - x_min) / 2, (x_max + x_min) / 2
    along, side = (_to_the_ends(float(one)) if crowding else float(one) for one in draws[:2])
    distance = wish.low_m + (wish.high_m - wish.low_m) * along
    low, high = _sideways_range(half, wish.placement, is_far=distance > 10, crowding=crowding)
    x = round(low + (high - low) * side - shift, 4)
    y = round(BUMPER_Y + distance - y_min, 4)
    return Placement(
        concept=wish.concept,
        kind=wish.kind,
        bucket=wish.bucket,
        placement=wish.placement,
        position=(x, y, CURB_HEIGHT if wish.placement == "sidewalk" else 0.0),
        yaw=round(yaw, 4),
        distance_m=round(distance, 3),
        box=(x + x_min, x + x_max, y + y_min, y + y_max, scale * extent.height),
        extent=extent,
        scale=scale,
    )


def overlaps(first: Placement, second: Placement) -> bool:
    """Return whether two footprints come closer than the gap in both directions."""
    a, b = first.solid_box, second.solid_box
    return a[0] < b[1] + GAP and b[0] < a[1] + GAP and a[2] < b[3] + GAP and b[2] < a[3] + GAP


def stands_in_side_street(item: Placement, junction_m: float | None) -> bool:
    """Return whether a sidewalk object stands where the crossing street interrupts the sidewalk."""
    if junction_m is None or item.placement != "sidewalk":
        return False
    start = BUMPER_Y + junction_m
    return item.box[2] < start + JUNCTION_DEPTH + 0.3 and item.box[3] > start - 0.3


def surface_points(box: tuple[float, float, float, float, float], *, bottom: float = 0.0) -> FloatArray:
    """Return a grid of points on the face of a box that looks at the camera.

    Returns:
        ``(30, 3)`` points: 5 heights by 6 places across, a little inside the edges.
    """
    x_min, x_max, y_min, _, height = box
    across = np.linspace(x_min + 0.05 * (x_max - x_min), x_max - 0.05 * (x_max - x_min), 6)
    up = bottom + np.linspace(0.08, 0.95, 5) * (height - bottom)
    x, z = np.meshgrid(across, up)
    return np.stack([x.ravel(), np.full(x.size, y_min), z.ravel()], axis=1)


def hidden_from(eye: Sequence[float], points: FloatArray, *, boxes: FloatArray) -> npt.NDArray[np.bool_]:
    """Return which points a box stands in front of.

    Args:
        eye: x, y, z of the camera.
        points: ``(n, 3)``.
        boxes: ``(m, 5)``: x_min, x_max, y_min, y_max, height; they stand on the ground.

    Returns:
        ``(n, m)``: the open segment from the eye to the point meets the box (slab test).
    """
    origin = np.asarray(eye, dtype=np.float64)
    direction = points - origin
    direction = np.where(np.abs(direction) < 1e-9, 1e-9, direction)[:, None, :]
    low = np.stack([boxes[:, 0], boxes[:, 2], np.zeros(len(boxes))], axis=1)[None]
    high = np.stack([boxes[:, 1], boxes[:, 3], boxes[:, 4]], axis=1)[None]
    first = (low - origin) / direction
    second = (high - origin) / direction
    enter = np.minimum(first, second).max(axis=2)
    leave = np.maximum(first, second).min(axis=2)
    met: npt.NDArray[np.bool_] = (enter < leave) & (leave > 0) & (enter < 0.995)
    return met


def _rotated(extent: Extent, yaw: float) -> tuple[float, float, float, float]:
    cosine, sine = math.cos(yaw), math.sin(yaw)
    corners = [
        (x * cosine - y * sine, x * sine + y * cosine)
        for x in (extent.x_min, extent.x_max)
        for y in (extent.y_min, extent.y_max)
    ]
    xs, ys = [corner[0] for corner in corners], [corner[1] for corner in corners]
    return min(xs), max(xs), min(ys), max(ys)


def _to_the_ends(draw: float) -> float:
    """Map a uniform draw to the arcsine law on [0, 1], which favours both ends."""
    return 0.5 - 0.5 * math.cos(math.pi * draw)


def _sideways_range(half: float, placement: str, *, is_far: bool, crowding: int) -> tuple[float, float]:
    """Return the lowest and highest x of a footprint's centre.

    On the sidewalk: near the curb, further in only where the distance lets the camera see it. In the lane:
    within it, a little over its edges for what is broad, and always reaching into the path of the car.
    """
    if placement == "sidewalk":
        low = SIDEWALK_LEFT + half
        room = max(0.0, SIDEWALK_RIGHT - SIDEWALK_LEFT - 2 * half)
        return low, low + min(room, 1.6 if is_far else 0.5)
    if crowding == 0:
        return -0.35, 0.35
    if half < 0.95:
        reach = min(LANE_HALF_WIDTH - half, half + 0.9)
        return -reach, reach
    into_path = 1.3 if crowding == 1 else 0.6
    reach = half + CAR_HALF_WIDTH - into_path
    low, high = max(-LANE_HALF_WIDTH - 1.4 + half, -reach), min(LANE_HALF_WIDTH + 0.75 - half, reach)
    return (low, high) if low < high else (-0.2, 0.2)
