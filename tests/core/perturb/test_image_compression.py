"""JPEG and coarse pixels, beside Pillow's own settings and hand-made blocks."""

import io

import numpy as np
import pytest
from PIL import Image

from tests.core.perturb.image_cases import flat, photograph, rng
from vlmlab.core.perturb.image_compression import jpeg_compression, pixelate


@pytest.mark.parametrize("quality", [10, 25, 50, 75])
def test_the_quantiser_is_the_quality_of_usual_encoders(quality):
    buffer = io.BytesIO()
    Image.fromarray(photograph()).save(buffer, "JPEG", quality=quality, subsampling="4:2:0")
    quantiser = 50 / quality if quality < 50 else 2 - quality / 50

    stored = jpeg_compression(photograph(), quantiser, rng())

    # Encoders round the tables' steps down or up; ours are within one step of them.
    assert np.abs(stored.astype(int) - np.asarray(Image.open(buffer))).mean() < 0.6


def test_jpeg_keeps_a_flat_grey():
    assert np.abs(jpeg_compression(flat(77), 8.0, rng()).astype(int) - 77).max() <= 16


def test_pixelate_averages_blocks():
    picture = flat(0, height=336, width=448)
    picture[:, ::2] = 200
    picture[:168] = 50

    coarse = pixelate(picture, 2.0, rng())

    assert (coarse[168:] == 100).all()
    assert (coarse[:168] == 50).all()


def test_pixelate_makes_blocks_of_its_side():
    picture = rng().integers(0, 256, (336, 448, 3), dtype=np.uint8)

    coarse = pixelate(picture, 4.0, rng())

    blocks = coarse.reshape(84, 4, 112, 4, 3)
    assert (blocks == blocks[:, :1, :, :1]).all()
    assert blocks[:, 0, :, 0] == pytest.approx(picture.reshape(84, 4, 112, 4, 3).mean(axis=(1, 3)), abs=1.0)


def test_blocks_grow_with_the_picture():
    small, large = flat(0, height=168, width=168), flat(0, height=672, width=672)

    counts = [
        len(np.unique(pixelate(rng().integers(0, 256, picture.shape, dtype=np.uint8), 5.0, rng())[0], axis=0))
        for picture in (small, large)
    ]

    # Blocks of 1 + 4 / 2 = 3 and of 1 + 4 * 2 = 9 pixels.
    assert counts == [56, 75]
