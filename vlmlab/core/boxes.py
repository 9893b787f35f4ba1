"""Boxes in pixels of the original picture, and how much two of them overlap."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Box:
    """An axis-aligned box; x grows to the right, y grows downwards, corners are pixel edges.

    Attributes:
        x_min: left edge in pixels.
        y_min: upper edge in pixels.
        x_max: right edge in pixels, at least ``x_min``.
        y_max: lower edge in pixels, at least ``y_min``.
    """

    x_min: float
    y_min: float
    x_max: float
    y_max: float

    def __post_init__(self) -> None:
        if not np.isfinite((self.x_min, self.y_min, self.x_max, self.y_max)).all():
            raise ValueError(f"a box needs finite numbers, got {self}")
        if self.x_max < self.x_min or self.y_max < self.y_min:
            raise ValueError(f"a box needs x_min <= x_max and y_min <= y_max, got {self}")

    @property
    def width(self) -> float:
        """Width in pixels."""
        return self.x_max - self.x_min

    @property
    def height(self) -> float:
        """Height in pixels."""
        return self.y_max - self.y_min

    @property
    def area(self) -> float:
        """Area in square pixels."""
        return self.width * self.height

    def as_tuple(self) -> tuple[float, float, float, float]:
        """Return ``(x_min, y_min, x_max, y_max)``."""
        return self.x_min, self.y_min, self.x_max, self.y_max


def boxes_array(boxes: Sequence[Box]) -> FloatArray:
    """Return ``(n, 4)`` rows x_min, y_min, x_max, y_max."""
    return np.array([box.as_tuple() for box in boxes], dtype=np.float64).reshape(-1, 4)


def iou(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the intersection over union of every pair of boxes.

    Args:
        first: ``(n, 4)``: x_min, y_min, x_max, y_max in pixels.
        second: ``(m, 4)``, in the same frame.

    Returns:
        ``(n, m)`` values in [0, 1]; 0 where a box has no area.

    Raises:
        ValueError: an array is not ``(k, 4)``.
    """
    for name, array in (("first", first), ("second", second)):
        if array.ndim != 2 or array.shape[1] != 4:
            raise ValueError(f"{name} must be (k, 4), got {array.shape}")
    upper = np.minimum(first[:, None, 2:], second[None, :, 2:])
    lower = np.maximum(first[:, None, :2], second[None, :, :2])
    overlap = np.prod(np.clip(upper - lower, 0.0, None), axis=2)
    union = _areas(first)[:, None] + _areas(second)[None, :] - overlap
    values: FloatArray = np.divide(
        overlap, union, out=np.zeros_like(overlap), where=(overlap > 0) & (union > 0)
    )
    return values


def _areas(boxes: FloatArray) -> FloatArray:
    """Return the areas ``(k,)`` in square pixels; 0 for a box whose corners are swapped."""
    sides = np.clip(boxes[:, 2:] - boxes[:, :2], 0.0, None)
    return np.asarray(sides[:, 0] * sides[:, 1], dtype=np.float64)


def set_iou(predicted: FloatArray, truth: FloatArray) -> float:
    """Return how well a set of boxes covers another one.

    Boxes are matched one to one so that the sum of their IoUs is largest (Kuhn 1955); the sum is divided by
    the size of the larger set, so that a missing box and a surplus one count alike.

    Args:
        predicted: ``(n, 4)``: x_min, y_min, x_max, y_max.
        truth: ``(m, 4)``, in the same frame.

    Returns:
        A value in [0, 1]; 1 where both sets are empty, 0 where one of them is.

    Raises:
        ValueError: an array is not ``(k, 4)``.
    """
    from scipy.optimize import linear_sum_assignment  # imported late: it costs a web process time and memory

    pairs = iou(predicted, truth)
    if not pairs.size:
        return float(len(predicted) == len(truth))
    rows, columns = linear_sum_assignment(pairs, maximize=True)
    return float(pairs[rows, columns].sum()) / max(len(predicted), len(truth))
