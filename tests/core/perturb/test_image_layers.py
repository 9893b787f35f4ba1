"""Layers before the scene: as opaque as they say, whatever the scene shows."""

import numpy as np
import pytest

from tests.core.perturb.image_cases import flat, photograph, rng
from vlmlab.core.perturb import IMAGE_OPERATORS
from vlmlab.core.perturb.image_layers import LayerOperator, as_mask

LAYERS = {name: each for name, each in IMAGE_OPERATORS.items() if isinstance(each, LayerOperator)}


def test_layers_are_the_operators_that_can_hide():
    hiding = [name for name, operator in IMAGE_OPERATORS.items() if operator.hides]

    assert hiding == list(LAYERS) == ["shadow", "fog", "rain", "snow", "sun_glare", "frost", "spatter"]


@pytest.mark.parametrize("name", LAYERS)
def test_the_opacity_is_the_share_of_the_scenes_light_that_is_lost(name):
    dark, bright = (
        LAYERS[name].apply(flat(level, height=60, width=80), 0.5, rng(name)).astype(float)
        for level in (0, 200)
    )

    opacity = LAYERS[name].opacity(0.5, rng(name), (80, 60))

    assert (bright - dark)[..., 0] == pytest.approx(200.0 * (1.0 - opacity), abs=1.5)
    assert opacity.dtype == np.float32


@pytest.mark.parametrize("name", LAYERS)
def test_there_is_no_opacity_at_severity_0(name):
    opacity = LAYERS[name].opacity(0.0, rng(), (8, 6))

    assert opacity.shape == (6, 8)
    assert not opacity.any()


def test_opacity_refuses_what_apply_refuses():
    with pytest.raises(ValueError, match="severity must be in"):
        LAYERS["fog"].opacity(2.0, rng(), (8, 6))
    with pytest.raises(ValueError, match="at least 1 pixel"):
        LAYERS["fog"].opacity(0.5, rng(), (0, 6))
    with pytest.raises(TypeError, match="rng must be a numpy"):
        LAYERS["fog"].opacity(0.5, 3, (8, 6))


def test_masks_are_enlarged_to_the_picture():
    mask = as_mask(np.array([[0.0, 1.0]]), (4, 3))

    assert mask.size == (4, 3)
    assert np.asarray(mask)[1].tolist() == [0, 64, 191, 255]
    assert np.asarray(as_mask(np.full((3, 4), 0.5), (4, 3))).tolist() == [[128] * 4] * 3


def test_layers_leave_the_picture_they_are_laid_over():
    picture = photograph()

    assert np.abs(IMAGE_OPERATORS["rain"].apply(picture, 0.01, rng()).astype(int) - picture).max() < 200
    assert picture.tobytes() == photograph().tobytes()
