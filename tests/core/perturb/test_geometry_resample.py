"""Pictures and masks after a warp, beside a slow and obvious resampling."""

import numpy as np
import pytest

from tests.core.perturb.image_cases import flat, rng
from vlmlab.core.perturb.geometry import Displacement, Warp, tilt
from vlmlab.core.perturb.geometry_resample import check_masks, warped_image, warped_masks
from vlmlab.core.perturb.image_geometry import bending, rotation

NOISE = rng().integers(0, 256, (24, 32, 3), dtype=np.uint8)
WARPS = {
    "matrix": Warp(tilt((32, 24), degrees=30.0, direction=0.7)),
    "field": bending(40.0, rng(), (32, 24)),
    "both": Warp(rotation(10.0, rng(), (32, 24)).matrix, bending(40.0, rng(), (32, 24)).displacement),
}


def slow_warp(image, warp, *, fill):
    """Return each pixel from the four around its source, one after the other."""
    height, width = image.shape[:2]
    result = np.empty(image.shape)
    backward = np.linalg.inv(warp.matrix)
    for row in range(height):
        for column in range(width):
            place = np.array([column + 0.5, row + 0.5])
            if warp.displacement is not None:
                place += [warp.displacement.right[row, column], warp.displacement.down[row, column]]
            x, y, scale = backward @ [*place, 1.0]
            x, y = x / scale, y / scale
            if not (0.0 <= x < width and 0.0 <= y < height):
                result[row, column] = fill
                continue
            x, y = np.clip(x - 0.5, 0.0, width - 1.0), np.clip(y - 0.5, 0.0, height - 1.0)
            left, top = int(x), int(y)
            right, low = min(left + 1, width - 1), min(top + 1, height - 1)
            upper = image[top, left] * (1.0 - x + left) + image[top, right] * (x - left)
            lower = image[low, left] * (1.0 - x + left) + image[low, right] * (x - left)
            result[row, column] = upper * (1.0 - y + top) + lower * (y - top)
    return result


@pytest.mark.parametrize("name", WARPS)
def test_a_picture_is_interpolated_between_its_pixels(name):
    fill = np.rint(NOISE.reshape(-1, 3).mean(axis=0))

    moved = warped_image(NOISE, WARPS[name])

    # Places are exact to a 256th of a pixel, so a difference of 255 is off by about two levels.
    assert np.abs(moved - slow_warp(NOISE, WARPS[name], fill=fill)).max() <= 2.5


@pytest.mark.parametrize("name", WARPS)
def test_masks_take_the_pixel_that_the_picture_is_taken_from(name):
    marks = NOISE[..., 0] > 128
    picture = np.where(marks, np.uint8(255), np.uint8(0))[..., None].repeat(3, axis=2)

    (moved,) = warped_masks(marks[None], WARPS[name])

    reference = slow_warp(picture, WARPS[name], fill=0.0)[..., 0]
    assert moved[reference > 250.0].all()
    assert not moved[reference < 5.0].any()


def test_what_comes_from_outside_has_the_mean_colour():
    picture = flat(0, height=10, width=20)
    picture[:, :5] = (200, 100, 40)
    away = Warp(displacement=Displacement(np.full((10, 20), 99, np.float32), np.zeros((10, 20), np.float32)))
    matrix = Warp(np.array([[1.0, 0.0, 99.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))

    for warp in (away, matrix):
        assert (warped_image(picture, warp) == (50, 25, 10)).all()
        assert not warped_masks(np.ones((1, 10, 20), bool), warp).any()


def test_a_field_of_zeros_moves_nothing():
    still = Warp(displacement=Displacement(np.zeros((24, 32), np.float32), np.zeros((24, 32), np.float32)))

    assert (warped_image(NOISE, still) == NOISE).all()


def test_a_shift_by_whole_pixels_is_exact():
    field = Displacement(np.full((24, 32), 3, np.float32), np.full((24, 32), -2, np.float32))

    moved = warped_image(NOISE, Warp(displacement=field))

    assert (moved[2:, :-3] == NOISE[:-2, 3:]).all()


@pytest.mark.parametrize("masks", [np.ones((4, 4), bool), np.ones((1, 4, 4)), np.ones((1, 0, 4), bool)])
def test_other_masks_are_refused(masks):
    with pytest.raises(ValueError, match="masks must be"):
        check_masks(masks)
