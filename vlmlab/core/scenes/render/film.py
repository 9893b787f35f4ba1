"""From linear light to an 8-bit picture: glow, rain streaks, exposure, tone curve, grain."""

import numpy as np
import numpy.typing as npt

from vlmlab.core.scenes.render.atmosphere import Atmosphere
from vlmlab.core.scenes.render.filters import blur
from vlmlab.core.scenes.render.mesh import Floats
from vlmlab.core.scenes.render.tracing import Film

RAIN_COLOUR = np.array([0.85, 0.88, 0.92], np.float32)
GRAIN = 0.008
REFERENCE_WIDTH = 448


def _rain(shape: tuple[int, int], amount: float, rng: np.random.Generator) -> Floats:
    """Return ``(h, w)`` opacity of rain streaks; streaks scale with the picture."""
    height, width = shape
    zoom = width / REFERENCE_WIDTH
    count = int(2600 * amount * zoom)
    slant = rng.normal(0.12, 0.03)
    x, y = rng.random(count) * width, rng.random(count) * height
    length = rng.uniform(6, 26, count) * (0.5 + amount * 0.5) * zoom
    strength = rng.uniform(0.25, 1, count)
    steps = max(8, round(26 * zoom))
    along = np.linspace(0, 1, steps)[:, None]
    column = (x + slant * length * along).astype(np.int64)
    row = (y + length * along).astype(np.int64)
    inside = (column >= 0) & (column < width) & (row < height)
    weights = np.broadcast_to(strength * (0.05 * 26 / steps), column.shape)[inside]
    flat = np.bincount(row[inside] * width + column[inside], weights, minlength=height * width)
    return np.clip(flat, 0, 0.5).reshape(height, width).astype(np.float32)


def _tone(light: Floats) -> Floats:
    """Return display-linear values in about [0, 1] (the ACES fit of K. Narkowicz, 2015)."""
    above = light * (np.float32(2.51) * light + np.float32(0.03))
    below = light * (np.float32(2.43) * light + np.float32(0.59)) + np.float32(0.14)
    return (above / below).astype(np.float32, copy=False)


def develop(film: Film, atmosphere: Atmosphere, *, rng: np.random.Generator) -> npt.NDArray[np.uint8]:
    """Return the ``(h, w, 3)`` sRGB picture."""
    light: Floats = film.radiance
    height, width = light.shape[:2]
    if film.glow.max() > 0:
        zoom = width / REFERENCE_WIDTH
        small, large = max(1, round(3 * zoom)), max(2, round(9 * zoom))
        light = light + np.float32(0.25) * blur(film.glow, small) + np.float32(0.15) * blur(film.glow, large)
    if atmosphere.rain > 0:
        streaks = _rain((height, width), atmosphere.rain, rng)[..., None]
        light = light * (1 - streaks * np.float32(0.8)) + streaks * RAIN_COLOUR
    light = _tone(light * np.float32(atmosphere.exposure))
    y, x = (
        np.linspace(-1, 1, height, dtype=np.float32)[:, None],
        np.linspace(-1, 1, width, dtype=np.float32)[None],
    )
    light = light * (1 - np.float32(0.06) * (x**2 + y**2))[..., None]
    shown = np.clip(light, 0, 1) ** np.float32(1 / 2.2)
    shown += rng.standard_normal(shown.shape, dtype=np.float32) * np.float32(GRAIN)
    encoded: npt.NDArray[np.uint8] = (np.clip(shown, 0, 1) * 255 + np.float32(0.5)).astype(np.uint8)
    return encoded
