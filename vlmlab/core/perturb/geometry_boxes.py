"""Boxes after a warp: the hull of what was in them, and how well that is known."""

import numpy as np
import numpy.typing as npt

from vlmlab.core.perturb.geometry import FloatArray, Warp
from vlmlab.core.perturb.image_operator import Size

_POINTS_A_SIDE = 65
_POINTS_A_BOX = 24


def check_boxes(boxes: npt.ArrayLike) -> FloatArray:
    """Return boxes as ``(n, 4)`` float64 rows x_min, y_min, x_max, y_max.

    Raises:
        ValueError: another shape, a number that is not finite, or corners that are swapped.
    """
    array = np.asarray(boxes, dtype=np.float64)
    if array.size == 0:
        return np.zeros((0, 4))
    if array.ndim != 2 or array.shape[1] != 4:
        raise ValueError(f"boxes must be (n, 4), got {array.shape}")
    if not np.isfinite(array).all() or bool((array[:, 2:] < array[:, :2]).any()):
        raise ValueError("boxes must be finite with x_min <= x_max and y_min <= y_max")
    return array


def moved_boxes(boxes: FloatArray, warp: Warp, image_size: Size) -> FloatArray:
    """Return ``(n, 4)`` hulls of the moved boxes, cut at the picture's border.

    Args:
        boxes: ``(n, 4)``: x_min, y_min, x_max, y_max in pixels of the old picture.
        warp: where points go.
        image_size: width and height of the picture.
    """
    return within_frame(_hulls(_moved_sides(boxes, warp)), image_size)


def within_frame(boxes: FloatArray, image_size: Size) -> FloatArray:
    """Return boxes cut at the picture's border; what lies outside becomes a box without area."""
    width, height = image_size
    return np.clip(boxes, 0.0, np.array([width, height, width, height], dtype=np.float64))


def tight_shares(boxes: FloatArray, warp: Warp) -> FloatArray:
    """Return a lower bound of the IoU between each moved box's hull and the tight box of what was in it.

    What is in a box touches its four sides, nobody knows where. A side that tilts or bends is a strip after
    the warp; at worst the thing touches it only where the strip is innermost. The box between the innermost
    places lies inside the tight box, and that lies inside the hull.

    Returns:
        ``(n,)`` values in [0, 1]; 1 for a map that keeps sides upright.
    """
    sides = _moved_sides(boxes, warp)
    hulls = _hulls(sides)
    left, top, right, bottom = (sides[:, number] for number in range(4))
    inner_width = right[:, :, 0].min(axis=1) - left[:, :, 0].max(axis=1)
    inner_height = bottom[:, :, 1].min(axis=1) - top[:, :, 1].max(axis=1)
    outer = hulls[:, 2:] - hulls[:, :2]
    inner = np.clip(np.stack([inner_width, inner_height], axis=1), 0.0, None)
    # A box without width or height has nothing in it that could be lost.
    shares: FloatArray = np.divide(inner, outer, out=np.ones_like(inner), where=outer > 0.0).prod(axis=1)
    return shares


def visible_shares(boxes: FloatArray, warp: Warp, image_size: Size) -> FloatArray:
    """Return which share ``(n,)`` of each box's area in the old picture is still in the frame."""
    steps = (np.arange(_POINTS_A_BOX) + 0.5) / _POINTS_A_BOX
    x = boxes[:, 0, None, None] + (boxes[:, 2] - boxes[:, 0])[:, None, None] * steps[None, None, :]
    y = boxes[:, 1, None, None] + (boxes[:, 3] - boxes[:, 1])[:, None, None] * steps[None, :, None]
    points = np.stack(np.broadcast_arrays(x, y), axis=-1)
    inside = inside_frame(warp.forward(points.reshape(-1, 2)), image_size)
    return np.asarray(inside.reshape(len(boxes), _POINTS_A_BOX**2).mean(axis=1), dtype=np.float64)


def inside_frame(points: FloatArray, image_size: Size) -> npt.NDArray[np.bool_]:
    """Return which of ``(n, 2)`` points are in the picture, up to a thousandth of a pixel."""
    upper = np.asarray(image_size, dtype=np.float64)
    inside = np.logical_and(points >= -1e-3, points <= upper + 1e-3)
    return inside[:, 0] & inside[:, 1]


def _moved_sides(boxes: FloatArray, warp: Warp) -> FloatArray:
    """Return ``(n, 4, k, 2)`` moved points of the left, upper, right and lower sides."""
    steps = np.linspace(0.0, 1.0, _POINTS_A_SIDE)
    x_min, y_min, x_max, y_max = (boxes[:, number, None] for number in range(4))
    along_x, along_y = x_min + (x_max - x_min) * steps, y_min + (y_max - y_min) * steps
    same = np.ones_like(steps)
    sides = np.stack(
        [
            np.stack([x_min * same, along_y], axis=-1),
            np.stack([along_x, y_min * same], axis=-1),
            np.stack([x_max * same, along_y], axis=-1),
            np.stack([along_x, y_max * same], axis=-1),
        ],
        axis=1,
    )
    return warp.forward(sides.reshape(-1, 2)).reshape(sides.shape)


def _hulls(sides: FloatArray) -> FloatArray:
    points = sides.reshape(len(sides), 4 * _POINTS_A_SIDE, 2)
    return np.concatenate([points.min(axis=1), points.max(axis=1)], axis=1)
