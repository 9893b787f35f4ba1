"""Weather and what sits on the lens: only more of it with more severity, in the places where it was."""

from itertools import pairwise

import numpy as np
import pytest

from tests.core.perturb.image_cases import flat, laid, photograph, rng
from vlmlab.core.perturb.image_lens import LENS_OPERATORS, frost, spatter
from vlmlab.core.perturb.image_weather import SKY_OPERATORS, fog, rain, snow, sun_glare

BLACK = flat(0, height=168, width=224)
SMOOTH = {"fog": fog, "sun_glare": sun_glare, "frost": frost}
DROPS = {"rain": rain, "snow": snow}


@pytest.mark.parametrize("name", SMOOTH)
def test_before_black_every_pixel_only_becomes_brighter(name):
    strongest = {operator.name: operator.quantity.strongest for operator in (*SKY_OPERATORS, *LENS_OPERATORS)}
    amounts = np.array([0.1, 0.3, 0.6, 1.0]) * strongest[name]

    layers = [laid(SMOOTH[name], BLACK, amount, rng(name)).astype(int) for amount in amounts]

    for weaker, stronger in pairwise(layers):
        assert (stronger >= weaker - 1).all()
        assert stronger.mean() > weaker.mean()


@pytest.mark.parametrize("name", DROPS)
def test_drops_stay_where_they_were_when_more_fall(name):
    weak, strong = (laid(DROPS[name], BLACK, rate, rng(name))[..., 0].astype(int) for rate in (0.1, 0.5))

    drops = weak > np.median(weak) + 60
    assert 10 < drops.sum() < 0.2 * drops.size
    assert (strong[drops] > weak[drops] - 3).all()
    assert strong.mean() > weak.mean()


def test_fog_leaves_the_mean_share_of_contrast_that_its_depth_says():
    foggy = laid(fog, photograph(), 1.0, rng()).astype(float)

    assert foggy.std() < 0.75 * photograph().std()
    left = np.exp(-1.0)
    assert np.polyfit(photograph()[..., 1].ravel(), foggy[..., 1].ravel(), 1)[0] == pytest.approx(
        left, abs=0.12
    )


def test_thick_fog_has_the_colour_of_the_air():
    assert np.abs(laid(fog, BLACK, 50.0, rng()).reshape(-1, 3).mean(axis=0) - (226, 230, 234)).max() < 1.0


def test_the_glare_is_brightest_in_the_upper_half():
    for seed in range(8):
        glare = laid(sun_glare, BLACK, 0.5, rng("sun", seed)).sum(axis=2)

        assert np.unravel_index(glare.argmax(), glare.shape)[0] < 168 // 2


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
def test_spatter_covers_its_share_of_the_lens(share):
    dirty = laid(spatter, flat(255, height=168, width=224), share, rng())

    assert (dirty[..., 0] < 255).mean() == pytest.approx(share, abs=0.04)


def test_splashes_only_grow():
    weak, strong = (laid(spatter, flat(255), share, rng()).astype(int) for share in (0.1, 0.4))

    assert (strong <= weak + 1).all()


def test_frost_grows_from_the_border():
    icy = laid(frost, BLACK, 0.4, rng())[..., 0]

    border = np.concatenate([icy[:8].ravel(), icy[-8:].ravel(), icy[:, :8].ravel(), icy[:, -8:].ravel()])
    assert border.mean() > 3.0 * icy[60:108, 80:144].mean()
