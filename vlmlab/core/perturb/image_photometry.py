"""Light and colour: exposure, contrast, saturation, hue, and a shadow across the scene."""

import math

import numpy as np
from PIL import Image, ImageEnhance

from vlmlab.core.perturb.image_fields import mean_colour, smooth_step
from vlmlab.core.perturb.image_layers import Layer, LayerOperator, as_mask
from vlmlab.core.perturb.image_operator import Pixels, Quantity, Size
from vlmlab.core.perturb.image_pixelwise import PixelOperator

_GAMMA = 2.2  # sRGB, near enough: levels are the 2.2th root of light
_PENUMBRA = 0.04  # of the diagonal


def brightness(image: Pixels, stops: float, _rng: np.random.Generator) -> Pixels:
    """Expose ``stops`` longer: light doubles with each, and what is brighter than white is white."""
    levels = np.arange(256) * 2.0 ** (stops / _GAMMA)
    table = np.minimum(np.rint(levels), 255.0).astype(np.uint8)
    return np.array(Image.fromarray(image).point(table.tolist() * 3))


def contrast(image: Pixels, loss: float, _rng: np.random.Generator) -> Pixels:
    """Draw all levels towards the mean of their channel by a share ``loss`` of the way."""
    picture = Image.fromarray(image)
    means = np.array(mean_colour(picture))[:, None]
    tables = np.rint(means + (1.0 - loss) * (np.arange(256) - means))
    return np.array(picture.point(tables.astype(np.uint8).ravel().tolist()))


def saturate(image: Pixels, excess: float, _rng: np.random.Generator) -> Pixels:
    """Move each colour away from the grey of the same luma: ``1 + excess`` times as far."""
    return np.array(ImageEnhance.Color(Image.fromarray(image)).enhance(1.0 + excess))


def hue_shift(image: Pixels, degrees: float, rng: np.random.Generator) -> Pixels:
    """Turn all colours about the axis of greys, one way or the other; greys stay."""
    angle = math.radians(degrees) * (1.0 if rng.random() < 0.5 else -1.0)
    same = math.cos(angle) + (1.0 - math.cos(angle)) / 3.0
    mixed = (1.0 - math.cos(angle)) / 3.0
    turn = math.sin(angle) / math.sqrt(3.0)
    before, after = mixed - turn, mixed + turn
    matrix = (same, before, after, 0.0, after, same, before, 0.0, before, after, same, 0.0)
    return np.array(Image.fromarray(image).convert("RGB", matrix))


def shadow(size: Size, darkness: float, rng: np.random.Generator) -> Layer:
    """Take a share ``darkness`` of the light from a strip with soft edges across the picture."""
    width, height = size
    diagonal = math.hypot(height, width)
    angle, breadth = rng.uniform(0.0, math.pi), rng.uniform(0.3, 0.5) * diagonal
    x = rng.uniform(0.3, 0.7) * width
    y = rng.uniform(0.3, 0.7) * height
    across = (
        (np.arange(width, dtype=np.float32) + 0.5 - x)[None, :] * math.cos(angle)
        + (np.arange(height, dtype=np.float32) + 0.5 - y)[:, None] * math.sin(angle)
    ).astype(np.float32)
    shaded = smooth_step(0.5 + (breadth / 2.0 - np.abs(across)) / np.float32(_PENUMBRA * diagonal))
    levels = (1.0 - darkness * shaded) ** np.float32(1.0 / _GAMMA)
    return Layer(as_mask(1.0 - levels, size), (0, 0, 0))


PHOTOMETRY_OPERATORS = (
    PixelOperator(
        "brightness",
        "photometry",
        Quantity("stops", "stops of exposure", 3.0),
        "Overexposure: bright parts lose their detail.",
        brightness,
    ),
    PixelOperator(
        "contrast",
        "photometry",
        Quantity("loss", "share of the contrast that is lost", 0.96),
        "Everything drawn towards the mean colour.",
        contrast,
    ),
    PixelOperator(
        "saturate",
        "photometry",
        Quantity("excess", "distance from grey, as a factor less 1", 20.0, power=2.0),
        "Colours as loud as the screen can show.",
        saturate,
    ),
    PixelOperator(
        "hue_shift",
        "photometry",
        Quantity("angle", "degrees about the axis of greys", 180.0),
        "Wrong colours: red becomes green or blue.",
        hue_shift,
    ),
    LayerOperator(
        "shadow",
        "photometry",
        Quantity("darkness", "share of the light that is missing in the shadow", 0.95),
        "A broad shadow across the scene.",
        shadow,
    ),
)
