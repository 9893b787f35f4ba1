"""How alike two pictures look on several scales: MS-SSIM, stripe by stripe and without a GPU."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
PixelArray = npt.NDArray[np.uint8]
Plane = PixelArray | FloatArray

SCALE_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)
"""Weights of the scales, finest first (Wang, Simoncelli and Bovik 2003, section 3.2); used as printed, with
the sum 1.0001, so that values agree with those of other implementations."""
WINDOW = 11
WINDOW_SIGMA = 1.5
LUMINANCE_CONSTANT = (0.01 * 255.0) ** 2
CONTRAST_CONSTANT = (0.03 * 255.0) ** 2
_BLOCK = 32  # rows and columns filtered at a time: what they need stays in the processor's cache


def ms_ssim(a: PixelArray, b: PixelArray) -> float:
    """Return the multi-scale structural similarity of two pictures of one size.

    The measure of Wang, Simoncelli and Bovik (2003), for each colour channel, averaged over the channels: a
    change of colour alone counts too. Windows are Gaussian (11 px, sigma 1.5) and stay inside the picture;
    each next scale holds the means of 2 x 2 pixels, without a last odd row or column. Means over windows that
    are negative, such as those of a negative, count as 0.

    Below 176 px on the shorter side the coarsest scales have no room for a window: they are left out, and
    the weights of the others are raised to the sum 1. Below 11 px the window is as large as the largest odd
    number of pixels that fits.

    Args:
        a: ``(height, width, channels)`` or ``(height, width)`` uint8.
        b: the same shape.

    Returns:
        A value in [0, 1], 1 for equal pictures, the same for ``(b, a)``.

    Raises:
        ValueError: shapes differ, a picture has no pixel, or the values are not uint8.
    """
    first, second = _planes("a", a), _planes("b", b)
    if a.shape != b.shape:
        raise ValueError(f"a and b must have the same shape, got {a.shape} and {b.shape}")
    if np.array_equal(a, b):
        return 1.0
    window = _window(min(a.shape[:2]))
    values = [_plane_similarity(one, other, window) for one, other in zip(first, second, strict=True)]
    return float(np.clip(np.mean(values), 0.0, 1.0))


def scale_weights(height: int, width: int) -> tuple[float, ...]:
    """Return the weights of the scales a picture has room for, finest first; fewer than 5 add up to 1."""
    side, count = min(height, width), 1
    while count < len(SCALE_WEIGHTS) and side >> count >= WINDOW:
        count += 1
    if count == len(SCALE_WEIGHTS):
        return SCALE_WEIGHTS
    total = sum(SCALE_WEIGHTS[:count])
    return tuple(weight / total for weight in SCALE_WEIGHTS[:count])


def _planes(name: str, pixels: PixelArray) -> list[PixelArray]:
    if pixels.ndim not in (2, 3) or pixels.dtype != np.uint8 or pixels.size == 0:
        raise ValueError(f"{name} must be (height, width, channels) uint8, got {pixels.shape} {pixels.dtype}")
    return [pixels] if pixels.ndim == 2 else [pixels[:, :, channel] for channel in range(pixels.shape[2])]


def _window(side: int) -> tuple[float, ...]:
    """Return the Gaussian weights of a window that fits into ``side`` pixels; their sum is 1."""
    reach = (min(WINDOW, side) - 1) // 2
    weights = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2.0 * WINDOW_SIGMA**2))
    return tuple(float(weight) for weight in weights / weights.sum())


def _plane_similarity(first: Plane, second: Plane, window: tuple[float, ...]) -> float:
    """Return the measure of one channel: contrast and structure on each scale, luminance on the last."""
    weights = scale_weights(*first.shape)
    value = 1.0
    for number, weight in enumerate(weights):
        if number:
            first, second = _halved(first), _halved(second)
        whole, structure = _mean_similarities(first, second, window)
        mean = whole if number == len(weights) - 1 else structure
        value *= max(0.0, mean) ** weight
    return value


def _halved(plane: Plane) -> FloatArray:
    height, width = (side // 2 * 2 for side in plane.shape)
    even = plane[:height, :width]
    halved = even[::2, ::2].astype(np.float64)
    for part in (even[::2, 1::2], even[1::2, ::2], even[1::2, 1::2]):
        halved += part
    halved /= 4.0
    return halved


def _mean_similarities(first: Plane, second: Plane, window: tuple[float, ...]) -> tuple[float, float]:
    """Return the means over all windows of luminance x contrast x structure, and of contrast x structure."""
    height, width = first.shape
    reach = len(window) - 1
    whole = structure = 0.0
    for top in range(0, height - reach, _BLOCK):
        rows = slice(top, min(top + _BLOCK, height - reach) + reach)
        luminances, contrasts = _stripe_similarities(
            first[rows].astype(np.float64), second[rows].astype(np.float64), window
        )
        whole += float((luminances * contrasts).sum())
        structure += float(contrasts.sum())
    count = (height - reach) * (width - reach)
    return whole / count, structure / count


def _stripe_similarities(
    first: FloatArray, second: FloatArray, window: tuple[float, ...]
) -> tuple[FloatArray, FloatArray]:
    """Return luminance and contrast x structure of every window in a stripe of rows.

    Local variances are needed only as their sum, so four filtered maps do instead of five.
    """
    maps = np.stack((first, second, first * first + second * second, first * second))
    mean_first, mean_second, mean_squares, mean_product = _filtered(maps, window)
    product = mean_first * mean_second
    squares = mean_first * mean_first + mean_second * mean_second
    luminances = (2.0 * product + LUMINANCE_CONSTANT) / (squares + LUMINANCE_CONSTANT)
    contrasts = (2.0 * (mean_product - product) + CONTRAST_CONSTANT) / (
        mean_squares - squares + CONTRAST_CONSTANT
    )
    return luminances, contrasts


def _filtered(maps: FloatArray, window: tuple[float, ...]) -> FloatArray:
    """Return maps ``(k, rows, columns)`` as weighted means over every window that lies inside.

    One direction after the other, and by products with banded matrices, which take a quarter of the time of
    sums of shifted arrays.
    """
    reach = len(window) - 1
    rows, columns = maps.shape[1] - reach, maps.shape[2] - reach
    upright = np.matmul(_band(window, rows), maps)
    filtered = np.empty((len(maps), rows, columns))
    for left in range(0, columns, _BLOCK):
        right = min(left + _BLOCK, columns)
        np.matmul(
            upright[:, :, left : right + reach],
            _band(window, right - left).T,
            out=filtered[:, :, left:right],
        )
    return filtered


@lru_cache(maxsize=128)
def _band(window: tuple[float, ...], count: int) -> FloatArray:
    """Return ``(count, count + len(window) - 1)``: each row holds the window, one place further on."""
    band = np.zeros((count, count + len(window) - 1))
    for row in range(count):
        band[row, row : row + len(window)] = window
    band.flags.writeable = False
    return band
