"""Aims the kitchen camera as close as what must be seen allows, and rates what it sees."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from vlmlab.core.scenes.indoor_bodies import BODIES, Box
from vlmlab.core.scenes.indoor_places import Placed
from vlmlab.core.scenes.kitchen_frame import COUNTER_HEIGHT, ROOM_DEPTH, ROOM_HALF_WIDTH
from vlmlab.core.scenes.scene import Camera

FloatArray = npt.NDArray[np.float64]

FOV = 62.0
ASPECT = 4 / 3
FILLED = 0.93  # share of the frame's width and height that the required things may fill
HIGH_ENOUGH_M = 1.5  # over a counter on which something lies
HIGHEST_M = 2.35
LOWEST_M = 0.8
NEAREST_M = 0.8  # from the middle of what is shown
PITCH_STEP = 0.06
STEEPEST = 0.95
CHECK_WIDTH = 240
WIDEST_AZIMUTH = 0.34
ENOUGH_INSIDE = 0.95
ON_COUNTER = ("counter", "edge", "stove")


@dataclass(frozen=True, eq=False)
class Subjects:
    """What must be seen, as arrays.

    Attributes:
        corners: ``(8 n, 3)``: those of the boxes of all n things that must be in the frame.
        samples: ``(n, 36, 3)`` points inside each.
        sizes: ``(n,)`` pixels that the side of each should have on the check grid.
        unhidden: ``(n,)`` share of each that nothing should hide.
        boxes: ``(m, 6)``: lowest and highest x, y, z of what blocks the view.
        owners: ``(m,)``: number of the thing that a box is part of.
        places: ``(n, 2)``: x and y of each.
        sides: ``(n,)`` how far to the left each may be seen from, as a slope; -inf = any.
        lowest_m: how high the camera must be.
        pitch: range of pitches to draw from.
    """

    corners: FloatArray
    samples: FloatArray
    sizes: FloatArray
    unhidden: FloatArray
    boxes: FloatArray
    owners: npt.NDArray[np.int64]
    places: FloatArray
    sides: FloatArray
    lowest_m: float
    pitch: tuple[float, float]

    @staticmethod
    def of(required: Sequence[Placed]) -> "Subjects":
        """Return the arrays of at least one thing."""
        low, high = _ends([item.shown for item in required])
        points = (low[:, None] + (high - low)[:, None] * CORNERS).reshape(-1, 3)
        boxes, owners = _blocking(required)
        bodies = [BODIES[item.kind] for item in required]
        return Subjects(
            corners=points,
            samples=low[:, None] + (high - low)[:, None] * INSIDE,
            sizes=np.array([body.size_px for body in bodies]),
            unhidden=np.array([body.unhidden for body in bodies]),
            boxes=boxes,
            owners=owners,
            places=np.array([item.position[:2] for item in required]),
            sides=np.array([body.from_left for body in bodies]),
            lowest_m=HIGH_ENOUGH_M if any(body.slot in ON_COUNTER for body in bodies) else LOWEST_M,
            pitch=_usual_pitch(required, points),
        )

    def joined_by(self, others: Sequence[Placed]) -> "Subjects":
        """Return the same with further things that block the view but need not be seen."""
        boxes, owners = _blocking(others)
        return replace(
            self,
            boxes=np.concatenate([self.boxes, boxes]),
            owners=np.concatenate([self.owners, owners + len(self.sizes)]),
        )


def aim(subjects: Subjects, *, draws: FloatArray) -> Camera:
    """Return the camera that fills its frame with all that must be seen.

    Args:
        subjects: what must be seen.
        draws: 4 values in [0, 1): azimuth, pitch, roll, distance.
    """
    azimuth = (2 * float(draws[0]) - 1) * WIDEST_AZIMUTH
    low, high = subjects.pitch
    pitch = low + (high - low) * float(draws[1])
    slack = 1.0 + 0.06 * float(draws[3])
    while True:
        forward = _direction(azimuth, pitch)
        eye = _fitted(subjects.corners, forward, slack=slack)
        if subjects.lowest_m <= eye[2] or pitch >= STEEPEST:
            break
        pitch += PITCH_STEP
    if eye[2] < subjects.lowest_m:
        eye = eye - forward * (subjects.lowest_m - eye[2]) / math.sin(pitch)
    eye = _inside(eye)
    return Camera(
        position=_rounded(eye),
        look_at=_rounded(eye + forward * 1.5),
        fov=FOV,
        roll=round((2 * float(draws[2]) - 1) * 0.01, 5),
    )


def rate(camera: Camera, subjects: Subjects) -> float:
    """Return how well the worst seen of the subjects is seen: 1 where each shows well enough."""
    things = len(subjects.sizes)
    image, depth = project(camera, subjects.samples.reshape(-1, 3))
    image, depth = image.reshape(things, -1, 2), depth.reshape(things, -1)
    inside = ((np.abs(image) <= 1.0).all(axis=2) & (depth > 0.1)).mean(axis=1)
    shown = np.minimum(np.maximum(image, -1.0), 1.0)
    span = (shown.max(axis=1) - shown.min(axis=1)) * (CHECK_WIDTH / 2)
    side = np.sqrt(span[:, 0] * span[:, 1] / ASPECT)
    unhidden = 1.0 - _hidden(camera, subjects)
    slope = (camera.position[0] - subjects.places[:, 0]) / (subjects.places[:, 1] - camera.position[1])
    parts = (
        np.clip(1.0 - (subjects.sides - slope), 0.0, 1.0)
        * np.minimum(1.0, inside / ENOUGH_INSIDE)
        * np.minimum(1.0, unhidden / subjects.unhidden)
        * np.minimum(1.0, side / subjects.sizes)
    )
    return float(parts.min())


def project(camera: Camera, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return image coordinates ``(n, 2)`` in [-1, 1] across and up a 4:3 frame, and depths ``(n,)``."""
    eye = np.asarray(camera.position)
    right, up, forward = _axes(np.asarray(camera.look_at) - eye)
    offset = points - eye
    depth = _along(offset, forward)
    scale = np.maximum(depth, 1e-6) * math.tan(math.radians(camera.fov) / 2)
    return np.stack([_along(offset, right) / scale, _along(offset, up) / scale * ASPECT], axis=1), depth


