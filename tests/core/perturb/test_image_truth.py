"""The truth after a strategy: where it is, whether it is honest, and how far each operator may go."""

import math

import numpy as np
import pytest

from tests.core.perturb.image_cases import rng
from vlmlab.core.perturb import IMAGE_OPERATORS
from vlmlab.core.perturb.image_geometry import GEOMETRY_OPERATORS
from vlmlab.core.perturb.image_truth import boxes_of_masks, honest_caps, moved_truth, strategy_hidden

SIZE = (320, 240)
BOX = np.array([[110.0, 70.0, 210.0, 170.0]])  # a square in the middle


MOVING = [operator.name for operator in GEOMETRY_OPERATORS]


def disc(centre=(160.0, 120.0), radius=50.0):
    """Return the mask of the disc that touches all sides of ``BOX``."""
    x, y = np.arange(SIZE[0]) + 0.5 - centre[0], np.arange(SIZE[1]) + 0.5 - centre[1]
    return (np.hypot(x[None, :], y[:, None]) <= radius)[None]


def test_without_geometry_the_truth_stays_as_it_is():
    truth = moved_truth(BOX, {"gaussian_blur": 1.0, "rotate": 0.0}, rng_of=rng, image_size=SIZE)

    assert truth.boxes.tolist() == BOX.tolist()
    assert (truth.visible_shares.tolist(), truth.tight_shares.tolist(), truth.is_honest) == (
        [1.0],
        [1.0],
        True,
    )


@pytest.mark.parametrize("name", MOVING)
def test_one_operator_moves_boxes_as_it_says(name):
    truth = moved_truth(BOX, {name: 0.3}, rng_of=rng, image_size=SIZE)

    assert truth.boxes.tolist() == IMAGE_OPERATORS[name].apply_boxes(BOX, 0.3, rng(name), SIZE).tolist()


def test_masks_give_tight_boxes_where_hulls_are_loose():
    strategy = {"rotate": 1.0}

    with_masks = moved_truth(BOX, strategy, rng_of=rng, image_size=SIZE, masks=disc())
    without = moved_truth(BOX, strategy, rng_of=rng, image_size=SIZE)

    assert with_masks.boxes == pytest.approx(BOX, abs=1.0)  # a disc that turns about its centre
    assert (with_masks.is_honest, without.is_honest) == (True, False)
    assert without.boxes[0, 2] - without.boxes[0, 0] > 120.0


def test_what_leaves_the_frame_is_not_honest():
    strategy = {"translate_scale": 1.0}
    corner = np.array([[0.0, 0.0, 40.0, 30.0], [280.0, 210.0, 320.0, 240.0]])
    masks = np.concatenate([disc((20.0, 15.0), 12.0), disc((300.0, 225.0), 12.0)])

    boxes_only = moved_truth(corner, strategy, rng_of=rng, image_size=SIZE)
    with_masks = moved_truth(corner, strategy, rng_of=rng, image_size=SIZE, masks=masks)

    assert boxes_only.visible_shares.min() < 0.7
    assert not boxes_only.is_honest
    assert with_masks.visible_shares.min() < 0.7
    assert not with_masks.is_honest


def test_visible_shares_of_masks_are_those_of_the_thing_not_of_its_box():
    half = np.zeros((1, SIZE[1], SIZE[0]), bool)
    half[0, :, 310:] = True
    half[0, :2, :] = True

    truth = moved_truth([[0.0, 0.0, 320.0, 240.0]], {"shear": 0.01}, rng_of=rng, image_size=SIZE, masks=half)

    assert 0.9 < truth.visible_shares[0] <= 1.0


def test_caps_end_where_the_worst_thing_in_a_box_would_be_missed():
    caps = honest_caps(BOX, rng_of=rng, image_size=SIZE)

    # ((1 - tan a) / (1 + tan a)) ** 2 = 0.9 for a square.
    tangent = (1.0 - math.sqrt(0.9)) / (1.0 + math.sqrt(0.9))
    assert IMAGE_OPERATORS["rotate"].parameter(caps["rotate"]) == pytest.approx(
        math.degrees(math.atan(tangent)), abs=0.02
    )
    # Shear moves only the upright sides: (100 - 100 k) / (100 + 100 k) = 0.9.
    assert IMAGE_OPERATORS["shear"].parameter(caps["shear"]) == pytest.approx(0.1 / 1.9, abs=5e-4)
    # Shifting a box in the middle by a fifth loses nothing, and it is exact.
    assert caps["translate_scale"] == 1.0
    assert list(caps) == [name for name, each in IMAGE_OPERATORS.items() if each.moves_boxes or each.hides]


