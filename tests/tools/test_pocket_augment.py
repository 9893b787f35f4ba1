"""Light changes to training pictures: boxes stay on their things."""

import numpy as np
import pytest

from tests.tools.pocket_parts import seen
from tools.pocket.augment import _moved, as_pixels, augmented
from vlmlab.core.seeding import rng_for

SIDE = 64


def marked(count, *, box=(10, 24, 22, 36)):
    """Return black pictures with one white rectangle, and its object."""
    pictures = np.zeros((count, SIDE, SIDE, 3), np.uint8)
    x0, y0, x1, y1 = box
    pictures[:, y0:y1, x0:x1] = 255
    return pictures, [[seen("cone", box=tuple(v / SIDE for v in box))]] * count


def test_as_pixels_puts_channels_first_and_values_between_minus_one_and_one():
    picture = np.zeros((1, 2, 2, 3), np.uint8)
    picture[0, 0, 1] = (255, 0, 51)

    pixels = as_pixels(picture)

    assert pixels.shape == (1, 3, 2, 2)
    assert pixels[0, :, 0, 1].tolist() == pytest.approx([1.0, -1.0, -0.6])
    assert pixels[0, :, 1, 1].tolist() == [-1.0] * 3


def test_a_marked_rectangle_is_found_where_its_moved_box_says():
    pictures, objects = marked(60)

    pixels, moved = augmented(pictures, objects, rng=rng_for(7, "augment"))

    lefts, widths = [], []
    for picture, row in zip(pixels, moved, strict=True):
        ys, xs = np.nonzero(picture.mean(0).numpy() > 0.0)
        box = np.array(row[0].box) * SIDE
        assert np.abs(np.array([xs.min(), ys.min(), xs.max() + 1, ys.max() + 1]) - box).max() <= 1.6
        lefts.append(box[0])
        widths.append(box[2] - box[0])
    assert 8 <= sum(left > SIDE / 2 for left in lefts) <= 30  # mirrored
    assert len({round(width, 4) for width in widths}) > 30  # zoomed
    assert (pixels.min() >= -1.0, pixels.max() <= 1.0) == (True, True)


def test_the_same_generator_changes_pictures_alike():
    pictures, objects = marked(4)

    first, again = (augmented(pictures, objects, rng=rng_for(8, "augment")) for _ in range(2))

    assert first[0].equal(again[0])
    assert first[1] == again[1]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"mirror": -1.0}, (0.7, 0.2, 0.9, 0.4)),
        ({"zoom": 0.5}, (0.3, 0.35, 0.4, 0.45)),
        ({"shift": (0.05, 0.1)}, (0.15, 0.3, 0.35, 0.5)),
        ({"mirror": -1.0, "shift": (0.05, 0.0)}, (0.75, 0.2, 0.95, 0.4)),
        ({"zoom": 1.2, "shift": (0.1, 0.0)}, (0.14, 0.14, 0.38, 0.38)),
    ],
)
def test_boxes_are_mirrored_zoomed_about_the_middle_and_moved(change, expected):
    named = {"mirror": 1.0, "zoom": 1.0, "shift": (0.0, 0.0), **change}

    (found,) = _moved([seen("cone", box=(0.1, 0.2, 0.3, 0.4))], **named)

    assert found.box == pytest.approx(expected)
    assert found.is_asked


def moved_right(box, step):
    return _moved([seen("cone", box=box)], mirror=1.0, zoom=1.0, shift=(step, 0.0))


def test_a_cut_object_is_no_longer_asked_for_and_one_outside_is_gone():
    (kept,) = moved_right((0.8, 0.4, 0.97, 0.6), 0.06)  # 0.14 of 0.17 is left
    (cut,) = moved_right((0.8, 0.4, 0.97, 0.6), 0.07)  # 0.13 of 0.17

    assert (kept.is_asked, cut.is_asked) == (True, False)
    assert cut.box == pytest.approx((0.87, 0.4, 1.0, 0.6))
    assert moved_right((0.95, 0.4, 1.0, 0.6), 0.06) == []


def test_what_may_not_be_asked_for_stays_so():
    (found,) = _moved([seen("cone", is_asked=False)], mirror=-1.0, zoom=1.0, shift=(0.0, 0.0))

    assert found.is_asked is False
