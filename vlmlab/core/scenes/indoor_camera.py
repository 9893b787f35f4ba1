"""Aims the kitchen camera as close as what must be seen allows, and rates what it sees."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vlmlab.core.scenes.indoor_bodies import BODIES, Box
from vlmlab.core.scenes.indoor_places import Placed
from vlmlab.core.scenes.kitchen_frame import COUNTER_HEIGHT, ROOM_DEPTH, ROOM_HALF_WIDTH
from vlmlab.core.scenes.scene import Camera

FloatArray = npt.NDArray[np.float64]

FOV = 62.0
ASPECT = 4 / 3
FILLED = 0.9  # share of the frame's width and height that the required things may fill
HIGH_ENOUGH_M = 1.5  # over a counter on which something lies
HIGHEST_M = 2.35
LOWEST_M = 0.8
NEAREST_M = 0.95  # from the middle of what is shown
PITCH_STEP = 0.06
STEEPEST = 0.95
CHECK_WIDTH = 240
ON_COUNTER = ("counter", "edge", "stove")


@dataclass(frozen=True)
class View:
    """A camera and how well the worst seen of the required things is seen by it (1 = well enough)."""

    camera: Camera
    score: float


def aim(required: Sequence[Placed], *, draws: FloatArray) -> Camera:
    """Return the camera that fills its frame with all that must be seen.

    Args:
        required: what must be seen; at least one.
        draws: 4 values in [0, 1): azimuth, pitch, roll, distance.
    """
    points = np.concatenate([corners(item.shown) for item in required])
    azimuth = (2 * float(draws[0]) - 1) * 0.34
    low, high = _usual_pitch(required, points)
    pitch = low + (high - low) * float(draws[1])
    is_high = any(BODIES[item.kind].slot in ON_COUNTER for item in required)
    floor = HIGH_ENOUGH_M if is_high else LOWEST_M
    slack = 1.0 + 0.1 * float(draws[3])
    while True:
        forward = _direction(azimuth, pitch)
        eye = _fitted(points, forward, slack=slack)
        if floor <= eye[2] or pitch >= STEEPEST:
            break
        pitch += PITCH_STEP
    if eye[2] < floor:
        eye = eye - forward * (floor - eye[2]) / math.sin(pitch)
    eye = _inside(eye)
    look_at = eye + forward * 1.5
    return Camera(
        position=_rounded(eye),
        look_at=_rounded(look_at),
        fov=FOV,
        roll=round((2 * float(draws[2]) - 1) * 0.01, 5),
    )


def rate(camera: Camera, required: Sequence[Placed], others: Sequence[Placed] = ()) -> float:
    """Return how well the worst seen of the required things is seen: 1 where each shows well enough."""
    points = np.stack([_samples(item.shown) for item in required])
    image, depth = project(camera, points.reshape(-1, 3))
    image, depth = image.reshape(len(required), -1, 2), depth.reshape(len(required), -1)
    inside = ((np.abs(image) <= 1.0).all(axis=2) & (depth > 0.1)).mean(axis=1)
    blockers = [
        (owner, _narrowed(item, box))
        for owner, item in enumerate([*required, *others])
        for box in item.solid
        if BODIES[item.kind].hides > 0
    ]
    unhidden = 1.0 - _hidden(camera, points, blockers)
    span = np.ptp(np.clip(image, -1.0, 1.0), axis=1) * (CHECK_WIDTH / 2) / (1.0, ASPECT)
    side = np.sqrt(span[:, 0] * span[:, 1])
    bodies = [BODIES[item.kind] for item in required]
    parts = [
        min(1.0, float(inside[n]) / 0.95)
        * min(1.0, float(unhidden[n]) / body.unhidden)
        * min(1.0, float(side[n]) / body.size_px)
        for n, body in enumerate(bodies)
    ]
    return min(parts)


def project(camera: Camera, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return image coordinates ``(n, 2)`` in [-1, 1] across and up a 4:3 frame, and depths ``(n,)``."""
    eye = np.asarray(camera.position)
    right, up, forward = _axes(np.asarray(camera.look_at) - eye)
    offset = points - eye
    depth = offset @ forward
    scale = np.maximum(depth, 1e-6) * math.tan(math.radians(camera.fov) / 2)
    return np.stack([offset @ right / scale, offset @ up / scale * ASPECT], axis=1), depth