def test_a_strategy_at_a_cap_is_honest_and_a_little_beyond_it_is_not():
    caps = honest_caps(BOX, rng_of=rng, image_size=SIZE)

    assert min(caps.values()) < 0.2
    for name, cap in caps.items():
        assert moved_truth(BOX, {name: cap}, rng_of=rng, image_size=SIZE).is_honest
        if cap < 1.0:
            assert not moved_truth(BOX, {name: min(1.0, cap + 0.005)}, rng_of=rng, image_size=SIZE).is_honest


def test_masks_lift_the_caps_of_hulls():
    caps = honest_caps(BOX, rng_of=rng, image_size=SIZE, masks=disc(), names=MOVING)

    assert set(caps.values()) == {1.0}


def test_caps_of_chosen_operators_only():
    assert list(honest_caps(BOX, rng_of=rng, image_size=SIZE, names=["shear", "fog", "contrast"])) == [
        "shear",
        "fog",
    ]


def test_pictures_without_a_box_have_no_cap():
    assert set(honest_caps([], rng_of=rng, image_size=SIZE).values()) == {1.0}


def test_boxes_of_masks_are_tight_and_zero_for_an_empty_mask():
    masks = np.zeros((2, 5, 8), bool)
    masks[0, 1:3, 4:8] = True

    assert boxes_of_masks(masks).tolist() == [[4.0, 1.0, 8.0, 3.0], [0.0, 0.0, 0.0, 0.0]]


def test_an_empty_mask_is_not_visible():
    truth = moved_truth(BOX, {"rotate": 0.1}, rng_of=rng, image_size=SIZE, masks=disc(radius=0.1))

    assert truth.visible_shares.tolist() == [0.0]


def test_as_many_masks_as_boxes_are_needed():
    with pytest.raises(ValueError, match=r"masks must be \(2, 240, 320\), one for each box"):
        moved_truth(np.repeat(BOX, 2, axis=0), {}, rng_of=rng, image_size=SIZE, masks=disc())


def test_what_mud_covers_is_hidden_and_the_rest_is_not():
    clean = np.full((SIZE[1], SIZE[0], 3), 255, np.uint8)

    hidden = strategy_hidden({"spatter": 0.6}, rng_of=rng, image_size=SIZE)

    muddy = IMAGE_OPERATORS["spatter"].apply(clean, 0.6, rng("spatter"))[..., 0]
    # The mud's red is 78, so a quarter of the light leaves 78 + (255 - 78) / 4 = 122.
    assert 0.1 < hidden.mean() < 0.3
    assert muddy[hidden].max() <= 123
    assert muddy[~hidden].min() >= 121


def test_layers_hide_together_what_neither_hides_alone():
    both = {"fog": 0.55, "snow": 0.35}
    alone = [strategy_hidden({name: both[name]}, rng_of=rng, image_size=SIZE).mean() for name in both]

    together = strategy_hidden(both, rng_of=rng, image_size=SIZE)

    assert together.mean() > 3.0 * max(alone)


def test_a_strategy_without_a_layer_hides_nothing():
    assert strategy_hidden({"rotate": 1.0, "fog": 0.0}, rng_of=rng, image_size=SIZE) is None


def test_visible_shares_are_what_is_in_the_frame_and_not_under_mud():
    mud = strategy_hidden({"spatter": 0.8}, rng_of=rng, image_size=SIZE)
    left_half, all_of_it = [0.0, 0.0, 160.0, 240.0], [0.0, 0.0, 320.0, 240.0]
    masks = np.zeros((2, SIZE[1], SIZE[0]), bool)
    masks[0, :, :80] = masks[1] = True

    boxes_only = moved_truth([left_half, all_of_it], {"spatter": 0.8}, rng_of=rng, image_size=SIZE)
    with_masks = moved_truth(
        [[0.0, 0.0, 80.0, 240.0], all_of_it], {"spatter": 0.8}, rng_of=rng, image_size=SIZE, masks=masks
    )

    assert boxes_only.visible_shares == pytest.approx([1.0 - mud[:, :160].mean(), 1.0 - mud.mean()])
    assert with_masks.visible_shares == pytest.approx([1.0 - mud[:, :80].mean(), 1.0 - mud.mean()])
    assert boxes_only.boxes.tolist() == [left_half, all_of_it]


def test_boxes_outside_the_picture_are_looked_up_at_its_border():
    truth = moved_truth([[-9.0, -9.0, -1.0, 999.0]], {"spatter": 0.5}, rng_of=rng, image_size=SIZE)

    assert 0.0 <= truth.visible_shares[0] <= 1.0
