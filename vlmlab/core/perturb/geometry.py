"""Where the things of a picture go: warps, how they follow each other, and how they move points."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
_ROUNDS = 50
_CLOSE_PX = 1e-3


@dataclass(frozen=True)
class Displacement:
    """A field that says from where each pixel of the result is taken, relative to itself.

    Attributes:
        right: ``(height, width)`` pixels to the right, at pixel centres.
        down: ``(height, width)`` pixels downwards.
    """

    right: npt.NDArray[np.float32]
    down: npt.NDArray[np.float32]

    def at(self, points: FloatArray) -> FloatArray:
        """Return the field at ``(n, 2)`` points x, y, interpolated, and at the border's value beyond it."""
        height, width = self.right.shape
        x = np.clip(points[:, 0] - 0.5, 0.0, width - 1.0)
        y = np.clip(points[:, 1] - 0.5, 0.0, height - 1.0)
        column, row = x.astype(np.int64), y.astype(np.int64)
        next_column, next_row = np.minimum(column + 1, width - 1), np.minimum(row + 1, height - 1)
        across, down = x - column, y - row
        values = []
        for layer in (self.right, self.down):
            upper = (1.0 - across) * layer[row, column] + across * layer[row, next_column]
            lower = (1.0 - across) * layer[next_row, column] + across * layer[next_row, next_column]
            values.append((1.0 - down) * upper + down * lower)
        return np.stack(values, axis=1)


def _identity() -> FloatArray:
    return np.eye(3)


@dataclass(frozen=True)
class Warp:
    """A map of a picture's points, first by a projective matrix and then by a displacement.

    Points are x to the right and y downwards in pixels; corners of pixels are whole numbers.

    Attributes:
        matrix: ``(3, 3)``: old homogeneous points to new ones.
        displacement: what is taken from elsewhere after the matrix, if anything.
    """

    matrix: FloatArray = field(default_factory=_identity)
    displacement: Displacement | None = None

    def forward(self, points: FloatArray) -> FloatArray:
        """Return where ``(n, 2)`` points of the old picture are in the new one.

        A displacement tells where pixels come from; where a point goes to solves ``q + d(q) = p``, by rounds
        that close in on it because the field changes by less than a pixel a pixel.
        """
        targets = project(self.matrix, points)
        if self.displacement is None:
            return targets
        moved = targets
        for _ in range(_ROUNDS):
            closer = targets - self.displacement.at(moved)
            if float(np.abs(closer - moved).max(initial=0.0)) < _CLOSE_PX:
                return closer
            moved = closer
        return moved

    def backward_matrix(self) -> FloatArray:
        """Return the inverse matrix, scaled so that its last entry is 1."""
        inverse = np.linalg.inv(self.matrix)
        return np.asarray(inverse / inverse[2, 2], dtype=np.float64)


def chained(warps: Iterable[Warp]) -> Warp:
    """Return one warp that does what several do one after the other.

    Raises:
        ValueError: one that is not the last displaces, which cannot be written as one warp.
    """
    whole = Warp()
    for warp in warps:
        if whole.displacement is not None:
            raise ValueError("only the last of several warps may have a displacement")
        whole = Warp(warp.matrix @ whole.matrix, warp.displacement)
    return whole


def project(matrix: FloatArray, points: FloatArray) -> FloatArray:
    """Return ``(n, 2)`` points after a projective map; points behind the eye become infinitely far."""
    homogeneous = points @ matrix[:, :2].T + matrix[:, 2]
    scale = homogeneous[:, 2:]
    return np.where(scale > 0.0, homogeneous[:, :2] / np.where(scale > 0.0, scale, 1.0), np.inf)


def about(centre: tuple[float, float], linear: FloatArray) -> FloatArray:
    """Return the ``(3, 3)`` matrix that applies a ``(2, 2)`` linear map about a point."""
    matrix = np.eye(3)
    matrix[:2, :2] = linear
    matrix[:2, 2] = np.asarray(centre) - linear @ np.asarray(centre)
    return matrix


def tilt(size: tuple[int, int], *, degrees: float, direction: float) -> FloatArray:
    """Return the view of a flat picture that was turned away about an axis through its centre.

    The eye stands one diagonal before the centre, so that the untilted picture keeps its size.

    Args:
        size: width and height in pixels.
        degrees: how far it is turned, below 90.
        direction: where the far side is, in radians from the right clockwise.
    """
    width, height = size
    distance = math.hypot(width, height)
    turn = math.radians(degrees)
    toward = np.array([math.cos(direction), math.sin(direction)])
    shrink = np.eye(2) - (1.0 - math.cos(turn)) * np.outer(toward, toward)
    view = np.eye(3)
    view[:2, :2] = shrink
    view[2, :2] = math.sin(turn) / distance * toward
    to_centre, back = np.eye(3), np.eye(3)
    to_centre[:2, 2] = -width / 2.0, -height / 2.0
    back[:2, 2] = width / 2.0, height / 2.0
    return np.asarray(back @ view @ to_centre, dtype=np.float64)
