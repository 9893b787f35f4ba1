"""Pinhole projection of a scene camera."""

from dataclasses import dataclass

import numpy as np

from vlmlab.core.scenes.render.mesh import Floats, unit
from vlmlab.core.scenes.scene import Camera

NEAREST_M = 0.05


@dataclass(frozen=True, eq=False)
class Pinhole:
    """A camera with its picture size.

    Attributes:
        origin, right, up, forward: each ``(3,)``; the last three are unit vectors.
        half_width: tangent of half the horizontal field of view.
    """

    origin: Floats
    right: Floats
    up: Floats
    forward: Floats
    half_width: float
    width: int
    height: int

    @staticmethod
    def of(camera: Camera, *, width: int, height: int) -> "Pinhole":
        """Return the pinhole of a scene camera for one picture size."""
        origin = np.array(camera.position, np.float64)
        forward = np.array(camera.look_at, np.float64) - origin
        forward /= np.sqrt((forward**2).sum())
        right = np.cross(forward, np.array([np.sin(camera.roll), 0.0, np.cos(camera.roll)]))
        right /= np.sqrt((right**2).sum())
        up = np.cross(right, forward)
        half_width = float(np.tan(np.radians(camera.fov) / 2))
        axes = [axis.astype(np.float32) for axis in (origin, right, up, forward)]
        return Pinhole(axes[0], axes[1], axes[2], axes[3], half_width, width, height)

    @property
    def pixel_size(self) -> float:
        """Width of a pixel at distance 1."""
        return 2 * self.half_width / self.width

    def rays(self, x: Floats, y: Floats) -> Floats:
        """Return unit directions ``(n, 3)`` through picture points in pixels (y down)."""
        across = ((x / self.width * 2 - 1) * self.half_width).astype(np.float32)[:, None]
        rise = ((1 - y / self.height * 2) * self.half_width * self.height / self.width).astype(np.float32)[
            :, None
        ]
        return unit(self.forward + across * self.right + rise * self.up)

    def project(self, points: Floats) -> Floats:
        """Return ``(n, 3)``: x, y in pixels and depth in metres; use only rows with depth > ``NEAREST_M``."""
        offset = points - self.origin
        x = offset[:, 0] * self.right[0] + offset[:, 1] * self.right[1] + offset[:, 2] * self.right[2]
        y = offset[:, 0] * self.up[0] + offset[:, 1] * self.up[1] + offset[:, 2] * self.up[2]
        depth = (
            offset[:, 0] * self.forward[0] + offset[:, 1] * self.forward[1] + offset[:, 2] * self.forward[2]
        )
        scale = self.width / 2 / self.half_width / np.maximum(depth, 1e-6)
        return np.stack([self.width / 2 + scale * x, self.height / 2 - scale * y, depth], -1).astype(
            np.float32
        )

    def box_of(self, points: Floats) -> tuple[float, float, float, float] | None:
        """Return x_min, y_min, x_max, y_max of points before the camera, not clipped; None if none is."""
        projected = self.project(points)
        seen = projected[projected[:, 2] > NEAREST_M]
        if not len(seen):
            return None
        low, high = seen.min(0), seen.max(0)
        return float(low[0]), float(low[1]), float(high[0]), float(high[1])
