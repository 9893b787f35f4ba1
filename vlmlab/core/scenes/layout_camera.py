"""Aims the driving camera so that what must be seen is in the frame, and rates what it sees."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vlmlab.core.scenes.layout import FloatArray
from vlmlab.core.scenes.scene import Camera

BASE_FOV = 56.0
WIDEST_FOV = 70.0
ASPECT = 4 / 3
LARGEST_YAW = math.radians(15)
MARGIN = math.radians(1.2)


@dataclass(frozen=True)
class Target:
    """Something that must be seen.

    Attributes:
        points: ``(n, 3)`` on its visible face.
        is_wide: its sides may leave the frame.
        owner: index of its box among the blocking boxes, -1 for none.
    """

    points: FloatArray
    is_wide: bool = False
    owner: int = -1


def aim(eye: tuple[float, float, float], targets: list[Target], *, draws: FloatArray) -> Camera:
    """Return a camera near the usual view that turns, tilts and widens only as far as the targets need.

    Args:
        eye: camera position.
        targets: what must be in the frame.
        draws: ``(3,)`` in [0, 1): usual yaw, usual pitch, roll.
    """
    usual_yaw = math.atan2((2 * float(draws[0]) - 1) * 0.5, 12.0)
    usual_pitch = math.atan2(0.35 + 0.3 * float(draws[1]) - 1.5, 12.0)
    left, right, low, high = _needed_angles(eye, targets)
    half = math.radians(BASE_FOV) / 2
    half = min(math.radians(WIDEST_FOV) / 2, max(half, (right - left) / 2 + MARGIN))
    yaw = _nearest(usual_yaw, right - half + MARGIN, left + half - MARGIN)
    yaw = max(-LARGEST_YAW, min(LARGEST_YAW, yaw))
    half = min(math.radians(WIDEST_FOV) / 2, max(half, right - yaw + MARGIN, yaw - left + MARGIN))
    upward = math.atan(math.tan(half) / ASPECT)
    pitch = _nearest(usual_pitch, high - upward + MARGIN, low + upward - MARGIN)
    reach = 12.0
    look_at = (
        round(eye[0] + reach * math.sin(yaw) * math.cos(pitch), 4),
        round(eye[1] + reach * math.cos(yaw) * math.cos(pitch), 4),
        round(eye[2] + reach * math.sin(pitch), 4),
    )
    roll = round((2 * float(draws[2]) - 1) * 0.008, 5)
    return Camera(position=eye, look_at=look_at, fov=round(math.degrees(2 * half), 3), roll=roll)


def in_frame(camera: Camera, points: FloatArray) -> tuple[npt.NDArray[np.bool_], FloatArray]:
    """Return which points fall into a 4:3 frame, and their image coordinates in [-1, 1] across and up."""
    eye = np.asarray(camera.position)
    forward = np.asarray(camera.look_at) - eye
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    offset = points - eye
    depth = np.maximum(offset @ forward, 1e-6)
    scale = math.tan(math.radians(camera.fov) / 2)
    image = np.stack([offset @ right / depth / scale, offset @ up / depth / scale * ASPECT], axis=1)
    inside: npt.NDArray[np.bool_] = (np.abs(image) <= 1.0).all(axis=1) & (offset @ forward > 0.1)
    return inside, image


def _needed_angles(
    eye: tuple[float, float, float], targets: list[Target]
) -> tuple[float, float, float, float]:
    left, right, low, high = 0.0, 0.0, -0.2, 0.0
    for target in targets:
        offset = target.points - np.asarray(eye)
        azimuth = np.arctan2(offset[:, 0], offset[:, 1])
        elevation = np.arctan2(offset[:, 2], np.hypot(offset[:, 0], offset[:, 1]))
        share = 0.55 if target.is_wide else 1.0
        middle, spread = (azimuth.max() + azimuth.min()) / 2, np.ptp(azimuth) / 2 * share
        left, right = min(left, float(middle - spread)), max(right, float(middle + spread))
        low, high = min(low, float(elevation.min())), max(high, float(elevation.max()))
    return left, right, low, high


def _nearest(wanted: float, low: float, high: float) -> float:
    """Return the value in [low, high] nearest to the wanted one; the middle where the range is empty."""
    if low > high:
        return (low + high) / 2
    return min(max(wanted, low), high)
