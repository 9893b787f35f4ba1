"""Random fields that operators share: normal numbers, smooth noise, steps."""

import math
from functools import cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
from PIL import Image

from vlmlab.core.perturb.image_operator import Pixels, Size, pixels_per_unit

Field = npt.NDArray[np.float32]
_STEPS = 1 << 16


@cache
def _normal_quantiles() -> Field:
    """Return 65,536 equally likely values of the standard normal distribution, in order."""
    normal = NormalDist()
    upper = [normal.inv_cdf((step + 0.5) / _STEPS) for step in range(_STEPS // 2, _STEPS)]
    values = np.array([-value for value in reversed(upper)] + upper, dtype=np.float32)
    values.flags.writeable = False
    return values


def standard_normals(rng: np.random.Generator, shape: tuple[int, ...]) -> Field:
    """Return independent standard normal numbers, exact to the 65,536th quantile.

    A look-up costs a quarter of an exact draw, and a picture has only 256 levels to show the difference.
    """
    return _normal_quantiles()[rng.integers(0, _STEPS, shape, dtype=np.uint16)]


def as_pixels(values: Field) -> Pixels:
    """Return levels rounded and clipped to 0..255; the argument is overwritten."""
    values += np.float32(0.5)
    np.clip(values, 0.0, 255.0, out=values)
    return values.astype(np.uint8)


def enlarged(grid: Field, shape: tuple[int, int]) -> Field:
    """Return a coarse field stretched smoothly (bicubic) over ``(height, width)`` pixels."""
    height, width = shape
    return np.array(Image.fromarray(grid).resize((width, height), Image.Resampling.BICUBIC))


def smooth_noise(rng: np.random.Generator, shape: tuple[int, int], *, cell: float) -> Field:
    """Return a smooth random field.

    Args:
        rng: what draws the field's values at the corners of cells.
        shape: height and width of the field.
        cell: the side of a square cell, in the field's pixels.

    Returns:
        ``(height, width)`` with mean about 0 and variance below 1.
    """
    rows, columns = (max(2, math.ceil(side / cell) + 1) for side in shape)
    return enlarged(rng.standard_normal((rows, columns), dtype=np.float32), shape)


def coarse_shape(size: Size, step: float) -> tuple[int, int]:
    """Return height and width of a field that has one value every ``step`` reference pixels.

    Smooth layers are made at this size and enlarged once; at most 512 values a side are needed.
    """
    width, height = size
    pixels = max(step * pixels_per_unit(size), max(size) / 512.0, 1.0)
    return max(1, round(height / pixels)), max(1, round(width / pixels))


def mean_colour(image: Image.Image) -> tuple[float, float, float]:
    """Return the mean of each channel of a picture, from its histogram."""
    counts = np.array(image.histogram(), dtype=np.float64).reshape(3, 256)
    red, green, blue = (counts @ np.arange(256.0) / counts.sum(axis=1)).tolist()
    return red, green, blue


def smooth_step(values: npt.NDArray[np.floating]) -> Field:
    """Return 0 below 0, 1 above 1, and a smooth rise between (3 x^2 - 2 x^3)."""
    clipped = np.clip(values, 0.0, 1.0)
    return np.asarray(clipped * clipped * (3.0 - 2.0 * clipped), dtype=np.float32)
