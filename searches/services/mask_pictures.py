"""Paints masks as one transparent picture that lies over the scene."""

import io
from collections.abc import Sequence

import numpy as np
from PIL import Image

from vlmlab.core.scenes.mask_checks import checked_mask
from vlmlab.core.scenes.masks import decode_mask

COLOURS = ((11, 99, 117), (184, 134, 11), (106, 44, 145), (140, 58, 30), (222, 106, 148), (38, 43, 42))
OPACITY = 140


def paint_masks(masks: Sequence[str], *, width: int, height: int) -> bytes:
    """Return a PNG of a picture's size: each mask in a colour of its own, the rest transparent.

    Raises:
        ValueError: a mask is not one of this size.
    """
    image = np.zeros((height, width, 4), np.uint8)
    for number, counts in enumerate(masks):
        checked = checked_mask(
            {"size": [height, width], "counts": counts}, width=width, height=height
        )  # a decoder that is given wrong lengths shows what lies in memory
        shown = decode_mask(checked, width=width, height=height)
        image[shown] = (*COLOURS[number % len(COLOURS)], OPACITY)
    out = io.BytesIO()
    Image.fromarray(image).save(out, "PNG")
    return out.getvalue()
