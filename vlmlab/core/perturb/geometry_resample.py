"""Pictures and masks after a warp: one resampling, whatever the warp is made of."""

import numpy as np
import numpy.typing as npt
from PIL import Image

from vlmlab.core.perturb.geometry import Displacement, FloatArray, Warp
from vlmlab.core.perturb.image_operator import Pixels

Masks = npt.NDArray[np.bool_]
_LANES = np.uint32(0x00FF00FF)
_HALVES = np.uint32(0x00800080)


def warped_image(image: Pixels, warp: Warp) -> Pixels:
    """Return a picture after a warp, between pixels interpolated bilinearly.

    What comes from outside the picture has the picture's mean colour: mirrored or smeared borders would show
    a thing twice.
    """
    height, width = image.shape[:2]
    red, green, blue = (round(mean) for mean in image.reshape(-1, 3).mean(axis=0).tolist())
    if warp.displacement is not None:
        return _displaced(image, warp.backward_matrix(), warp.displacement, fill=(red, green, blue))
    moved = Image.fromarray(image).transform(
        (width, height),
        Image.Transform.PERSPECTIVE,
        warp.backward_matrix().ravel()[:8].tolist(),
        Image.Resampling.BILINEAR,
        fillcolor=(red, green, blue),
    )
    return np.array(moved)


def check_masks(masks: Masks) -> Masks:
    """Return masks as ``(n, height, width)`` bool.

    Raises:
        ValueError: another shape or dtype, or no pixel.
    """
    array = np.asarray(masks)
    if array.ndim != 3 or array.dtype != np.bool_ or 0 in array.shape[1:]:
        raise ValueError(f"masks must be (n, height, width) bool, got {array.shape} {array.dtype}")
    return array


def warped_masks(masks: Masks, warp: Warp) -> Masks:
    """Return ``(n, height, width)`` masks after a warp; each pixel has the value of where it comes from."""
    height, width = masks.shape[1:]
    x, y = _sources(warp.backward_matrix(), warp.displacement, (height, width))
    inside = (x >= 0.0) & (x < width) & (y >= 0.0) & (y < height)
    places = np.where(inside, y, 0.0).astype(np.int64) * width + np.where(inside, x, 0.0).astype(np.int64)
    moved: Masks = masks.reshape(len(masks), -1)[:, places.ravel()].reshape(masks.shape) & inside
    return moved


def _sources(
    backward: FloatArray, displacement: Displacement | None, shape: tuple[int, int]
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return x and y in the old picture, ``(height, width)`` each, of the new picture's pixel centres."""
    height, width = shape
    x = np.broadcast_to(np.arange(width, dtype=np.float32) + np.float32(0.5), shape)
    y = np.broadcast_to((np.arange(height, dtype=np.float32) + np.float32(0.5))[:, None], shape)
    if displacement is not None:
        x, y = x + displacement.right, y + displacement.down
    if np.array_equal(backward, np.eye(3)):
        return x, y
    rows = backward.astype(np.float32)
    scale = rows[2, 0] * x + rows[2, 1] * y + rows[2, 2]
    return (
        (rows[0, 0] * x + rows[0, 1] * y + rows[0, 2]) / scale,
        (rows[1, 0] * x + rows[1, 1] * y + rows[1, 2]) / scale,
    )


def _displaced(
    image: Pixels, backward: FloatArray, displacement: Displacement, *, fill: tuple[int, int, int]
) -> Pixels:
    """Return a picture after a displacement, in whole numbers with 8 bits for the place between pixels.

    Four colours are one 32-bit word, of which two at a time are weighed in one multiplication.
    """
    height, width = image.shape[:2]
    x, y = _sources(backward, displacement, (height, width))
    outside = (x < 0.0) | (x >= width) | (y < 0.0) | (y >= height)
    words = np.zeros((height, width, 4), dtype=np.uint8)
    words[..., :3] = image
    packed = words.view(np.uint32).ravel()
    across = np.clip(np.rint((x - np.float32(0.5)) * 256.0), 0, (width - 1) * 256).astype(np.int32)
    down = np.clip(np.rint((y - np.float32(0.5)) * 256.0), 0, (height - 1) * 256).astype(np.int32)
    first = (down >> 8) * width + (across >> 8)
    next_column = (across >> 8 < width - 1).astype(np.int32)
    next_row = np.where(down >> 8 < height - 1, width, 0).astype(np.int32)
    right, low = (across & 255).astype(np.uint32), (down & 255).astype(np.uint32)
    both = right * low >> np.uint32(8)
    corners = (
        (first, np.uint32(256) - right - low + both),
        (first + next_column, right - both),
        (first + next_row, low - both),
        (first + next_row + next_column, both),
    )
    even, odd = np.full_like(right, _HALVES), np.full_like(right, _HALVES)
    for places, weights in corners:
        taken = packed[places]
        even += (taken & _LANES) * weights
        odd += (taken >> np.uint32(8) & _LANES) * weights
    mixed = (even >> np.uint32(8) & _LANES) | (odd & ~_LANES)
    pixels = mixed.view(np.uint8).reshape(height, width, 4)[..., :3].copy()
    pixels[outside] = fill
    return pixels
