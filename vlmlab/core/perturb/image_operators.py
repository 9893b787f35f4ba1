"""All operators on pictures in their physical order, and how several are applied to one picture."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from vlmlab.core.perturb.geometry import Warp, chained
from vlmlab.core.perturb.geometry_resample import warped_image
from vlmlab.core.perturb.image_blur import BLUR_OPERATORS
from vlmlab.core.perturb.image_compression import COMPRESSION_OPERATORS
from vlmlab.core.perturb.image_geometry import GEOMETRY_OPERATORS
from vlmlab.core.perturb.image_lens import LENS_OPERATORS
from vlmlab.core.perturb.image_noise import NOISE_OPERATORS
from vlmlab.core.perturb.image_operator import (
    ImageOperator,
    Pixels,
    Size,
    check_image,
    check_severity,
    size_of,
)
from vlmlab.core.perturb.image_photometry import PHOTOMETRY_OPERATORS
from vlmlab.core.perturb.image_weather import SKY_OPERATORS

# Asked for a generator by an operator's name; must give a fresh one in the same state every time.
RngOf = Callable[[str], np.random.Generator]

# From the scene to the file: what moves, light, weather, lens, optics, sensor, storage.
IMAGE_OPERATORS: Mapping[str, ImageOperator] = MappingProxyType(
    {
        operator.name: operator
        for operator in (
            *GEOMETRY_OPERATORS,
            *PHOTOMETRY_OPERATORS,
            *SKY_OPERATORS,
            *LENS_OPERATORS,
            *BLUR_OPERATORS,
            *NOISE_OPERATORS,
            *COMPRESSION_OPERATORS,
        )
    }
)


def perturb_image(image: Pixels, severities: Mapping[str, float], *, rng_of: RngOf) -> Pixels:
    """Return a picture under several operators, in their physical order.

    Geometric operators are one resampling together, so what one moves out of the frame another may move back,
    and pixels are interpolated once.

    Args:
        image: ``(height, width, 3)`` uint8, sRGB.
        severities: operator name to severity in [0, 1]; names that are left out are 0.
        rng_of: gives each operator's generator.

    Raises:
        ValueError: an unknown name, a severity outside [0, 1], or no such picture.
    """
    active = active_severities(severities)
    pixels = check_image(image)
    if any(name in active for name in _MOVING):
        perturbed = warped_image(pixels, strategy_warp(active, rng_of=rng_of, image_size=size_of(pixels)))
    else:
        perturbed = pixels.copy()
    for name, severity in active.items():
        if name not in _MOVING:
            perturbed = IMAGE_OPERATORS[name].apply(perturbed, severity, rng_of(name))
    return perturbed


def strategy_warp(severities: Mapping[str, float], *, rng_of: RngOf, image_size: Size) -> Warp:
    """Return where points go under the geometric operators of a strategy.

    Args:
        severities: operator name to severity; operators that move nothing are passed over.
        rng_of: gives each operator's generator.
        image_size: width and height in pixels.

    Raises:
        ValueError: an unknown name, or a severity outside [0, 1].
    """
    active = active_severities(severities)
    return chained(
        operator.warp(active[name], rng_of(name), image_size)
        for name, operator in _MOVING.items()
        if name in active
    )


def active_severities(severities: Mapping[str, float]) -> dict[str, float]:
    """Return the severities above 0 in the operators' physical order.

    Raises:
        ValueError: an unknown name, or a severity outside [0, 1].
    """
    unknown = sorted(set(severities) - set(IMAGE_OPERATORS))
    if unknown:
        raise ValueError(f"no image operator is called {', '.join(unknown)}")
    checked = {name: check_severity(severity) for name, severity in severities.items()}
    return {name: checked[name] for name in IMAGE_OPERATORS if checked.get(name, 0.0) > 0.0}


_MOVING = {operator.name: operator for operator in GEOMETRY_OPERATORS}
