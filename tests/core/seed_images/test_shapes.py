"""Boxes and masks of one picture: cut at its frame, refused beyond it, turned with it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.seed_images.faults import FaultError
from vlmlab.core.seed_images.shapes import Canvas, hull_of_mask, is_mask_of

SIDES = st.floats(-30, 130, allow_nan=False)


@pytest.mark.parametrize(
    ("told", "inside"),
    [
        ((10, 20, 30, 40), (10, 20, 30, 40)),
        ((-2, -2, 102, 52), (0, 0, 100, 50)),
        ((0, 0, 100, 50), (0, 0, 100, 50)),
        ((10.25, 20.5, 11.25, 21.5), (10.25, 20.5, 11.25, 21.5)),
    ],
)
def test_a_box_is_cut_at_the_frame(told, inside):
    assert Canvas(100, 50).box(told) == inside


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ((-2.5, 0, 50, 50), "outside"),
        ((0, 0, 50, 52.5), "outside"),
        ((30, 0, 20, 50), "box"),
        ((10, 10, 10.9, 40), "no_area"),
        ((-2, 0, 0.5, 40), "no_area"),
        ((10, 10, 10, 10), "no_area"),
    ],
)
def test_a_box_that_is_no_box_of_the_picture_is_refused(told, kind):
    with pytest.raises(FaultError) as error:
        Canvas(100, 50).box(told)

    assert error.value.kind == kind


def test_large_pictures_forgive_a_hundredth_of_their_side():
    assert Canvas(1000, 1000).box((-9, 0, 1009, 500)) == (0, 0, 1000, 500)


@given(SIDES, SIDES, SIDES, SIDES, st.integers(1, 8), st.booleans())
def test_what_is_taken_lies_inside_the_upright_picture_and_is_not_empty(
    x_min, y_min, x_max, y_max, turn, is_relative
):
    canvas = Canvas(100, 50, turn, is_relative)
    told = tuple(side / 100 if is_relative else side for side in (x_min, y_min, x_max, y_max))

    try:
        left, top, right, bottom = canvas.box(told)
    except FaultError:
        return
    width, height = canvas.upright_size
    assert 0 <= left < right <= width
    assert 0 <= top < bottom <= height


def test_the_hull_of_a_mask_is_its_tight_box():
    mask = Canvas(100, 50).mask(json.dumps([[10, 5, 40, 5, 40, 25, 10, 25]]).encode())

    assert hull_of_mask(mask, width=100, height=50) == (10, 5, 40, 25)
    assert is_mask_of(mask, (10, 5, 40, 25), size=(100, 50))
    assert is_mask_of(mask, (10, 5, 40, 45), size=(100, 50))
    assert not is_mask_of(mask, (10, 5, 40, 46), size=(100, 50))


@pytest.mark.parametrize(
    "outline", [b"[" * 100_000, b"0", b"[[1,2,3]]", b'{"counts":"x","size":[50,100]}', b"[[NaN,1,2,3,4,5]]"]
)
def test_an_outline_that_is_none_is_refused(outline):
    with pytest.raises(FaultError) as error:
        Canvas(100, 50).mask(outline)

    assert error.value.kind == "mask"
