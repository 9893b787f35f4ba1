"""Pictures are scaled down on our side, once, and keep their aspect."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tests.doubles import paint_png
from vlmlab.core.errors import ImageError
from vlmlab.core.images import encode_png
from vlmlab.core.suts.pictures import fit_picture, fitted_size


@pytest.mark.parametrize(
    ("size", "longest", "fitted"),
    [
        ((448, 336), 1568, (448, 336)),
        ((2000, 1000), 1000, (1000, 500)),
        ((1000, 2000), 1000, (500, 1000)),
        ((1600, 900), 1568, (1568, 882)),
        ((3000, 2), 100, (100, 1)),
        ((1, 5000), 64, (1, 64)),
    ],
)
def test_fitted_size(size, longest, fitted):
    assert fitted_size(size, longest) == fitted


@given(st.integers(1, 9000), st.integers(1, 9000), st.integers(1, 9000))
def test_a_fitted_size_is_never_larger_and_keeps_its_aspect(width, height, longest):
    fitted = fitted_size((width, height), longest)

    assert max(fitted) == min(longest, max(width, height))
    assert abs(fitted[0] * height - fitted[1] * width) <= 0.5 * max(width, height) + max(width, height)


def test_a_picture_that_fits_is_sent_byte_for_byte():
    png = paint_png((1, 2, 3), width=100, height=50)

    sent = fit_picture(png, 100)

    assert sent.png is png
    assert sent.size == (100, 50)


def test_a_large_picture_is_averaged_down_without_aliasing():
    stripes = np.zeros((64, 256, 3), dtype=np.uint8)
    stripes[:, ::2] = 255

    sent = fit_picture(encode_png(stripes), 64)

    with Image.open(io.BytesIO(sent.png)) as picture:
        pixels = np.asarray(picture)
        assert (picture.format, picture.mode, picture.size) == ("PNG", "RGB", (64, 16))
    assert sent.size == (64, 16)
    assert np.abs(pixels.astype(int) - 127).max() <= 16


def test_the_same_picture_gives_the_same_bytes():
    png = paint_png((9, 8, 7), width=300, height=200)

    assert fit_picture(png, 77).png == fit_picture(png, 77).png


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GIF89a",
        paint_png((1, 2, 3))[:20],
        b"\x89PNG\r\n\x1a\n" + bytes(16),
        paint_png((1, 2, 3), width=999)[:60],
    ],
)
def test_what_is_no_picture_is_refused(data):
    with pytest.raises(ImageError):
        fit_picture(data, 100)
