"""Pictures and masks after a warp: one resampling, whatever the warp is made of."""

import numpy as np
import numpy.typing as npt
from PIL import Image

from vlmlab.core.perturb.geometry import Displacement, FloatArray, Warp
from vlmlab.core.perturb.image_fields import mean_colour
from vlmlab.core.perturb.image_operator import Pixels

Masks = npt.NDArray[np.bool_]
Words = npt.NDArray[np.uint32]
_STRIP = 1 << 15  # pixels worked on at a time
_LANES = np.uint32(0x00FF00FF)
_HALVES = np.uint32(0x00800080)


def warped_image(image: Pixels, warp: Warp) -> Pixels:
    """Return a picture after a warp, between pixels interpolated bilinearly.

    What comes from outside the picture has the picture's mean colour: mirrored or smeared borders would show
    a thing twice.
    """
    height, width = image.shape[:2]
    picture = Image.fromarray(image)
    red, green, blue = (round(mean) for mean in mean_colour(picture))
    if warp.displacement is not None:
        return _displaced(picture, warp.backward_matrix(), warp.displacement, fill=(red, green, blue))
    moved = picture.transform(
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
    picture: Image.Image, backward: FloatArray, displacement: Displacement, *, fill: tuple[int, int, int]
) -> Pixels:
    """Return a picture after a displacement, strip by strip, so that what is worked on stays in the cache."""
    width, height = picture.size
    x, y = _sources(backward, displacement, (height, width))
    packed = _packed(picture)
    outside = np.array([*fill, 255], dtype=np.uint8).view(np.uint32)[0]
    words = np.empty((height, width), dtype=np.uint32)
    rows = max(1, _STRIP // width)
    for top in range(0, height, rows):
        strip = slice(top, top + rows)
        words[strip] = _mixed(packed, x[strip], y[strip], size=(width, height), outside=outside)
    return np.array(Image.frombuffer("RGBA", picture.size, words, "raw", "RGBA", 0, 1).convert("RGB"))


def _mixed(
    packed: Words,
    x: npt.NDArray[np.float32],
    y: npt.NDArray[np.float32],
    *,
    size: tuple[int, int],
    outside: np.uint32,
) -> Words:
    """Return colours between pixels in whole numbers, with 8 bits for the place between four of them.

    Four colours are one 32-bit word, of which two at a time are weighed in one multiplication.
    """
    width, height = size
    stride = width + 1
    across, down = _in_256ths(x, width), _in_256ths(y, height)
    first = (down >> 8).astype(np.intp)
    first *= stride
    first += across >> 8
    right, low = (across & 255).view(np.uint32), (down & 255).view(np.uint32)
    both = right * low
    both >>= np.uint32(8)
    corners = (
        (0, np.uint32(256) - right - low + both),
        (1, right - both),
        (stride, low - both),
        (stride + 1, both),
    )
    even, odd = np.full_like(right, _HALVES), np.full_like(right, _HALVES)
    for step, weights in corners:
        taken = packed[step:].take(first)
        pair = taken & _LANES
        pair *= weights
        even += pair
        taken >>= np.uint32(8)
        taken &= _LANES
        taken *= weights
        odd += taken
    even >>= np.uint32(8)
    even &= _LANES
    odd &= ~_LANES
    even |= odd
    even[(x < 0.0) | (x >= width) | (y < 0.0) | (y >= height)] = outside
    return even


def _in_256ths(positions: npt.NDArray[np.float32], side: int) -> npt.NDArray[np.int32]:
    """Return places between pixel centres in 256ths of a pixel, the border's centre beyond it."""
    scaled = positions * np.float32(256.0)
    scaled -= np.float32(127.5)  # half a pixel to the centres, and half a step for rounding
    return np.clip(scaled, 0.0, 256.0 * (side - 1), out=scaled).astype(np.int32)


def _packed(picture: Image.Image) -> Words:
    """Return a picture's colours as words, row after row, with its last row and column twice."""
    width, height = picture.size
    words = np.empty((height + 1, width + 1), dtype=np.uint32)
    words[:-1, :-1] = np.asarray(picture.convert("RGBA")).view(np.uint32)[..., 0]
    words[-1], words[:, -1] = words[-2], words[:, -2]
    return words.ravel()
