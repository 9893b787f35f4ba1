"""Blur: a soft lens, a lens out of focus, a camera that moves sideways or forward during the exposure."""

import math

import numpy as np
from PIL import Image, ImageFilter

from vlmlab.core.perturb.image_fields import Field, as_pixels
from vlmlab.core.perturb.image_operator import Pixels, Quantity, pixels_per_unit, size_of
from vlmlab.core.perturb.image_pixelwise import PixelOperator

_ZOOM_DOUBLINGS = 5
_SMALL_DISC = 2.5  # pixels that a disc keeps at least when the picture is scaled down for it


def gaussian_blur(image: Pixels, sigma: float, _rng: np.random.Generator) -> Pixels:
    """Blur with a bell of ``sigma`` reference pixels (three box filters, which come close to it)."""
    radius = sigma * pixels_per_unit(size_of(image))
    return np.array(Image.fromarray(image).filter(ImageFilter.GaussianBlur(radius)))


def defocus_blur(image: Pixels, radius: float, _rng: np.random.Generator) -> Pixels:
    """Spread each point over a disc of ``radius`` reference pixels with a soft edge.

    Large discs are spread in a picture that is scaled down until they are small: they leave nothing that
    would need more. Scaling blurs too, so the disc is made as much smaller (its spread is a quarter of its
    radius squared).
    """
    length = radius * pixels_per_unit(size_of(image))
    factor = max(1, int(length / _SMALL_DISC))
    if factor == 1:
        return _spread(image, _disc(length))
    height, width = image.shape[:2]
    small = np.asarray(Image.fromarray(image).reduce(factor))
    # In small pixels: the mean over a block, and the triangles between their centres.
    scaling = (1.0 - 1.0 / factor**2) / 12.0 + 1.0 / 6.0
    shorter = math.sqrt(((length + 0.5) / factor) ** 2 - 4.0 * scaling) - 0.5
    blurred = Image.fromarray(_spread(small, _disc(shorter)))
    # A last block that is not full stands for less than a whole pixel.
    frame = (0.0, 0.0, width / factor, height / factor)
    return np.array(blurred.resize((width, height), Image.Resampling.BILINEAR, box=frame))


def _spread(image: Pixels, kernel: Field) -> Pixels:
    """Return a picture convolved with a symmetric kernel of odd sides, through the spectrum."""
    from scipy import fft  # imported late: it costs a web process time and memory

    height, width = image.shape[:2]
    margin = kernel.shape[0] // 2
    size = [fft.next_fast_len(side + 2 * margin, real=True) for side in (height, width)]
    channels = np.zeros((3, *size), dtype=np.float32)
    for channel, band in zip(channels, Image.fromarray(image).split(), strict=True):
        framed = np.pad(np.asarray(band), margin, mode="edge")
        channel[: framed.shape[0], : framed.shape[1]] = framed
    weights = np.zeros(size, dtype=np.float32)
    weights[: kernel.shape[0], : kernel.shape[1]] = kernel
    spectrum = fft.rfft2(channels, overwrite_x=True)
    # A kernel that is symmetric around the origin has a real spectrum, which halves the work.
    spectrum *= fft.rfft2(np.roll(weights, (-margin, -margin), axis=(0, 1))).real
    blurred = fft.irfft2(spectrum, s=size, overwrite_x=True)
    inner = as_pixels(blurred[:, margin : margin + height, margin : margin + width])
    return np.array(Image.merge("RGB", [Image.fromarray(band) for band in inner]))


def _disc(radius: float) -> Field:
    """Return the weights of a disc whose edge falls to 0 over one pixel; a radius of 0 is the identity."""
    margin = math.ceil(radius)
    steps = np.arange(-margin, margin + 1, dtype=np.float32)
    weights = np.clip(radius + 1.0 - np.hypot(steps[:, None], steps[None, :]), 0.0, 1.0)
    return np.asarray(weights / weights.sum(), dtype=np.float32)


def motion_blur(image: Pixels, length: float, rng: np.random.Generator) -> Pixels:
    """Average a picture over a straight path of ``length`` reference pixels in a drawn direction."""
    unit = pixels_per_unit(size_of(image))
    angle = rng.uniform(0.0, math.pi)
    step = max(1.0, unit / 2.0)  # pixels between two exposures
    half = length * unit / (2.0 * step)
    whole = math.floor(half)
    margin = math.ceil((whole + 1) * step)
    framed = np.pad(image, ((margin, margin), (margin, margin), (0, 0)), mode="edge").astype(np.uint16)

    def shifted(number: int) -> np.ndarray[tuple[int, int, int], np.dtype[np.uint16]]:
        right = margin + round(number * step * math.cos(angle))
        down = margin + round(number * step * math.sin(angle))
        return framed[down : down + image.shape[0], right : right + image.shape[1]]

    total = shifted(0).copy()
    for number in range(1, whole + 1):
        total += shifted(number)
        total += shifted(-number)
    values = total.astype(np.float32)
    # The path's two ends count as far as it reaches beyond the last whole step.
    values += (shifted(whole + 1) + shifted(-whole - 1)) * np.float32(half - whole)
    values *= np.float32(1.0 / (2.0 * half + 1.0))
    return as_pixels(values)


def zoom_blur(image: Pixels, zoom: float, _rng: np.random.Generator) -> Pixels:
    """Average a picture over enlargements from 1 to ``1 + zoom``, in equal ratios.

    The mean of 2 n enlargements is the mean of n and of the same, enlarged: five rounds make 32 of them.
    """
    height, width = image.shape[:2]
    ratio = (1.0 + zoom) ** (1.0 / ((1 << _ZOOM_DOUBLINGS) - 1))
    mean = image
    for doubling in range(_ZOOM_DOUBLINGS):
        cut = 0.5 - 0.5 / ratio ** (1 << doubling)
        frame = (width * cut, height * cut, width * (1.0 - cut), height * (1.0 - cut))
        near = Image.fromarray(mean).resize((width, height), Image.Resampling.BILINEAR, box=frame)
        total = mean.astype(np.uint16)
        total += np.asarray(near)
        total += np.uint16(doubling % 2)  # halves are rounded up and down in turn
        mean = (total >> np.uint16(1)).astype(np.uint8)
    return mean


BLUR_OPERATORS = (
    PixelOperator(
        "defocus_blur",
        "blur",
        Quantity("radius", "radius of the disc in reference pixels", 12.0),
        "A lens out of focus: every point becomes a disc.",
        defocus_blur,
    ),
    PixelOperator(
        "gaussian_blur",
        "blur",
        Quantity("sigma", "standard deviation in reference pixels", 8.0),
        "A soft lens: every point becomes a bell.",
        gaussian_blur,
    ),
    PixelOperator(
        "motion_blur",
        "blur",
        Quantity("length", "length of the path in reference pixels", 64.0),
        "The camera moves sideways while the shutter is open.",
        motion_blur,
    ),
    PixelOperator(
        "zoom_blur",
        "blur",
        Quantity("zoom", "enlargement during the exposure, less 1", 0.5),
        "The camera moves forward while the shutter is open.",
        zoom_blur,
    ),
)
