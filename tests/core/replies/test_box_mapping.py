"""From the numbers of a reply to pixels of the original picture, worked by hand and held to its bounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.conventions import RELATIVE_1000, SEEN_PIXELS, BoxConvention
from vlmlab.core.replies.box_mapping import BoxItem, FoundBox, Frame, as_convention, without_numbers

SIZE = (640, 480)
NUMBERS = st.floats(min_value=-100, max_value=1100, allow_nan=False)


def place(*numbers, convention=RELATIVE_1000, is_named=False, seen_size=None):
    return Frame(convention, SIZE, seen_size).place(FoundBox("car", 0, numbers, is_named=is_named))


@pytest.mark.parametrize(
    ("convention", "numbers", "box"),
    [
        (RELATIVE_1000, (250, 500, 500, 750), (160.0, 240.0, 320.0, 360.0)),
        (BoxConvention(order="yxyx"), (500, 250, 750, 500), (160.0, 240.0, 320.0, 360.0)),
        (BoxConvention(scale=1), (0.25, 0.5, 0.5, 0.75), (160.0, 240.0, 320.0, 360.0)),
        (BoxConvention(scale=1024), (256, 512, 512, 768), (160.0, 240.0, 320.0, 360.0)),
        (BoxConvention(bin_offset=0.5), (249.5, 499.5, 499.5, 749.5), (160.0, 240.0, 320.0, 360.0)),
        (SEEN_PIXELS, (160, 240, 320, 360), (160.0, 240.0, 320.0, 360.0)),
    ],
)
def test_the_declared_convention_says_where_numbers_lie(convention, numbers, box):
    assert place(*numbers, convention=convention) == BoxItem("car", pytest.approx(box))


def test_pixels_of_a_smaller_seen_picture_are_scaled_up_each_side_by_its_own_share():
    item = place(32, 24, 64, 120, convention=SEEN_PIXELS, seen_size=(320, 120))

    assert item == BoxItem("car", (64.0, 96.0, 128.0, 480.0))


def test_named_numbers_are_left_top_right_bottom_whatever_order_is_declared():
    named = place(250, 500, 500, 750, convention=BoxConvention(order="yxyx"), is_named=True)

    assert named == BoxItem("car", (160.0, 240.0, 320.0, 360.0))


@pytest.mark.parametrize(
    ("numbers", "fault"),
    [
        ((), "invalid_box"),
        ((1, 2, 3), "invalid_box"),
        ((1, 2, float("nan"), 4), "invalid_box"),
        ((-100.1, 0, 500, 500), "out_of_range"),
        ((0, 0, 500, 1100.1), "out_of_range"),
        ((0.1, 0.1, 0.5, 1.0), "suspect_scale"),
        ((100, 100, 100, 200), "degenerate"),
        ((1000, 100, 1100, 200), "degenerate"),
    ],
)
def test_numbers_that_give_no_box_say_why(numbers, fault):
    assert place(*numbers) == fault


def test_four_zeros_say_that_there_is_nothing():
    assert place(0, 0, 0, 0) is None


def test_corners_in_another_order_and_edges_outside_are_flagged():
    assert place(500, 750, 250, 500) == BoxItem("car", (160.0, 240.0, 320.0, 360.0), ("sorted",))
    assert place(-50, 0, 1050, 1000) == BoxItem("car", (0.0, 0.0, 640.0, 480.0), ("clipped",))


@given(st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS))
def test_every_box_lies_inside_of_the_picture_and_has_an_area(numbers):
    item = place(*numbers)

    if isinstance(item, BoxItem):
        x0, y0, x1, y1 = item.box
        assert 0 <= x0 < x1 <= 640
        assert 0 <= y0 < y1 <= 480


def test_a_box_without_its_numbers_cannot_be_read_but_keeps_its_place():
    bare = without_numbers(FoundBox("car", 7, (1, 2, 3, 4)))

    assert bare == FoundBox("car", 7)


def test_a_stored_convention_leaves_out_what_is_for_people():
    stored = {
        "space": "seen_pixels",
        "order": "yxyx",
        "syntax": "a new one",
        "keys": ["b"],
        "bin_offset": None,
    }

    assert as_convention(stored) == BoxConvention(space="seen_pixels", scale=None, order="yxyx")


def test_a_mapping_that_is_no_convention_is_refused():
    with pytest.raises(ValueError, match="space"):
        as_convention({"space": "somewhere"})
