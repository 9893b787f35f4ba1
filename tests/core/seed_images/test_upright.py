"""Turning by EXIF orientation: what Pillow does to pixels, ours does to masks and boxes."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageOps

from tests.core.seed_images.sources import photograph, saved
from vlmlab.core.seed_images.upright import stored_orientation, upright_corners, upright_pixels


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
@pytest.mark.parametrize("turn", range(1, 9))
def test_the_orientation_of_a_file_is_read(form, turn):
    assert stored_orientation(photograph(form=form, turn=turn)) == turn


@pytest.mark.parametrize("value", [0, 9, 65535])
def test_an_orientation_that_does_not_exist_turns_nothing(value):
    assert stored_orientation(photograph(form="JPEG", turn=value)) == 1
    assert stored_orientation(saved(Image.new("RGB", (9, 9)), "BMP")) == 1


@given(st.integers(1, 8), st.integers(1, 9), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_masks_turn_as_pillow_turns_pixels(turn, width, height, seed):
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width), np.uint8)
    image = Image.open(io.BytesIO(saved(Image.fromarray(pixels), "PNG", turn=turn)))

    assert (upright_pixels(pixels, orientation=turn) == np.asarray(ImageOps.exif_transpose(image))).all()


@given(st.integers(1, 8), st.integers(1, 30), st.integers(1, 30), st.data())
def test_a_box_covers_the_pixels_that_its_mask_covers(turn, width, height, data):
    x_min, x_max = sorted((data.draw(st.integers(0, width)), data.draw(st.integers(0, width))))
    y_min, y_max = sorted((data.draw(st.integers(0, height)), data.draw(st.integers(0, height))))
    stored = np.zeros((height, width), np.bool_)
    stored[y_min:y_max, x_min:x_max] = True

    box = upright_corners((x_min, y_min, x_max, y_max), orientation=turn, width=width, height=height)

    left, top, right, bottom = (int(side) for side in box)
    wanted = np.zeros_like(upright_pixels(stored, orientation=turn))
    wanted[top:bottom, left:right] = True
    assert (upright_pixels(stored, orientation=turn) == wanted).all()