def image_boxes(camera: Camera, items: Sequence[Placed]) -> FloatArray:
    """Return ``(n, 4)``: lowest x and y, highest x and y of each thing in image coordinates."""
    low, high = _ends([item.shown for item in items])
    image, _ = project(camera, (low[:, None] + (high - low)[:, None] * CORNERS).reshape(-1, 3))
    image = image.reshape(len(items), -1, 2)
    return np.concatenate([image.min(axis=1), image.max(axis=1)], axis=1)


def _usual_pitch(required: Sequence[Placed], points: FloatArray) -> tuple[float, float]:
    """Return the range of pitches: steep on the floor, flat where something stands tall."""
    bottom, top = float(points[:, 2].min()), float(points[:, 2].max())
    has_counter = any(BODIES[item.kind].slot in ("counter", "edge") for item in required)
    if top < 0.3:
        return 0.55, 0.7
    if bottom > COUNTER_HEIGHT - 0.4 and top < 1.1:
        return 0.5, 0.7
    if top > 1.3:
        return (0.24, 0.44) if has_counter else (0.16, 0.26)
    return 0.28, 0.6


def _direction(azimuth: float, pitch: float) -> FloatArray:
    return np.array(
        [
            -math.sin(azimuth) * math.cos(pitch),
            math.cos(azimuth) * math.cos(pitch),
            -math.sin(pitch),
        ]
    )


