"""Operators that change pixels where they are, built from one function each."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vlmlab.core.perturb.image_operator import ImageOperator, Pixels


@dataclass(frozen=True)
class PixelOperator(ImageOperator):
    """An operator that leaves every thing in its place.

    Attributes:
        perturb: picture, value of the quantity and generator to the perturbed picture.
    """

    perturb: Callable[[Pixels, float, np.random.Generator], Pixels]

    def _perturb(self, image: Pixels, amount: float, rng: np.random.Generator) -> Pixels:
        return self.perturb(image, amount, rng)
