"""What comes back from a CARLA server: the two pictures of one frame and where each actor was."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ActorSeen:
    """An actor as the server reports it.

    Attributes:
        concept: the concept it stands for.
        actor_id: its id on the server.
        corners: ``(n, 3)`` of its bounding box in the camera's frame: ahead, right, up, in metres; none for
            a traffic light, whose box does not bound its arm.
        pose: x, y, z in metres and yaw in degrees, CARLA's world.
    """

    concept: str
    actor_id: int
    corners: FloatArray
    pose: tuple[float, float, float, float]


@dataclass(frozen=True, eq=False)
class Shot:
    """One frame of the server.

    Attributes:
        image: ``(height, width, 3)`` uint8 sRGB.
        tags: ``(height, width)`` uint8, semantic tag of each pixel.
        instances: ``(height, width)`` uint16, the low 16 bits of the id of what each pixel shows.
        actors: the car is not among them.
        fov: horizontal, in degrees.
        frame: number of the frame, the same for both pictures.
        weather: what the server says of its weather, as text.
    """

    image: npt.NDArray[np.uint8]
    tags: npt.NDArray[np.uint8]
    instances: npt.NDArray[np.uint16]
    actors: tuple[ActorSeen, ...]
    fov: float
    frame: int
    weather: str


def decode_colours(raw: bytes, *, width: int, height: int) -> npt.NDArray[np.uint8]:
    """Return the RGB picture of an image's raw bytes, which are blue, green, red, alpha.

    Raises:
        ValueError: the bytes are not a picture of this size.
    """
    return np.ascontiguousarray(_pixels(raw, width, height)[:, :, 2::-1])


def decode_instances(
    raw: bytes, *, width: int, height: int
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint16]]:
    """Return the tags and the instance ids of an instance-segmentation image's raw bytes.

    Red is the semantic tag, green the low and blue the high byte of the id.

    Raises:
        ValueError: the bytes are not a picture of this size.
    """
    pixels = _pixels(raw, width, height)
    ids = pixels[:, :, 1].astype(np.uint16) | pixels[:, :, 0].astype(np.uint16) << np.uint16(8)
    return np.ascontiguousarray(pixels[:, :, 2]), ids


def camera_points(points: FloatArray, world_to_camera: FloatArray) -> FloatArray:
    """Return points of the world in the camera's frame.

    Args:
        points: ``(n, 3)`` in CARLA's world.
        world_to_camera: ``(4, 4)``, the inverse of the camera's matrix.
    """
    homogeneous = np.concatenate([points, np.ones((len(points), 1))], axis=1)
    turned: FloatArray = (homogeneous @ world_to_camera.T)[:, :3]
    return turned


def _pixels(raw: bytes, width: int, height: int) -> npt.NDArray[np.uint8]:
    pixels = np.frombuffer(raw, np.uint8)
    if pixels.size != width * height * 4:
        raise ValueError(
            f"raw: expected {width * height * 4} bytes of {width}x{height} pixels, got {pixels.size}"
        )
    return pixels.reshape(height, width, 4)
