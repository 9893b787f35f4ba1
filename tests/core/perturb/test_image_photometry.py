"""Light and colour, beside hand-worked levels."""

import numpy as np
import pytest

from tests.core.perturb.image_cases import flat, laid, photograph, rng
from vlmlab.core.perturb.image_photometry import brightness, contrast, hue_shift, saturate, shadow


def test_a_stop_doubles_the_light_and_white_stays_white():
    assert brightness(flat(100), 1.0, rng())[0, 0].tolist() == [round(100 * 2 ** (1 / 2.2))] * 3
    assert brightness(flat(230), 1.0, rng())[0, 0].tolist() == [255] * 3
    assert brightness(flat(0), 3.0, rng()).max() == 0


def test_contrast_draws_levels_towards_the_mean_of_their_channel():
    picture = flat(0, height=2, width=2)
    picture[0], picture[1] = (200, 100, 10), (100, 0, 10)

    paler = contrast(picture, 0.5, rng())

    assert paler[:, 0].tolist() == [[175, 75, 10], [125, 25, 10]]


def test_saturate_moves_colours_away_from_grey():
    grey, reddish = saturate(flat(90), 5.0, rng()), saturate(flat((120, 100, 100)), 1.0, rng())

    assert (grey == 90).all()
    # Luma 0.299 * 120 + 0.701 * 100 = 106; twice as far from it.
    assert reddish[0, 0].tolist() == [134, 94, 94]


def test_hue_shift_keeps_greys_and_turns_red_into_another_primary():
    seen = {
        tuple(hue_shift(flat((210, 30, 30)), 120.0, rng("hue", seed))[0, 0].tolist()) for seed in range(12)
    }

    assert seen == {(30, 210, 30), (30, 30, 210)}
    assert (hue_shift(flat(140), 77.0, rng()) == 140).all()


def test_hue_shift_by_half_a_turn_is_the_same_either_way():
    assert hue_shift(flat((120, 100, 90)), 180.0, rng())[0, 0].tolist() == [87, 107, 117]


@pytest.mark.parametrize("seed", range(5))
def test_a_shadow_takes_its_share_of_the_light_from_a_part(seed):
    shaded = laid(shadow, flat(200), 0.5, rng("shadow", seed))

    dark = round(200 * 0.5 ** (1 / 2.2))
    assert set(np.unique(shaded)) <= set(range(dark - 1, 201))
    assert 0.1 < (shaded[..., 0] <= dark + 1).mean() < 0.9


def test_a_deeper_shadow_is_darker_everywhere_in_it():
    weak, strong = (laid(shadow, photograph(), darkness, rng()).astype(int) for darkness in (0.2, 0.7))

    assert (strong <= weak + 1).all()
    assert (weak <= photograph()).all()
