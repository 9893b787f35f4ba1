"""Pictures like those of the registration's calibration, so that the shipped model can be calibrated."""

import io

import numpy as np
from PIL import Image

from tools.pocket.shards import PictureRecord, Pixels, SeenObject, resized
from vlmlab.core.replies.probe_pictures import probe_pictures

FIRST_SEED = 9_000


def rectangle_pictures(
    seeds: int, *, side: int, first: int = FIRST_SEED
) -> tuple[Pixels, list[PictureRecord]]:
    """Return 20 pictures a seed with one rectangle each, resized to the model's input.

    Args:
        seeds: how many seeds; none of them is one that a calibration uses.
        side: of the model's input in pixels.
        first: the first seed.
    """
    pictures, records = [], []
    for seed in range(first, first + seeds):
        for one in probe_pictures(seed):
            whole = np.asarray(Image.open(io.BytesIO(one.image_png)).convert("RGB"))
            name = f"{one.colour} rectangle"
            x0, y0, x1, y1 = one.box
            box = (x0 / one.width, y0 / one.height, x1 / one.width, y1 / one.height)
            pictures.append(resized(whole, side))
            records.append(PictureRecord("probe", (), seed, (SeenObject("", name, name, True, box),)))
    return np.stack(pictures), records
