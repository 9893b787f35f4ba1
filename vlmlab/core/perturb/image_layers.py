"""Operators that lay something before the scene, such as fog or mud, and what that hides."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image

from vlmlab.core.perturb.image_fields import Field, as_pixels
from vlmlab.core.perturb.image_operator import (
    ImageOperator,
    Pixels,
    Size,
    check_generator,
    check_severity,
    check_size,
)

Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Layer:
    """Something before the scene.

    Attributes:
        mask: how opaque it is, 8 bits a pixel of the picture: 0 lets all light of the scene through.
        paint: its colour, or its own picture.
    """

    mask: Image.Image
    paint: Colour | Image.Image


@dataclass(frozen=True)
class LayerOperator(ImageOperator):
    """An operator that lays something before the scene; it does not depend on what the scene shows.

    Attributes:
        draw_layer: picture size, value of the quantity and generator to the layer.
    """

    draw_layer: Callable[[Size, float, np.random.Generator], Layer]

    @property
    def hides(self) -> bool:
        """Whether it can hide things."""
        return True

    def opacity(self, severity: float, rng: np.random.Generator, image_size: Size) -> Field:
        """Return which share of the scene's light is kept from each pixel.

        Args:
            severity: in [0, 1].
            rng: a generator in the state that ``apply`` was given.
            image_size: width and height in pixels.

        Returns:
            ``(height, width)`` in [0, 1].

        Raises:
            ValueError: the severity is outside [0, 1], or the size below a pixel.
            TypeError: ``rng`` is no generator.
        """
        width, height = check_size(image_size)
        if check_severity(severity) == 0.0:
            return np.zeros((height, width), dtype=np.float32)
        check_generator(rng)
        mask = self.draw_layer((width, height), self.quantity.at(severity), rng).mask
        return np.asarray(mask, dtype=np.float32) / np.float32(255.0)

    def _perturb(self, image: Pixels, amount: float, rng: np.random.Generator) -> Pixels:
        canvas = Image.fromarray(image)
        layer = self.draw_layer(canvas.size, amount, rng)
        canvas.paste(layer.paint, (0, 0, *canvas.size), layer.mask)
        return np.array(canvas)


def as_mask(shares: npt.NDArray[np.floating], size: Size) -> Image.Image:
    """Return opacities in [0, 1] as a mask of a picture's size."""
    levels = np.asarray(shares * 255.0, dtype=np.float32)
    mask = Image.fromarray(as_pixels(levels))
    return mask if mask.size == size else mask.resize(size, Image.Resampling.BILINEAR)
