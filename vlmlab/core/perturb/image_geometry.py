"""Operators that move things, and the truth with them: rotate, shear, tilt, shift and scale, and bend."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vlmlab.core.perturb.geometry import Displacement, FloatArray, Warp, about, tilt
from vlmlab.core.perturb.geometry_boxes import check_boxes, moved_boxes
from vlmlab.core.perturb.geometry_resample import Masks, check_masks, warped_image, warped_masks
from vlmlab.core.perturb.image_fields import smooth_noise
from vlmlab.core.perturb.image_operator import (
    ImageOperator,
    Pixels,
    Quantity,
    Size,
    check_generator,
    check_severity,
    check_size,
    pixels_per_unit,
    size_of,
)

_ELASTIC_CELL = 48.0  # reference pixels


@dataclass(frozen=True)
class GeometricOperator(ImageOperator):
    """An operator that moves things; boxes and masks move with them.

    Generators in equal states move picture, boxes and masks alike.

    Attributes:
        draw_warp: value of the quantity, generator and picture size to where points go.
    """

    draw_warp: Callable[[float, np.random.Generator, Size], Warp]

    @property
    def moves_boxes(self) -> bool:
        """Whether the truth moves with the picture."""
        return True

    def warp(self, severity: float, rng: np.random.Generator, image_size: Size) -> Warp:
        """Return where points of a picture go.

        Args:
            severity: in [0, 1].
            rng: a generator of this operator's own.
            image_size: width and height in pixels.

        Raises:
            ValueError: the severity is outside [0, 1], or the size below a pixel.
            TypeError: ``rng`` is no generator.
        """
        size = check_size(image_size)
        if check_severity(severity) == 0.0:
            return Warp()
        check_generator(rng)
        return self.draw_warp(self.quantity.at(severity), rng, size)

    def apply_boxes(
        self, boxes: npt.ArrayLike, severity: float, rng: np.random.Generator, image_size: Size
    ) -> FloatArray:
        """Return the hulls of moved boxes, cut at the picture's border.

        Args:
            boxes: ``(n, 4)``: x_min, y_min, x_max, y_max in pixels.
            severity: in [0, 1]; 0 returns the same boxes.
            rng: a generator in the state that ``apply`` was given.
            image_size: width and height in pixels.

        Returns:
            ``(n, 4)``; a box without area where nothing of it is left in the frame.

        Raises:
            ValueError: boxes, severity or size are not as described.
        """
        rows = check_boxes(boxes)
        if check_severity(severity) == 0.0:
            return rows.copy()
        return moved_boxes(rows, self.warp(severity, rng, image_size), image_size)

    def apply_masks(self, masks: Masks, severity: float, rng: np.random.Generator) -> Masks:
        """Return moved masks.

        Args:
            masks: ``(n, height, width)`` bool, one a thing.
            severity: in [0, 1]; 0 returns the same masks.
            rng: a generator in the state that ``apply`` was given.

        Raises:
            ValueError: masks or severity are not as described.
        """
        layers = check_masks(masks)
        if check_severity(severity) == 0.0:
            return layers.copy()
        return warped_masks(layers, self.warp(severity, rng, (layers.shape[2], layers.shape[1])))

    def _perturb(self, image: Pixels, amount: float, rng: np.random.Generator) -> Pixels:
        return warped_image(image, self.draw_warp(amount, rng, size_of(image)))


def rotation(degrees: float, rng: np.random.Generator, size: Size) -> Warp:
    """Turn the picture about its centre, one way or the other."""
    angle = math.radians(degrees) * _sign(rng)
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    return Warp(about(_centre(size), turn))


def shearing(slope: float, rng: np.random.Generator, size: Size) -> Warp:
    """Slide the rows of the picture over each other, ``slope`` pixels a row, one way or the other."""
    return Warp(about(_centre(size), np.array([[1.0, slope * _sign(rng)], [0.0, 1.0]])))


def tilting(degrees: float, rng: np.random.Generator, size: Size) -> Warp:
    """Turn the picture's plane away from the eye, in a drawn direction."""
    return Warp(tilt(size, degrees=degrees, direction=rng.uniform(0.0, 2.0 * math.pi)))


def shifting(share: float, rng: np.random.Generator, size: Size) -> Warp:
    """Move the picture by a share of its sides in a drawn direction, and make it larger or smaller.

    The factor is drawn between ``exp(-share)`` and ``exp(share)``.
    """
    direction, growth = rng.uniform(0.0, 2.0 * math.pi), rng.uniform(-1.0, 1.0)
    matrix = about(_centre(size), math.exp(growth * share) * np.eye(2))
    matrix[0, 2] += share * size[0] * math.cos(direction)
    matrix[1, 2] += share * size[1] * math.sin(direction)
    return Warp(matrix)


def bending(displacement: float, rng: np.random.Generator, size: Size) -> Warp:
    """Displace pixels by a smooth random field, ``displacement`` reference pixels on average (rms)."""
    unit = pixels_per_unit(size)
    shape = size[1], size[0]
    right = smooth_noise(rng, shape, cell=_ELASTIC_CELL * unit)
    down = smooth_noise(rng, shape, cell=_ELASTIC_CELL * unit)
    spread = math.sqrt(float(np.mean(right**2) + np.mean(down**2)))
    factor = np.float32(displacement * unit / max(spread, 1e-6))
    return Warp(displacement=Displacement(right * factor, down * factor))


def _centre(size: Size) -> tuple[float, float]:
    return size[0] / 2.0, size[1] / 2.0


def _sign(rng: np.random.Generator) -> float:
    return 1.0 if rng.random() < 0.5 else -1.0


# The one that displaces stands last: the others are matrices, and all together are one resampling.
GEOMETRY_OPERATORS = (
    GeometricOperator(
        "rotate",
        "geometry",
        Quantity("angle", "degrees", 15.0),
        "The camera is held askew.",
        rotation,
    ),
    GeometricOperator(
        "shear",
        "geometry",
        Quantity("slope", "pixels sideways a row", 0.3),
        "Uprights lean, as with a rolling shutter.",
        shearing,
    ),
    GeometricOperator(
        "perspective",
        "geometry",
        Quantity("tilt", "degrees that the picture's plane is turned away", 40.0),
        "The picture is seen from the side.",
        tilting,
    ),
    GeometricOperator(
        "translate_scale",
        "geometry",
        Quantity("share", "shift as a share of the sides; sizes change by as much", 0.2),
        "The frame is moved, and things are larger or smaller.",
        shifting,
    ),
    GeometricOperator(
        "elastic_transform",
        "geometry",
        Quantity("displacement", "root mean square of the displacement in reference pixels", 7.0),
        "The picture is bent as if drawn on rubber.",
        bending,
    ),
)
