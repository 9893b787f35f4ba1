"""Noise of the sensor: thermal, photon, dead pixels, and multiplicative."""

import numpy as np

from vlmlab.core.perturb.image_fields import as_pixels, standard_normals
from vlmlab.core.perturb.image_operator import Pixels, Quantity
from vlmlab.core.perturb.image_pixelwise import PixelOperator

_IMPULSE_STEPS = 1 << 15


def gaussian_noise(image: Pixels, sigma: float, rng: np.random.Generator) -> Pixels:
    """Add normal noise with a standard deviation of ``sigma``, as a share of full scale, to each sample."""
    values = standard_normals(rng, image.shape)
    values *= np.float32(255.0 * sigma)
    values += image
    return as_pixels(values)


def speckle_noise(image: Pixels, sigma: float, rng: np.random.Generator) -> Pixels:
    """Multiply each sample by a normal number around 1 with a standard deviation of ``sigma``."""
    values = standard_normals(rng, image.shape)
    values *= np.float32(sigma)
    values += np.float32(1.0)
    values *= image
    return as_pixels(values)


def shot_noise(image: Pixels, darkness: float, rng: np.random.Generator) -> Pixels:
    """Count photons: white sends ``1 / darkness`` of them to a sample on average.

    Counts are Poisson by the first Cornish-Fisher term, ``m + sqrt(m) z + (z^2 - 1) / 6``, rounded: exact in
    mean, variance and skewness for many photons, and one normal number a sample at every severity.
    """
    z = standard_normals(rng, image.shape)
    expected = image * np.float32(1.0 / (255.0 * darkness))
    counts = np.sqrt(expected)
    counts *= z
    counts += expected
    z *= z
    z -= np.float32(1.0)
    z *= np.float32(1.0 / 6.0)
    counts += z
    np.rint(counts, out=counts)
    counts *= image > 0  # black sends nothing
    counts *= np.float32(255.0 * darkness)
    return as_pixels(counts)


def impulse_noise(image: Pixels, share: float, rng: np.random.Generator) -> Pixels:
    """Replace a share of the samples by black or white, each as likely as the other."""
    drawn = rng.integers(0, 2 * _IMPULSE_STEPS, image.shape, dtype=np.uint16)
    extreme = (drawn & np.uint16(1)).astype(np.uint8)
    extreme *= np.uint8(255)
    return np.where(drawn < np.uint16(round(share * _IMPULSE_STEPS) * 2), extreme, image)


NOISE_OPERATORS = (
    PixelOperator(
        "gaussian_noise",
        "noise",
        Quantity("sigma", "standard deviation as a share of full scale", 0.4),
        "Normal noise of the same strength everywhere, as of a warm sensor.",
        gaussian_noise,
    ),
    PixelOperator(
        "shot_noise",
        "noise",
        Quantity("darkness", "1 / photons that a white sample counts", 0.36, power=2.0),
        "Few photons: noise that grows with the root of the light.",
        shot_noise,
    ),
    PixelOperator(
        "impulse_noise",
        "noise",
        Quantity("share", "share of the samples that are black or white", 0.3),
        "Salt and pepper: samples that are stuck at black or white.",
        impulse_noise,
    ),
    PixelOperator(
        "speckle_noise",
        "noise",
        Quantity("sigma", "standard deviation of the factor on each sample", 0.65),
        "Noise that grows with the light, as in radar and ultrasound.",
        speckle_noise,
    ),
)
