"""The three frames of a CARLA scene and the ways between them.

Ours: metres, Z up, right-handed, x to the right, y ahead; the camera stands over the origin, the bumper is
``BUMPER_Y`` ahead of it; yaw in radians, counter-clockwise seen from above, 0 = facing ahead.
Scenic's world: metres, Z up, right-handed; headings in radians, counter-clockwise from +Y.
CARLA's world: metres, Z up, left-handed (y is Scenic's -y); yaw in degrees, clockwise from above, 0 = +x.
"""

import math
from dataclasses import dataclass

from vlmlab.core.scenes.layout import BUMPER_Y
from vlmlab.core.scenes.render.carla.lowering import FRONT_M
from vlmlab.core.scenes.scene import Camera

CAMERA_AHEAD_M = FRONT_M - BUMPER_Y
"""From the middle of the car to the camera, along the car."""


@dataclass(frozen=True)
class CarlaPose:
    """Where something is for CARLA: metres, and degrees for pitch (up) and yaw (clockwise)."""

    x: float
    y: float
    z: float
    pitch: float
    yaw: float


@dataclass(frozen=True)
class EgoFrame:
    """Our frame in Scenic's world: the origin's x and y, and the car's heading in radians."""

    x: float
    y: float
    heading: float

    @staticmethod
    def of(ego_x: float, ego_y: float, heading: float) -> "EgoFrame":
        """Return the frame of a car whose middle is at a point of Scenic's world."""
        return EgoFrame(
            ego_x - math.sin(heading) * CAMERA_AHEAD_M, ego_y + math.cos(heading) * CAMERA_AHEAD_M, heading
        )

    def from_world(self, x: float, y: float) -> tuple[float, float]:
        """Return a point of Scenic's world in our frame: metres to the right, metres ahead."""
        dx, dy = x - self.x, y - self.y
        cosine, sine = math.cos(self.heading), math.sin(self.heading)
        return dx * cosine + dy * sine, dy * cosine - dx * sine

    def yaw_of(self, heading: float) -> float:
        """Return a heading of Scenic's world as a yaw of ours, in (-pi, pi]."""
        return _half_turns(heading - self.heading)


def camera_mount(camera: Camera) -> CarlaPose:
    """Return where a camera of ours is fixed to the car, in CARLA's frame of the car (x ahead, y right)."""
    right, ahead, up = (there - here for here, there in zip(camera.position, camera.look_at, strict=True))
    return CarlaPose(
        x=camera.position[1] + CAMERA_AHEAD_M,
        y=camera.position[0],
        z=camera.position[2],
        pitch=math.degrees(math.atan2(up, math.hypot(right, ahead))),
        yaw=math.degrees(math.atan2(right, ahead)),
    )


def _half_turns(angle: float) -> float:
    """Return an angle in (-pi, pi]."""
    turned = math.remainder(angle, 2 * math.pi)
    return math.pi if turned == -math.pi else turned
