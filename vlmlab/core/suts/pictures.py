"""Pictures as they are sent: never larger than a provider takes, so that nobody else scales them."""

from dataclasses import dataclass

import numpy as np
from PIL import Image

from vlmlab.core.errors import ImageError
from vlmlab.core.images import decode_png, encode_png, png_size


@dataclass(frozen=True)
class SentPicture:
    """A picture as the provider gets it.

    Attributes:
        png: 8-bit sRGB PNG bytes.
        size: width and height in pixels.
    """

    png: bytes
    size: tuple[int, int]


def fit_picture(png: bytes, longest_side: int) -> SentPicture:
    """Return a picture whose longer side has at most so many pixels, with its aspect kept.

    A picture that fits is returned byte for byte; another one is averaged down with a Lanczos filter.

    Args:
        png: canonical picture.
        longest_side: most pixels, at least 1.

    Raises:
        ImageError: the bytes are no readable picture.
    """
    size = png_size(png)
    if min(size) < 1:
        raise ImageError("A stored picture has no pixels.", hint="Restore it from a backup.")
    fitted = fitted_size(size, longest_side)
    if fitted == size:
        return SentPicture(png, size)
    scaled = Image.fromarray(decode_png(png)).resize(fitted, Image.Resampling.LANCZOS)
    return SentPicture(encode_png(np.asarray(scaled, dtype=np.uint8)), fitted)


def fitted_size(size: tuple[int, int], longest_side: int) -> tuple[int, int]:
    """Return the width and height that a picture is sent with: at least one pixel each.

    Raises:
        ValueError: a side or the limit is less than 1.
    """
    if min(*size, longest_side) < 1:
        raise ValueError(f"sizes must be at least 1, got {size} and {longest_side}")
    longer = max(size)
    if longer <= longest_side:
        return size
    width, height = (max(1, round(side * longest_side / longer)) for side in size)
    return width, height
