"""One operator on pictures: a physical quantity that grows with the severity, and what it does to pixels."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from vlmlab.core.perturb.image_levels import LEVEL_SEVERITIES

Pixels = npt.NDArray[np.uint8]
Size = tuple[int, int]  # width and height in pixels
Family = Literal["geometry", "photometry", "weather", "blur", "noise", "compression"]

# The order in which they happen to light on its way from the scene to the file.
FAMILIES: tuple[Family, ...] = ("geometry", "photometry", "weather", "blur", "noise", "compression")
# Lengths are stated in pixels of a picture whose shorter side has this many.
REFERENCE_SIDE = 336.0


@dataclass(frozen=True)
class Quantity:
    """What an operator turns up: ``weakest + (strongest - weakest) * severity ** power``.

    Attributes:
        name: such as ``"sigma"``.
        unit: how the number is to be read.
        strongest: its value at severity 1.
        weakest: the value that leaves a picture as it is.
        power: above 1 where the first small steps already show, so that severities spread evenly.
    """

    name: str
    unit: str
    strongest: float
    weakest: float = 0.0
    power: float = 1.0

    def at(self, severity: float) -> float:
        """Return the value at a severity in [0, 1]."""
        return self.weakest + (self.strongest - self.weakest) * math.pow(severity, self.power)


@dataclass(frozen=True)
class ImageOperator(ABC):
    """A perturbation of pictures with a continuous severity.

    Attributes:
        name: its key in ``IMAGE_OPERATORS``; ImageNet-C's name where that has one.
        family: its place in the physical order.
        quantity: the one number that grows with the severity.
        summary: one sentence for people.
    """

    name: str
    family: Family
    quantity: Quantity
    summary: str

    @property
    def parameter_name(self) -> str:
        """The name of the physical quantity."""
        return self.quantity.name

    @property
    def moves_boxes(self) -> bool:
        """Whether the truth moves with the picture."""
        return False

    @property
    def hides(self) -> bool:
        """Whether it lays something before the scene that can hide things."""
        return False

    @property
    def has_levels(self) -> bool:
        """Whether ImageNet-C (Hendrycks and Dietterich 2019) knows this operator."""
        return self.name in LEVEL_SEVERITIES

    def parameter(self, severity: float) -> float:
        """Return the physical quantity at a severity; strictly increasing.

        Raises:
            ValueError: the severity is outside [0, 1].
        """
        return self.quantity.at(check_severity(severity))

    def level_severity(self, level: int) -> float:
        """Return the severity that changes pictures as much as a level of ImageNet-C does.

        Args:
            level: 1 to 5.

        Raises:
            ValueError: another level, or ImageNet-C has no such operator.
        """
        if not self.has_levels:
            raise ValueError(f"ImageNet-C has no operator {self.name}; give a severity in [0, 1]")
        severities = LEVEL_SEVERITIES[self.name]
        if level not in range(1, len(severities) + 1):
            raise ValueError(f"level must be 1 to {len(severities)}, got {level!r}")
        return severities[level - 1]

    def apply(self, image: Pixels, severity: float, rng: np.random.Generator) -> Pixels:
        """Return a perturbed copy of a picture.

        Whatever is random comes from ``rng`` and does not depend on the severity: generators in equal states
        give one perturbation, weaker or stronger.

        Args:
            image: ``(height, width, 3)`` uint8, sRGB; it is not changed.
            severity: in [0, 1]; 0 returns the same bytes.
            rng: a generator of this operator's own.

        Raises:
            ValueError: another shape or dtype, no pixel, or a severity outside [0, 1].
            TypeError: ``rng`` is no generator.
        """
        pixels = check_image(image)
        if check_severity(severity) == 0.0:
            return pixels.copy()
        check_generator(rng)
        return self._perturb(pixels, self.quantity.at(severity), rng)

    @abstractmethod
    def _perturb(self, image: Pixels, amount: float, rng: np.random.Generator) -> Pixels:
        """Return the perturbed picture at a value of the quantity; the arguments are checked."""


def check_severity(severity: float) -> float:
    """Return a severity in [0, 1].

    Raises:
        ValueError: it is outside, or no number.
    """
    if not 0.0 <= severity <= 1.0:  # also refuses NaN
        raise ValueError(f"severity must be in [0, 1], got {severity!r}")
    return float(severity)


def check_generator(rng: np.random.Generator) -> None:
    """Refuse what is no generator.

    Raises:
        TypeError: it is a seed, an old ``RandomState`` or something else.
    """
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a numpy.random.Generator (see rng_for), got {type(rng).__name__}")


def check_image(image: Pixels) -> Pixels:
    """Return a picture's pixels in one block of memory.

    Raises:
        ValueError: it is not ``(height, width, 3)`` uint8 with at least one pixel.
    """
    if not isinstance(image, np.ndarray) or image.dtype != np.uint8:
        kind = f"an array of {image.dtype}" if isinstance(image, np.ndarray) else type(image).__name__
        raise ValueError(f"image must be an array of uint8, got {kind}")
    if image.ndim != 3 or image.shape[2] != 3 or image.size == 0:
        raise ValueError(
            f"image must be (height, width, 3) with colours red, green, blue, got {image.shape}; "
            "vlmlab.core.images.read_image turns grey, transparent and other files into that"
        )
    return np.ascontiguousarray(image)


def check_size(image_size: Size) -> Size:
    """Return width and height of a picture.

    Raises:
        ValueError: one is below a pixel.
    """
    width, height = image_size
    if width < 1 or height < 1:
        raise ValueError(f"image_size must be (width, height) of at least 1 pixel, got {image_size}")
    return int(width), int(height)


def pixels_per_unit(size: Size) -> float:
    """Return how many pixels a reference pixel has: lengths grow with the picture's shorter side."""
    return min(size) / REFERENCE_SIDE


def size_of(image: Pixels) -> Size:
    """Return width and height of a picture."""
    return image.shape[1], image.shape[0]