def _axes(direction: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the unit vectors to the right, up and ahead of a camera that is not tilted sideways."""
    x, y, z = (float(one) for one in direction)
    length, flat = math.sqrt(x * x + y * y + z * z), math.hypot(x, y)
    x, y, z = x / length, y / length, z / length
    flat /= length
    right_x, right_y = y / flat, -x / flat
    up = np.array([right_y * z, -right_x * z, right_x * y - right_y * x])
    return np.array([right_x, right_y, 0.0]), up, np.array([x, y, z])


def _along(points: FloatArray, axis: FloatArray) -> FloatArray:
    """Return the dot product of ``(n, 3)`` points with an axis; no BLAS, so that threads change no bit."""
    product: FloatArray = points[:, 0] * axis[0] + points[:, 1] * axis[1] + points[:, 2] * axis[2]
    return product


def _fitted(points: FloatArray, forward: FloatArray, *, slack: float) -> FloatArray:
    """Return the nearest place from which all points lie in the frame.

    For a fixed direction each side of the frame is a plane that must have all points on its inner side; two
    opposite planes meet at a depth, and the smaller one of both pairs is the nearest possible.
    """
    right, up, forward = _axes(forward)
    across, rise, depth = _along(points, right), _along(points, up), _along(points, forward)
    half = math.tan(math.radians(FOV) / 2) * FILLED
    half_up = half / ASPECT
    wide = (float((across + half * depth).min()) - float((across - half * depth).max())) / (2 * half)
    tall = (float((rise + half_up * depth).min()) - float((rise - half_up * depth).max())) / (2 * half_up)
    x = (float((across + half * depth).min()) + float((across - half * depth).max())) / 2
    y = (float((rise + half_up * depth).min()) + float((rise - half_up * depth).max())) / 2
    middle = float(depth.min() + depth.max()) / 2
    z = middle - max((middle - min(wide, tall)) * slack, NEAREST_M)
    return x * right + y * up + z * forward


def _inside(eye: FloatArray) -> FloatArray:
    """Return the eye kept a little inside the walls, the floor and the ceiling."""
    side = ROOM_HALF_WIDTH - 0.25
    return np.array(
        [
            float(np.clip(eye[0], -side, side)),
            float(np.clip(eye[1], -ROOM_DEPTH + 0.2, -0.75)),
            float(np.clip(eye[2], 0.5, HIGHEST_M)),
        ]
    )


def _ends(boxes: Sequence[Box]) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and the highest corner of each box, ``(n, 3)`` each."""
    rows = np.array([(b.x_min, b.y_min, b.z_min, b.x_max, b.y_max, b.z_max) for b in boxes], np.float64)
    rows = rows.reshape(-1, 6)
    return rows[:, :3], rows[:, 3:]


def _blocking(items: Sequence[Placed]) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """Return what of some things blocks the view, and which of them it is part of."""
    found = [
        (owner, box.narrowed(BODIES[item.kind].hides))
        for owner, item in enumerate(items)
        for box in item.solid
        if BODIES[item.kind].hides > 0
    ]
    boxes = np.concatenate(_ends([box for _, box in found]), axis=1)
    return boxes, np.array([owner for owner, _ in found], np.int64)


def _hidden(camera: Camera, subjects: Subjects) -> FloatArray:
    """Return for each thing the share of its points that the box of another one stands before."""
    things = len(subjects.sizes)
    if not len(subjects.boxes):
        return np.zeros(things)
    eye = np.asarray(camera.position)
    direction = subjects.samples.reshape(-1, 3) - eye
    direction = np.where(np.abs(direction) < 1e-9, 1e-9, direction)[:, None, :]
    first = (subjects.boxes[None, :, :3] - eye) / direction
    second = (subjects.boxes[None, :, 3:] - eye) / direction
    enter, leave = np.minimum(first, second).max(axis=2), np.maximum(first, second).min(axis=2)
    met = ((enter < leave) & (leave > 0) & (enter < 0.995)).reshape(things, -1, len(subjects.boxes))
    met &= (subjects.owners[None, :] != np.arange(things)[:, None])[:, None, :]
    hidden: FloatArray = met.any(axis=2).mean(axis=1)
    return hidden


def _grid(across: Sequence[float], deep: Sequence[float], high: Sequence[float]) -> FloatArray:
    return np.array([(x, y, z) for x in across for y in deep for z in high], np.float64)


CORNERS = _grid((0.0, 1.0), (0.0, 1.0), (0.0, 1.0))
INSIDE = _grid((0.08, 0.36, 0.64, 0.92), (0.08, 0.5, 0.92), (0.08, 0.5, 0.92))


def _rounded(point: FloatArray) -> tuple[float, float, float]:
    return round(float(point[0]), 4), round(float(point[1]), 4), round(float(point[2]), 4)
