"""Fields that operators share: sizes, steps, means."""

import numpy as np
import pytest
from PIL import Image

from tests.core.perturb.image_cases import photograph, rng
from vlmlab.core.perturb.image_fields import as_pixels, coarse_shape, mean_colour, smooth_noise, smooth_step


def test_as_pixels_rounds_and_clips():
    levels = np.array([-3.0, 0.4, 0.6, 254.4, 254.6, 900.0], dtype=np.float32)

    assert as_pixels(levels).tolist() == [0, 0, 1, 254, 255, 255]


def test_coarse_shapes_grow_with_the_picture_up_to_512_a_side():
    assert coarse_shape((448, 336), 2.0) == (168, 224)
    assert coarse_shape((4480, 3360), 2.0) == (168, 224)
    assert coarse_shape((10_000, 100), 1.0) == (5, 512)
    assert coarse_shape((1, 1), 2.0) == (1, 1)


def test_smooth_step_rises_between_0_and_1():
    assert smooth_step(np.array([-1.0, 0.0, 0.25, 0.5, 1.0, 7.0])).tolist() == [0, 0, 0.15625, 0.5, 1, 1]


def test_smooth_noise_changes_little_within_a_cell_and_much_over_several():
    field = smooth_noise(rng(), (200, 300), cell=40.0)

    near, far = (np.abs(field[:, step:] - field[:, :-step]).mean() for step in (2, 120))
    assert field.shape == (200, 300)
    assert near < 0.15 * far


def test_mean_colour_is_the_mean_of_each_channel():
    picture = photograph()

    assert mean_colour(Image.fromarray(picture)) == pytest.approx(picture.reshape(-1, 3).mean(axis=0))
