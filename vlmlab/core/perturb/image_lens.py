"""What sits on the lens: frost that grows from the border, and splashes of mud."""

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFilter

from vlmlab.core.perturb.image_fields import (
    Field,
    as_pixels,
    coarse_shape,
    smooth_noise,
    smooth_step,
    standard_normals,
)
from vlmlab.core.perturb.image_layers import Layer, LayerOperator, as_mask
from vlmlab.core.perturb.image_operator import Quantity, Size

_MUD = (78, 64, 50)
_MUD_OPACITY = 0.92
_ICE_OPACITY, _NEEDLE_OPACITY = 0.68, 0.95
_CRYSTALS = 130
_BRANCHES = (0.25, 0.45, 0.65)  # where side needles start, along the needle

FloatArray = npt.NDArray[np.float64]


def frost(size: Size, reach: float, rng: np.random.Generator) -> Layer:
    """Cover the lens with ice from its border inwards.

    Args:
        size: width and height of the picture in pixels.
        reach: how far the ice has come, as a share of the way from the border to the centre (in which its
            front is ragged by up to half of that way).
        rng: draws the front and the crystals.
    """
    rows, columns = coarse_shape(size, 2.0)
    side = min(rows, columns)
    ragged = smooth_noise(rng, (rows, columns), cell=side / 5.0)
    shine = _crystals(rng, (rows, columns))
    depth = _depth(rows, columns) + 0.5 / (1.0 + np.exp(-2.0 * ragged))
    depth -= depth.min()  # the first ice appears at once
    grown = smooth_step((reach - depth) / 0.35)
    opacity = grown * (_ICE_OPACITY + (_NEEDLE_OPACITY - _ICE_OPACITY) * shine)
    grey = Image.fromarray(as_pixels(np.asarray(196.0 + 59.0 * shine, dtype=np.float32)))
    bluish = Image.merge("RGB", (grey.point(_shaded(0.93)), grey.point(_shaded(0.98)), grey))
    return Layer(as_mask(opacity, size), bluish.resize(size, Image.Resampling.BILINEAR))


def _crystals(rng: np.random.Generator, shape: tuple[int, int]) -> Field:
    """Return the shine of ice in [0, 1]: needles with side needles at 60 degrees, over fine grains."""
    rows, columns = shape
    draws = rng.random((_CRYSTALS, 4))
    base = draws[:, :2] * (columns, rows)
    angle = 2.0 * np.pi * draws[:, 2]
    axis = (
        np.stack([np.cos(angle), np.sin(angle)], axis=1) * ((0.05 + 0.2 * draws[:, 3]) * min(shape))[:, None]
    )
    turned = [_turned(axis, side * np.pi / 3.0) for side in (-1.0, 1.0)]
    canvas = Image.new("L", (columns, rows), 0)
    draw = ImageDraw.Draw(canvas)
    lines = [np.concatenate([base, base + axis], axis=1)]
    for part in _BRANCHES:
        root = base + part * axis
        lines += [np.concatenate([root, root + 0.7 * (1.0 - part) * branch], axis=1) for branch in turned]
    for x, y, end_x, end_y in np.concatenate(lines).tolist():
        draw.line((x, y, end_x, end_y), fill=255)
    needles = np.asarray(canvas.filter(ImageFilter.GaussianBlur(0.6)), dtype=np.float32) / np.float32(150.0)
    grains = 0.15 + 0.1 * standard_normals(rng, shape)
    return np.asarray(np.clip(needles + grains, 0.0, 1.0), dtype=np.float32)


def _turned(vectors: FloatArray, angle: float) -> FloatArray:
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return np.asarray(vectors @ turn, dtype=np.float64)


def _depth(rows: int, columns: int) -> Field:
    """Return 0 at the border and 1 in the centre."""
    down = 1.0 - np.abs(2.0 * (np.arange(rows, dtype=np.float32) + 0.5) / rows - 1.0)
    across = 1.0 - np.abs(2.0 * (np.arange(columns, dtype=np.float32) + 0.5) / columns - 1.0)
    return np.asarray(np.minimum(down[:, None], across[None, :]), dtype=np.float32)


def _shaded(factor: float) -> list[int]:
    return [round(level * factor) for level in range(256)]


def spatter(size: Size, share: float, rng: np.random.Generator) -> Layer:
    """Cover a share of the lens with splashes of mud; each splash only grows."""
    rows, columns = coarse_shape(size, 2.0)
    side = min(rows, columns)
    swaths = smooth_noise(rng, (rows, columns), cell=side / 4.0)
    blobs = smooth_noise(rng, (rows, columns), cell=side / 16.0)
    dirt = blobs + 0.7 * swaths + 0.35 * smooth_noise(rng, (rows, columns), cell=side / 40.0)
    edge = np.quantile(dirt, 1.0 - share)
    covered = smooth_step((dirt - edge) / 0.25)
    return Layer(as_mask(_MUD_OPACITY * covered, size), _MUD)


LENS_OPERATORS = (
    LayerOperator(
        "frost",
        "weather",
        Quantity("reach", "way of the ice from the border to the centre and beyond its ragged front", 1.6),
        "Ice on the lens, growing from the border.",
        frost,
    ),
    LayerOperator(
        "spatter",
        "weather",
        Quantity("share", "share of the lens under mud", 0.5, power=1.5),
        "Splashes of mud on the lens.",
        spatter,
    ),
)
