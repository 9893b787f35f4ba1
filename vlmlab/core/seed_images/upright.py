"""Pictures that their EXIF data turn, and where their boxes and masks go."""

import io
import struct
import warnings
import zlib
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from PIL import Image

from vlmlab.core.images import ALLOWED_FORMATS
from vlmlab.core.seed_images.pictures import Corners

ORIENTATION_TAG = 0x0112
UNTURNED = 1
FLIPS_X = frozenset({2, 3, 7, 8})
FLIPS_Y = frozenset({3, 4, 6, 7})
SWAPS_SIDES = frozenset({5, 6, 7, 8})
"""What has to be done to the stored picture, in this order: mirror x, mirror y, swap both."""

PNG_MARKS = (b"eXIf", b"XML:com.adobe.xmp", b"Raw profile type")
"""Where none of them stands, a PNG has no EXIF data; looking for them otherwise decodes the picture."""

DAMAGE = (
    OSError, SyntaxError, ValueError, EOFError, IndexError, KeyError, TypeError, struct.error, zlib.error
)  # fmt: skip
Pixel = TypeVar("Pixel", bound=np.generic)


def stored_orientation(data: bytes) -> int:
    """Return the EXIF orientation, 1 to 8, of a picture that ``read_image`` accepts; 1 without one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with Image.open(io.BytesIO(data), formats=ALLOWED_FORMATS) as image:
            if image.format == "PNG" and not any(mark in data for mark in PNG_MARKS):
                return UNTURNED
            try:
                found = image.getexif().get(ORIENTATION_TAG, UNTURNED)
            except DAMAGE:  # as where pictures are read: damaged metadata only loses the orientation
                return UNTURNED
    return found if isinstance(found, int) and 1 <= found <= 8 else UNTURNED


def upright_corners(box: Corners, *, orientation: int, width: int, height: int) -> Corners:
    """Return where a box of the stored picture lies in the upright one.

    Args:
        box: x_min, y_min, x_max, y_max in pixels of the stored picture.
        orientation: of EXIF, 1 to 8.
        width: of the stored picture.
        height: of the stored picture.
    """
    x_min, y_min, x_max, y_max = box
    corners = [_upright_point(x, y, orientation, width, height) for x, y in ((x_min, y_min), (x_max, y_max))]
    (first_x, first_y), (second_x, second_y) = corners
    return min(first_x, second_x), min(first_y, second_y), max(first_x, second_x), max(first_y, second_y)


def _upright_point(x: float, y: float, orientation: int, width: int, height: int) -> tuple[float, float]:
    if orientation in FLIPS_X:
        x = width - x
    if orientation in FLIPS_Y:
        y = height - y
    return (y, x) if orientation in SWAPS_SIDES else (x, y)


def upright_pixels(pixels: npt.NDArray[Pixel], *, orientation: int) -> npt.NDArray[Pixel]:
    """Return the upright form of a stored ``(height, width)`` array, such as a mask."""
    if orientation in FLIPS_X:
        pixels = pixels[:, ::-1]
    if orientation in FLIPS_Y:
        pixels = pixels[::-1]
    return np.ascontiguousarray(pixels.T if orientation in SWAPS_SIDES else pixels)
