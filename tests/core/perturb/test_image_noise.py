"""Noise has the strength it says, beside numpy's own generators."""

import numpy as np
import pytest

from tests.core.perturb.image_cases import flat, photograph, rng
from vlmlab.core.perturb.image_fields import standard_normals
from vlmlab.core.perturb.image_noise import gaussian_noise, impulse_noise, shot_noise, speckle_noise

GREY = flat(128, height=300, width=300)


def test_standard_normals_have_the_moments_of_a_normal_distribution():
    values = standard_normals(rng(), (400, 500)).astype(np.float64)

    assert values.mean() == pytest.approx(0.0, abs=0.01)
    assert values.std() == pytest.approx(1.0, abs=0.01)
    assert (values**4).mean() == pytest.approx(3.0, abs=0.08)


def test_gaussian_noise_has_its_standard_deviation():
    noisy = gaussian_noise(GREY, 0.1, rng())

    assert noisy.std() == pytest.approx(25.5, rel=0.01)
    assert noisy.mean() == pytest.approx(128.0, abs=0.2)


def test_speckle_noise_grows_with_the_light():
    dark, bright = (speckle_noise(flat(level, height=300, width=300), 0.2, rng()) for level in (0, 100))

    assert dark.max() == 0
    assert bright.std() == pytest.approx(20.0, rel=0.01)


@pytest.mark.parametrize("photons", [4.0, 20.0, 400.0])
def test_shot_noise_has_the_mean_and_the_spread_of_poisson_counts(photons):
    picture = flat(100, height=300, width=300)

    noisy = shot_noise(picture, 1.0 / photons, rng())

    counts = rng("peer").poisson(photons * 100 / 255, picture.shape)
    peer = np.minimum(np.rint(counts * 255 / photons), 255)
    assert noisy.mean() == pytest.approx(peer.mean(), rel=0.03)
    assert noisy.std() == pytest.approx(peer.std(), rel=0.04)


def test_shot_noise_counts_whole_photons_and_none_in_the_dark():
    noisy = shot_noise(GREY, 1.0 / 5.0, rng())

    assert set(np.unique(noisy)) <= {0, 51, 102, 153, 204, 255}
    assert shot_noise(flat(0), 0.3, rng()).max() == 0


def test_impulse_noise_replaces_its_share_by_black_and_white_alike():
    noisy = impulse_noise(GREY, 0.2, rng())

    assert (noisy == 0).mean() == pytest.approx(0.1, abs=0.005)
    assert (noisy == 255).mean() == pytest.approx(0.1, abs=0.005)
    assert ((noisy == 0) | (noisy == 255) | (noisy == 128)).all()


def test_impulse_noise_keeps_what_it_replaced_when_it_grows():
    weak, strong = (impulse_noise(photograph(), share, rng()) for share in (0.05, 0.25))

    replaced = weak != photograph()
    assert (strong[replaced] == weak[replaced]).all()