def corners(box: Box) -> FloatArray:
    """Return the 8 corners of a box."""
    grid = np.meshgrid((box.x_min, box.x_max), (box.y_min, box.y_max), (box.z_min, box.z_max))
    return np.stack([axis.ravel() for axis in grid], axis=1)


def _usual_pitch(required: Sequence[Placed], points: FloatArray) -> tuple[float, float]:
    """Return the range of pitches: steep on the floor, flat where something stands tall."""
    bottom, top = float(points[:, 2].min()), float(points[:, 2].max())
    has_counter = any(BODIES[item.kind].slot in ("counter", "edge") for item in required)
    if top < 0.3:
        return 0.55, 0.7
    if bottom > COUNTER_HEIGHT - 0.4 and top < 1.1:
        return 0.46, 0.66
    if top > 1.3:
        return (0.24, 0.36) if has_counter else (0.16, 0.26)
    return 0.26, 0.44


def _direction(azimuth: float, pitch: float) -> FloatArray:
    return np.array(
        [
            -math.sin(azimuth) * math.cos(pitch),
            math.cos(azimuth) * math.cos(pitch),
            -math.sin(pitch),
        ]
    )


def _axes(direction: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    forward = direction / np.linalg.norm(direction)
    right = np.cross(forward, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    return right, np.cross(right, forward), forward


def _fitted(points: FloatArray, forward: FloatArray, *, slack: float) -> FloatArray:
    """Return the nearest place from which all points lie in the frame.

    For a fixed direction each side of the frame is a plane that must have all points on its inner side; two
    opposite planes meet at a depth, and the smaller one of both pairs is the nearest possible.
    """
    right, up, forward = _axes(forward)
    across, rise, depth = points @ right, points @ up, points @ forward
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


def _narrowed(item: Placed, box: Box) -> Box:
    return box.narrowed(BODIES[item.kind].hides)


def _samples(box: Box) -> FloatArray:
    """Return 36 points in a box: 4 across, 3 deep, 3 high, a little inside its sides."""
    axes = [
        low + (high - low) * np.linspace(0.08, 0.92, count)
        for low, high, count in (
            (box.x_min, box.x_max, 4),
            (box.y_min, box.y_max, 3),
            (box.z_min, box.z_max, 3),
        )
    ]
    return np.stack([axis.ravel() for axis in np.meshgrid(*axes)], axis=1)


def _hidden(camera: Camera, points: FloatArray, blockers: Sequence[tuple[int, Box]]) -> FloatArray:
    """Return for each thing the share of its points that the box of another one stands before.

    Args:
        camera: where it is seen from.
        points: ``(things, n, 3)``.
        blockers: number of the thing a box belongs to, and the box.
    """
    if not blockers:
        return np.zeros(len(points))
    eye = np.asarray(camera.position)
    boxes = np.array(
        [(b.x_min, b.y_min, b.z_min, b.x_max, b.y_max, b.z_max) for _, b in blockers], dtype=np.float64
    )
    direction = points.reshape(-1, 3) - eye
    direction = np.where(np.abs(direction) < 1e-9, 1e-9, direction)[:, None, :]
    first, second = (boxes[None, :, :3] - eye) / direction, (boxes[None, :, 3:] - eye) / direction
    enter, leave = np.minimum(first, second).max(axis=2), np.maximum(first, second).min(axis=2)
    met = ((enter < leave) & (leave > 0) & (enter < 0.995)).reshape(len(points), -1, len(blockers))
    owners = np.array([owner for owner, _ in blockers])
    met &= (owners[None, :] != np.arange(len(points))[:, None])[:, None, :]
    hidden: FloatArray = met.any(axis=2).mean(axis=1)
    return hidden


def _rounded(point: FloatArray) -> tuple[float, float, float]:
    return round(float(point[0]), 4), round(float(point[1]), 4), round(float(point[2]), 4)
