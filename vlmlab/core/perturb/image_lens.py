"""What sits on the lens: frost that grows from the border, and splashes of mud."""

import numpy as np
from PIL import Image

from vlmlab.core.perturb.image_fields import (
    as_mask,
    as_pixels,
    coarse_shape,
    painted,
    smooth_noise,
    smooth_step,
)
from vlmlab.core.perturb.image_operator import Pixels, Quantity
from vlmlab.core.perturb.image_pixelwise import PixelOperator

_MUD = (78, 64, 50)
_MUD_OPACITY = 0.92
_ICE_OPACITY = 0.85


def frost(image: Pixels, reach: float, rng: np.random.Generator) -> Pixels:
    """Cover the lens with ice from its border inwards.

    Args:
        image: the picture.
        reach: how far the ice has come, as a share of the way from the border to the centre (in which its
            front is ragged by up to half of that way).
        rng: draws the front and the crystals.
    """
    rows, columns = coarse_shape(image, 2.0)
    side = min(rows, columns)
    ragged = smooth_noise(rng, (rows, columns), cell=side / 5.0)
    needles = smooth_noise(rng, (rows, columns), cell=side / 14.0)
    grains = smooth_noise(rng, (rows, columns), cell=side / 60.0)
    ridges = np.exp(-4.0 * np.abs(needles)) + 0.6 * np.exp(
        -3.0 * np.abs(grains)
    )  # bright where a field turns
    depth = _depth(rows, columns) + 0.5 / (1.0 + np.exp(-2.0 * ragged))
    grown = smooth_step(np.asarray((reach - depth) / 0.35, dtype=np.float32))
    shine = np.clip(ridges, 0.0, 1.0)
    mask = as_mask(np.asarray(_ICE_OPACITY * grown * (0.6 + 0.4 * shine), dtype=np.float32), image)
    grey = Image.fromarray(as_pixels(np.asarray(168.0 + 84.0 * shine, dtype=np.float32)))
    bluish = Image.merge("RGB", (grey.point(_shaded(0.93)), grey.point(_shaded(0.98)), grey))
    return painted(image, bluish.resize(mask.size, Image.Resampling.BILINEAR), mask=mask)


def _depth(rows: int, columns: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Return 0 at the border and 1 in the centre."""
    down = 1.0 - np.abs(2.0 * (np.arange(rows, dtype=np.float32) + 0.5) / rows - 1.0)
    across = 1.0 - np.abs(2.0 * (np.arange(columns, dtype=np.float32) + 0.5) / columns - 1.0)
    return np.asarray(np.minimum(down[:, None], across[None, :]), dtype=np.float32)


def _shaded(factor: float) -> list[int]:
    return [round(level * factor) for level in range(256)]


def spatter(image: Pixels, share: float, rng: np.random.Generator) -> Pixels:
    """Cover a share of the lens with splashes of mud; each splash only grows."""
    rows, columns = coarse_shape(image, 2.0)
    side = min(rows, columns)
    swaths = smooth_noise(rng, (rows, columns), cell=side / 4.0)
    blobs = smooth_noise(rng, (rows, columns), cell=side / 16.0)
    dirt = blobs + 0.7 * swaths + 0.35 * smooth_noise(rng, (rows, columns), cell=side / 40.0)
    edge = np.quantile(dirt, 1.0 - share)
    covered = smooth_step(np.asarray((dirt - edge) / 0.25, dtype=np.float32))
    return painted(image, _MUD, mask=as_mask(np.float32(_MUD_OPACITY) * covered, image))


LENS_OPERATORS = (
    PixelOperator(
        "frost",
        "weather",
        Quantity("reach", "way of the ice from the border to the centre and beyond its ragged front", 1.85),
        "Ice on the lens, growing from the border.",
        frost,
    ),
    PixelOperator(
        "spatter",
        "weather",
        Quantity("share", "share of the lens under mud", 0.5),
        "Splashes of mud on the lens.",
        spatter,
    ),
)
