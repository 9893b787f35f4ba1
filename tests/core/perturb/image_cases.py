"""Pictures for tests of the operators: shipped ones made small, and ones whose pixels are known."""

from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image

from vlmlab.core.perturb.image_layers import LayerOperator
from vlmlab.core.perturb.image_operator import Quantity
from vlmlab.core.seeding import rng_for

POOL = Path(__file__).resolve().parents[3] / "vlmlab" / "assets" / "warehouse_pool"
ODD_SHAPES = ((1, 1), (1, 7), (5, 1), (2, 3), (3, 90))


@cache
def small_pictures(count):
    """Return shipped pictures at 80 x 60."""
    paths = sorted(POOL.glob("*.jpg"))[:count]
    return [np.array(Image.open(path).convert("RGB").resize((80, 60))) for path in paths]


@cache
def photograph():
    """Return one shipped picture at 224 x 168; tests must not write to it."""
    picture = np.array(Image.open(min(POOL.glob("*.jpg"))).convert("RGB").resize((224, 168)))
    picture.flags.writeable = False
    return picture


def flat(level, *, height=84, width=112):
    """Return a picture of one grey, or of one colour."""
    return np.full((height, width, 3), level, dtype=np.uint8)


def laid(draw_layer, image, amount, generator):
    """Return a picture behind a layer."""
    return LayerOperator("layer", "weather", Quantity("amount", "", amount), "", draw_layer).apply(
        image, 1.0, generator
    )


def distance(first, second):
    """Return the root mean square difference in levels."""
    return float(np.sqrt(np.mean((first.astype(np.float64) - second) ** 2)))


def rng(name="test", seed=0):
    return rng_for(seed, name)
