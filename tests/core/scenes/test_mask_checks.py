"""Foreign segmentations: what they mean, and that lengths which do not fit never reach the decoder."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.scenes.mask_checks import checked_mask, runs_of
from vlmlab.core.scenes.masks import decode_mask, encode_mask


def test_a_polygon_becomes_the_pixels_inside_it():
    counts = checked_mask([[2, 1, 6, 1, 6, 4, 2, 4]], width=10, height=8)

    mask = decode_mask(counts, width=10, height=8)

    assert mask.sum() == 12
    assert mask[1:4, 2:6].all()


def test_several_polygons_are_one_mask():
    counts = checked_mask([[0, 0, 2, 0, 2, 2, 0, 2], [4, 4, 6, 4, 6, 6, 4, 6]], width=8, height=8)

    assert decode_mask(counts, width=8, height=8).sum() == 8


def test_run_lengths_as_numbers_are_packed():
    counts = checked_mask({"size": [2, 3], "counts": [1, 2, 3]}, width=3, height=2)

    assert decode_mask(counts, width=3, height=2).tolist() == [[False, True, False], [True, False, False]]


def test_nothing_said_is_no_mask():
    assert [checked_mask(empty, width=4, height=4) for empty in (None, [], {}, "")] == [""] * 4


@given(st.integers(1, 12), st.integers(1, 12), st.randoms(use_true_random=False))
def test_run_lengths_of_any_mask_are_those_that_the_decoder_reads(width, height, random):
    mask = np.array([[random.random() < 0.4 for _ in range(width)] for _ in range(height)])
    counts = encode_mask(mask)

    runs = runs_of(counts)

    signs = [place % 2 for place, run in enumerate(runs) for _ in range(run)]
    assert np.array_equal(np.array(signs, dtype=bool).reshape(width, height).T, mask)
    assert checked_mask({"size": [height, width], "counts": counts}, width=width, height=height) == counts


@pytest.mark.parametrize(
    "segmentation",
    [
        {"size": [4, 4], "counts": "garbage"},
        {"size": [4, 4], "counts": "o"},  # says that more follow
        {"size": [4, 4], "counts": "ooooooooo0"},
        {"size": [4, 4], "counts": "\u00e9"},
        {"size": [4, 4], "counts": [8, 9]},
        {"size": [4, 4], "counts": [20, -4]},
        {"size": [4, 4], "counts": [16.0]},
        {"size": [4, 4], "counts": None},
        {"size": [4, 5], "counts": [20]},
        {"counts": [16]},
        [[0, 0, 1, 1]],
        [[0, 0, 1, 1, 2]],
        [[0, 0, 3, 0, float("nan"), 3]],
        [[0, 0, 3, 0, 99, 3]],
        [["a", 0, 3, 0, 3, 3]],
        ["polygon"],
        7,
    ],
)
def test_what_does_not_fit_the_picture_is_refused(segmentation):
    with pytest.raises(ValueError, match=r"^(is|has|ends)"):
        checked_mask(segmentation, width=4, height=4)


def test_an_outline_that_would_fill_the_memory_is_refused():
    zigzag = [value for row in range(120) for value in (2000 * (row % 2), row)]  # 120 x 2000 pixels long

    with pytest.raises(ValueError, match=r"^has outlines of more than 200,000 pixels$"):
        checked_mask([zigzag], width=2000, height=2000)
    assert checked_mask([zigzag[:160]], width=2000, height=2000) != ""
