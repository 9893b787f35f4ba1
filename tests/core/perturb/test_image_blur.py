"""Blur spreads points as it says, beside direct sums."""

import math

import numpy as np
import pytest
from scipy import ndimage

from tests.core.perturb.image_cases import flat, photograph, rng
from vlmlab.core.perturb.image_blur import defocus_blur, gaussian_blur, motion_blur, zoom_blur

BLURS = {"defocus": defocus_blur, "gaussian": gaussian_blur, "motion": motion_blur, "zoom": zoom_blur}
NOISE = rng().integers(0, 256, (336, 448, 3), dtype=np.uint8)[100:160, 100:180]


def point(level=255, *, side=336):
    """Return black with one bright square of 3 x 3 in the middle."""
    picture = flat(0, height=side, width=side)
    middle = side // 2
    picture[middle - 1 : middle + 2, middle - 1 : middle + 2] = level
    return picture


@pytest.mark.parametrize("name", BLURS)
@pytest.mark.parametrize("level", [0, 3, 128, 254, 255])
def test_a_flat_picture_stays_flat(name, level):
    for amount in (0.3, 4.0, 30.0):
        blurred = BLURS[name](flat(level), amount if name != "zoom" else amount / 60.0, rng())

        assert np.abs(blurred.astype(int) - level).max() <= 1


def test_defocus_is_a_sum_over_a_disc():
    picture = np.tile(NOISE, (6, 5, 1))[:336, :400]

    blurred = defocus_blur(picture, 3.5, rng())

    steps = np.arange(-4, 5)
    disc = np.clip(4.5 - np.hypot(steps[:, None], steps[None, :]), 0.0, 1.0)
    direct = ndimage.convolve(picture[..., 0].astype(float), disc / disc.sum(), mode="nearest")
    assert blurred[..., 0] == pytest.approx(direct, abs=0.51)


@pytest.mark.parametrize("radius", [5.0, 6.0, 7.4, 10.5, 17.0])
def test_large_discs_in_a_small_picture_come_close_to_the_sum(radius):
    picture = photograph()[:, :, :1].repeat(2, axis=0).repeat(2, axis=1).repeat(3, axis=2)

    blurred = defocus_blur(picture, radius, rng())

    steps = np.arange(-math.ceil(radius), math.ceil(radius) + 1)
    disc = np.clip(radius + 1.0 - np.hypot(steps[:, None], steps[None, :]), 0.0, 1.0)
    direct = ndimage.convolve(picture[..., 0].astype(float), disc / disc.sum(), mode="nearest")
    assert np.sqrt(np.mean((blurred[..., 0] - direct) ** 2)) < 1.0


def test_gaussian_blur_has_its_spread():
    blurred = gaussian_blur(point(), 5.0, rng())[..., 0].astype(float)

    along = blurred.sum(axis=0) / blurred.sum()
    places = np.arange(336) - 168
    assert (along * places**2).sum() == pytest.approx(25.0 + 2.0 / 3.0, rel=0.1)


def test_motion_blur_spreads_a_point_along_a_line_of_its_length():
    blurred = motion_blur(point(), 40.0, rng())[..., 0].astype(float)

    rows, columns = np.nonzero(blurred)
    weights = blurred[rows, columns]
    spread = np.linalg.eigvalsh(np.cov(np.stack([columns, rows]), aweights=weights))
    # A line of 40 pixels has a variance of 40^2 / 12; across it there is only the point itself.
    assert spread[1] == pytest.approx(40.0**2 / 12.0, rel=0.08)
    assert spread[0] < 1.5


def test_motion_blur_grows_without_steps():
    edge = flat(0, height=336, width=448)
    edge[:, 224:] = 240

    reach = [
        np.abs(motion_blur(edge, length, rng()).astype(float) - edge).sum() for length in (3.0, 3.1, 3.2)
    ]

    assert reach[0] < reach[1] < reach[2] < 1.15 * reach[0]


def test_zoom_blur_keeps_the_centre_and_smears_the_border():
    picture = flat(0, height=336, width=336)
    picture[166:170, 166:170] = 255
    picture[20:24, 166:170] = 255

    blurred = zoom_blur(picture, 0.3, rng())[..., 0]

    assert blurred[167:169, 167:169].min() > 200
    assert blurred[:30, 160:176].max() < 60


def test_zoom_blur_is_the_mean_of_32_enlargements():
    picture = ndimage.gaussian_filter(photograph().astype(float), (2, 2, 0)).astype(np.uint8)
    height, width = picture.shape[:2]
    rows, columns = np.mgrid[:height, :width] + 0.5
    total = np.zeros((height, width))
    for number in range(32):
        factor = 1.25 ** (number / 31)
        y, x = (
            (rows - height / 2) / factor + height / 2 - 0.5,
            (columns - width / 2) / factor + width / 2 - 0.5,
        )
        total += ndimage.map_coordinates(picture[..., 1].astype(float), [y, x], order=1, mode="nearest")

    blurred = zoom_blur(picture, 0.25, rng())[..., 1]

    assert np.abs(blurred - total / 32).mean() < 1.0
