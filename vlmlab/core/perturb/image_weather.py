"""Weather between the scene and the lens: fog, rain and snow, and the sun in the lens."""

import math

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFilter

from vlmlab.core.perturb.image_fields import coarse_shape, smooth_noise
from vlmlab.core.perturb.image_layers import Layer, LayerOperator, as_mask
from vlmlab.core.perturb.image_operator import Quantity, Size, pixels_per_unit

FloatArray = npt.NDArray[np.float64]

_AIR_LIGHT = (226, 230, 234)
_RAIN_LIGHT = (206, 212, 218)
_SNOW_LIGHT = (246, 248, 252)
_SUN_LIGHT = (255, 247, 226)
_REFERENCE_AREA = 448 * 336
_LARGEST_AREA = 4.0  # in reference pictures; keeps a picture of a single row from millions of drops
_RAIN_VEIL = 0.6  # optical depth of the heaviest rain
_STREAKS = 900
_SNOW_VEIL = 1.8
_FLAKES = 800


def fog(size: Size, depth: float, rng: np.random.Generator) -> Layer:
    """Mix each pixel with the light of the air: ``exp(-depth)`` of its own is left, in swaths of fog."""
    shape = coarse_shape(size, 8.0)
    side = min(shape)
    swaths = smooth_noise(rng, shape, cell=side / 2.0) + 0.5 * smooth_noise(rng, shape, cell=side / 5.0)
    thickness = depth * np.exp(0.35 * np.clip(swaths, -2.0, 2.0))
    return Layer(as_mask(1.0 - np.exp(-thickness), size), _AIR_LIGHT)


def rain(size: Size, rate: float, rng: np.random.Generator) -> Layer:
    """Draw streaks of a common slant and a veil; both grow with ``rate``, and drops stay where they were."""
    width, height = size
    unit = pixels_per_unit(size)
    slant = rng.uniform(-0.35, 0.35)
    veil = 1.0 - math.exp(-_RAIN_VEIL * rate)
    canvas = Image.new("L", (width, height), round(255 * veil))
    draw = ImageDraw.Draw(canvas)
    drops = rng.random((_count(_STREAKS, size), 4))
    lengths = (8.0 + 26.0 * drops[:, 2] ** 2) * unit
    left, top = drops[:, 0] * (width + lengths) - lengths / 2.0, drops[:, 1] * (height + lengths) - lengths
    right, bottom = left + lengths * (slant + 0.04 * (drops[:, 3] - 0.5)), top + lengths
    ends = np.stack([left, top, right, bottom], axis=1)
    breadth = max(1, round(1.2 * unit))
    for end, level in _fallen(ends, 0.45 + 0.4 * drops[:, 3], rate=rate, veil=veil):
        draw.line(end, fill=level, width=breadth)
    return Layer(canvas.filter(ImageFilter.GaussianBlur(0.5 * unit)), _RAIN_LIGHT)


def snow(size: Size, rate: float, rng: np.random.Generator) -> Layer:
    """Draw flakes, few of them near and large, and a white veil; both grow with ``rate``."""
    width, height = size
    unit = pixels_per_unit(size)
    veil = 1.0 - math.exp(-_SNOW_VEIL * rate)
    canvas = Image.new("L", (width, height), round(255 * veil))
    draw = ImageDraw.Draw(canvas)
    flakes = rng.random((_count(_FLAKES, size), 4))
    radii = (1.0 + 1.5 * flakes[:, 2] + 4.0 * flakes[:, 2] ** 12) * unit
    x, y = flakes[:, 0] * width, flakes[:, 1] * height
    ends = np.stack([x - radii, y - radii, x + radii, y + radii], axis=1)
    for end, level in _fallen(ends, 0.75 + 0.25 * flakes[:, 3], rate=rate, veil=veil):
        draw.ellipse(end, fill=level)
    return Layer(canvas.filter(ImageFilter.GaussianBlur(0.8 * unit)), _SNOW_LIGHT)


def sun_glare(size: Size, strength: float, rng: np.random.Generator) -> Layer:
    """Add the glare of a low sun at a drawn place in the upper half: a core, a halo and a veil."""
    width, height = size
    rows, columns = coarse_shape(size, 4.0)
    x, y = rng.uniform(0.1, 0.9) * width, rng.uniform(0.05, 0.4) * height
    across = (np.arange(columns, dtype=np.float32) + 0.5) * np.float32(width / columns) - np.float32(x)
    down = (np.arange(rows, dtype=np.float32) + 0.5) * np.float32(height / rows) - np.float32(y)
    distance = np.hypot(across[None, :], down[:, None]) / np.float32(math.hypot(height, width))
    core, halo = np.exp(-((distance / 0.06) ** 2)), 1.0 / (1.0 + (distance / 0.14) ** 2)
    light = strength * (2.0 * core + halo)
    return Layer(as_mask(1.0 - np.exp(-light), size), _SUN_LIGHT)


def _count(per_reference: int, size: Size) -> int:
    """Return how many drops of heaviest weather fall before a picture of this shape."""
    area = size[0] * size[1] / pixels_per_unit(size) ** 2 / _REFERENCE_AREA
    return math.ceil(per_reference * min(area, _LARGEST_AREA))


def _fallen(
    ends: FloatArray, opacities: FloatArray, *, rate: float, veil: float
) -> list[tuple[tuple[float, float, float, float], int]]:
    """Return the first of all drops, a share ``rate`` of them, with their levels on the mask.

    A drop hides what the veil before it has left. The first drop comes last, so that it is drawn over the
    others and stays as it is when more fall.
    """
    count = math.ceil(rate * len(ends))
    corners = [(row[0], row[1], row[2], row[3]) for row in ends[:count].tolist()]
    levels = np.rint(255.0 * (1.0 - (1.0 - veil) * (1.0 - opacities[:count]))).astype(int).tolist()
    return list(zip(corners, levels, strict=True))[::-1]


SKY_OPERATORS = (
    LayerOperator(
        "fog",
        "weather",
        Quantity("depth", "mean optical depth: exp(-depth) of the scene's light is left", 2.0, power=1.5),
        "Fog in swaths.",
        fog,
    ),
    LayerOperator(
        "rain",
        "weather",
        Quantity("rate", "share of the heaviest rain's drops", 1.0),
        "Streaks of rain and a grey veil.",
        rain,
    ),
    LayerOperator(
        "snow",
        "weather",
        Quantity("rate", "share of the heaviest snow's flakes", 1.0),
        "Falling flakes and a white veil.",
        snow,
    ),
    LayerOperator(
        "sun_glare",
        "weather",
        Quantity("strength", "light of the glare's halo, as an optical depth", 4.0),
        "A low sun in the lens.",
        sun_glare,
    ),
)
