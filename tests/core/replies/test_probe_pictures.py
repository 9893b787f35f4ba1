"""Pictures of a probe: what is promised about sizes, places, colours and questions."""

from collections import Counter

import numpy as np
import pytest

from vlmlab.core.images import decode_png
from vlmlab.core.replies.choices import parse_choice
from vlmlab.core.replies.probe_pictures import COLOURS, PROBE_SIZE, probe_pictures

PICTURES = probe_pictures()


def test_probe_pictures_are_the_same_for_the_same_seed_only():
    again, other = probe_pictures(), probe_pictures(1)

    assert again == PICTURES
    assert [one.number for one in PICTURES] == list(range(PROBE_SIZE))
    assert all(one.image_png != another.image_png for one, another in zip(PICTURES, other, strict=True))


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: str(picture.number))
def test_a_probe_picture_shows_one_rectangle_where_it_says(picture):
    pixels = decode_png(picture.image_png)
    x0, y0, x1, y1 = (int(value) for value in picture.box)

    has_colour = (pixels == COLOURS[picture.colour]).all(axis=2)

    expected = np.zeros((picture.height, picture.width), dtype=bool)
    expected[y0:y1, x0:x1] = True
    assert np.array_equal(has_colour, expected)


def test_probe_pictures_tell_conventions_apart_by_their_shape_and_place():
    for one in PICTURES:
        x0, y0, x1, y1 = one.box
        shares = ((x0 + x1) / 2 / one.width, (y0 + y1) / 2 / one.height)

        assert one.width != one.height
        assert max(one.width, one.height) <= 640
        assert abs(shares[0] - shares[1]) > 0.2
        assert 0 < x0 < x1 < one.width
        assert 0 < y0 < y1 < one.height


def test_probe_pictures_lie_on_both_sides_of_the_diagonal():
    sides = Counter(one.box[0] / one.width > one.box[1] / one.height for one in PICTURES)

    assert min(sides.values()) >= 8


def test_probe_questions_have_four_different_options_and_one_right_letter():
    for one in PICTURES:
        assert list(one.options) == list("ABCD")
        assert len(set(one.options.values())) == 4
        assert one.options[one.expected_letter] == one.colour
        assert all(f"{letter}. {text}\n" in one.question for letter, text in one.options.items())
    assert set(Counter(one.expected_letter for one in PICTURES)) == set("ABCD")


def test_probe_answers_are_read_by_the_reader_of_choices():
    for one in PICTURES:
        for text in (one.expected_letter, f"{one.expected_letter}. {one.colour}", one.colour):
            assert parse_choice(text, options=one.options).letter == one.expected_letter
