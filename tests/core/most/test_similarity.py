"""MS-SSIM against every window written out, against closed forms, and at its limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter, uniform_filter

from vlmlab.core.most.similarity import ms_ssim, scale_weights

WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)
C1, C2 = 6.5025, 58.5225  # (0.01 * 255)^2 and (0.03 * 255)^2


def picture(height, width, *, seed=0, channels=3):
    """A smooth picture with detail on every scale."""
    rng = np.random.default_rng(seed)
    parts = [gaussian_filter(rng.normal(0, 40 * s, (height, width, channels)), (s, s, 0)) for s in (1, 3, 8)]
    return np.clip(128 + sum(parts), 0, 255).astype(np.uint8)


def with_noise(pixels, amount, *, seed=1):
    noise = np.random.default_rng(seed).normal(0, amount, pixels.shape)
    return np.clip(pixels + noise, 0, 255).astype(np.uint8)


def windows_written_out(a, b):
    """Both means of one scale, from the definitions of mean, variance and covariance in each window."""
    offsets = np.arange(11) - 5
    kernel = np.exp(-(offsets[:, None] ** 2 + offsets[None, :] ** 2) / (2 * 1.5**2))
    kernel /= kernel.sum()
    whole, structure = [], []
    for top in range(a.shape[0] - 10):
        for left in range(a.shape[1] - 10):
            one, other = a[top : top + 11, left : left + 11], b[top : top + 11, left : left + 11]
            mean_one, mean_other = (kernel * one).sum(), (kernel * other).sum()
            var_one = (kernel * (one - mean_one) ** 2).sum()
            var_other = (kernel * (other - mean_other) ** 2).sum()
            covariance = (kernel * (one - mean_one) * (other - mean_other)).sum()
            structure.append((2 * covariance + C2) / (var_one + var_other + C2))
            luminance = (2 * mean_one * mean_other + C1) / (mean_one**2 + mean_other**2 + C1)
            whole.append(luminance * structure[-1])
    return np.mean(whole), np.mean(structure)


def written_out(a, b, scales):
    """The measure of one channel, in the words of the paper, with weights that add up to 1."""
    a, b, value = a.astype(float), b.astype(float), 1.0
    weights = np.array(WEIGHTS[:scales]) / sum(WEIGHTS[:scales])
    for number, weight in enumerate(weights, start=1):
        whole, structure = windows_written_out(a, b)
        value *= max(whole if number == scales else structure, 0) ** weight
        rows, columns = a.shape[0] // 2 * 2, a.shape[1] // 2 * 2
        a, b = (
            np.array([
                [plane[row : row + 2, column : column + 2].mean() for column in range(0, columns, 2)]
                for row in range(0, rows, 2)
            ])
            for plane in (a, b)
        )  # fmt: skip
    return value


@pytest.mark.parametrize(("height", "width", "scales"), [(11, 14, 1), (25, 23, 2), (47, 53, 3)])
def test_small_pictures_are_as_written_out_window_by_window(height, width, scales):
    a = picture(height, width, channels=2)
    b = with_noise(a, 12)
    b[: height // 2] = b[: height // 2] // 2 + 60

    expected = np.mean([written_out(a[:, :, channel], b[:, :, channel], scales) for channel in range(2)])

    assert ms_ssim(a, b) == pytest.approx(expected, abs=1e-10)


def test_large_pictures_are_as_the_recipe_with_whole_filters():
    a = picture(177, 211)
    b = with_noise(np.clip(a * 0.8 + 10, 0, 255).astype(np.uint8), 8)
    weights = np.array(WEIGHTS)
    values = []
    for channel in range(3):
        one, other, value = a[:, :, channel].astype(float), b[:, :, channel].astype(float), 1.0
        for number, weight in enumerate(weights, start=1):

            def local(x):
                return gaussian_filter(x, 1.5, radius=5)[5:-5, 5:-5]

            mean_one, mean_other = local(one), local(other)
            variances = local(one**2) - mean_one**2 + local(other**2) - mean_other**2
            structure = (2 * (local(one * other) - mean_one * mean_other) + C2) / (variances + C2)
            luminance = (2 * mean_one * mean_other + C1) / (mean_one**2 + mean_other**2 + C1)
            value *= (luminance * structure if number == 5 else structure).mean() ** weight
            rows, columns = one.shape[0] // 2 * 2, one.shape[1] // 2 * 2
            one, other = (uniform_filter(plane, 2, origin=-1)[:rows:2, :columns:2] for plane in (one, other))
        values.append(value)

    assert ms_ssim(a, b) == pytest.approx(np.mean(values), abs=1e-10)


@pytest.mark.parametrize(("height", "width"), [(1, 1), (1, 40), (10, 9), (11, 11), (60, 200), (176, 177)])
def test_equal_pictures_are_alike(height, width):
    a = np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)

    assert ms_ssim(a, a.copy()) == 1.0


@pytest.mark.parametrize(("first", "second"), [(0, 255), (100, 120), (0, 1)])
@pytest.mark.parametrize(("side", "scales"), [(176, 5), (175, 4), (88, 4), (43, 2), (15, 1), (3, 1)])
def test_flat_pictures_differ_in_luminance_on_the_last_scale_only(first, second, side, scales):
    a, b = (np.full((side, side + 40, 3), grey, dtype=np.uint8) for grey in (first, second))

    luminance = (2 * first * second + C1) / (first**2 + second**2 + C1)

    weight = WEIGHTS[4] if scales == 5 else WEIGHTS[scales - 1] / sum(WEIGHTS[:scales])
    assert ms_ssim(a, b) == pytest.approx(luminance**weight, rel=1e-9)


def test_weaker_contrast_around_one_mean_has_a_closed_form():
    # Columns of 0 and 200 by turns against 75 and 125, on one scale. The local variance is 200^2 p (1 - p)
    # with the weight p of one kind in a window; the covariance is a quarter, the other variance a sixteenth.
    stripes = np.where(np.arange(15) % 2, 200.0, 0.0)
    a = np.tile(stripes, (11, 1)).astype(np.uint8)[:, :, None]
    b = np.tile((stripes - 100) / 4 + 100, (11, 1)).astype(np.uint8)[:, :, None]
    offsets = np.arange(11) - 5
    kernel = np.exp(-(offsets**2) / (2 * 1.5**2))
    share = kernel[::2].sum() / kernel.sum()
    variance = 200**2 * share * (1 - share)
    mean = np.array([200 * share, 200 * (1 - share)])
    weaker = (mean - 100) / 4 + 100
    luminance = (2 * mean * weaker + C1) / (mean**2 + weaker**2 + C1)

    expected = (2 * variance / 4 + C2) / (variance + variance / 16 + C2)

    columns = np.array([luminance[(left + 1) % 2] for left in range(5)])
    assert ms_ssim(a, b) == pytest.approx(expected * columns.mean(), rel=1e-9)


def test_a_negative_is_clipped_to_zero():
    a = picture(180, 200)

    assert ms_ssim(a, 255 - a) == 0.0


def test_likeness_falls_with_noise():
    a = picture(120, 160)

    values = [ms_ssim(a, with_noise(a, amount)) for amount in (2, 8, 32, 128)]

    assert values == sorted(values, reverse=True)
    assert values[0] > 0.98
    assert values[-1] < 0.6


def test_a_change_of_colour_alone_counts():
    a = picture(60, 60)

    assert ms_ssim(a, a[:, :, ::-1]) < 0.9


def test_greys_may_come_without_channels():
    a, b = picture(50, 60, channels=1), picture(50, 60, seed=1, channels=1)

    assert ms_ssim(a[:, :, 0], b[:, :, 0]) == ms_ssim(a, b)


def test_pictures_taller_than_a_stripe_do_not_depend_on_its_height(monkeypatch):
    a = picture(97, 71)
    b = with_noise(a, 20)
    value = ms_ssim(a, b)

    monkeypatch.setattr("vlmlab.core.most.similarity._BLOCK", 7)

    assert ms_ssim(a, b) == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    ("side", "count"), [(1, 1), (11, 1), (21, 1), (22, 2), (43, 2), (44, 3), (88, 4), (175, 4), (176, 5)]
)
def test_weights_are_the_published_ones_or_those_of_the_scales_that_fit_with_the_sum_one(side, count):
    weights = scale_weights(side, 4_000)

    total = 1.0 if count == 5 else sum(WEIGHTS[:count])
    assert len(weights) == count
    assert weights == pytest.approx([weight / total for weight in WEIGHTS[:count]], abs=1e-15)
    assert weights == scale_weights(4_000, side)


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 1000))
def test_likeness_is_a_symmetric_share(height, width, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 256, (2, height, width, 3), dtype=np.uint8)

    value = ms_ssim(a, b)

    assert 0.0 <= value <= 1.0
    assert value == pytest.approx(ms_ssim(b, a), abs=1e-12)


@pytest.mark.parametrize(
    ("a", "b", "sentence"),
    [
        (np.zeros((4, 4, 3), np.uint8), np.zeros((4, 5, 3), np.uint8), "same shape"),
        (np.zeros((4, 4, 3)), np.zeros((4, 4, 3), np.uint8), "a must be"),
        (np.zeros((4, 4, 3), np.uint8), np.zeros((4, 4, 3)), "b must be"),
        (np.zeros((0, 4, 3), np.uint8), np.zeros((0, 4, 3), np.uint8), "a must be"),
        (np.zeros(4, np.uint8), np.zeros(4, np.uint8), "a must be"),
    ],
)
def test_what_is_no_pair_of_pictures_is_refused(a, b, sentence):
    with pytest.raises(ValueError, match=sentence):
        ms_ssim(a, b)
