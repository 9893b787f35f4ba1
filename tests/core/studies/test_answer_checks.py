"""What is refused of an answer, and in which words."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.studies.answer_checks import AnswerError, check_choice, checked_boxes


def boxes(rows):
    return checked_boxes(rows, width=640, height=480)


def test_boxes_inside_the_picture_are_taken_as_they_are():
    assert boxes([[0, 0, 640, 480], [1.5, 2.25, 10, 20]]) == (
        (0.0, 0.0, 640.0, 480.0),
        (1.5, 2.25, 10.0, 20.0),
    )


def test_the_rounding_of_a_page_is_set_on_the_edge():
    assert boxes([[-0.0005, 0, 640.0005, 480]]) == ((0.0, 0.0, 640.0, 480.0),)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("boxes", "not a list"),
        ({"0": [0, 0, 1, 1]}, "not a list"),
        ([[0, 0, 10]], "Box 1 is not four numbers"),
        ([[0, 0, 10, 10], [0, 0, 10, "10"]], "Box 2 is not four numbers"),
        ([[0, 0, 10, True]], "not four numbers"),
        ([[0, 0, 10, math.nan]], "not four numbers"),
        ([[0, 0, math.inf, 10]], "not four numbers"),
        ([[0, 0, 10, 10**400]], "not four numbers"),
        ([None], "not four numbers"),
        ([[-1, 0, 10, 10]], "out of the picture of 640 x 480"),
        ([[0, 0, 641, 10]], "out of the picture"),
        ([[0, 0, 10, 480.1]], "out of the picture"),
        ([[20, 0, 10, 10]], "out of the picture"),
        ([[0, 0, 0.9, 10]], "too small"),
        ([[0, 0, 10, 0.5]], "too small"),
        ([[0, 0, 1, 1]] * 101, "101 boxes; at most 100"),
    ],
)
def test_boxes_that_cannot_be_are_refused_with_their_number(rows, words):
    with pytest.raises(AnswerError, match=words) as raised:
        boxes(rows)

    assert raised.value.field == "boxes"


def test_a_hundred_boxes_are_taken():
    assert len(boxes([[0, 0, 1, 1]] * 100)) == 100


numbers = st.floats(allow_nan=True, allow_infinity=True) | st.integers() | st.text(max_size=3) | st.none()


@given(st.lists(st.lists(numbers, max_size=6), max_size=4))
def test_whatever_is_sent_is_a_box_inside_or_a_refusal(rows):
    try:
        found = boxes(rows)
    except AnswerError:
        return
    for left, top, right, bottom in found:
        assert 0 <= left <= right - 1 + 1e-9
        assert right <= 640
        assert 0 <= top <= bottom - 1 + 1e-9
        assert bottom <= 480


ONE = ((0.0, 0.0, 2.0, 2.0),)


@pytest.mark.parametrize(
    ("status", "drawn", "reason", "text", "kept"),
    [
        ("drawn", ONE, "", "", ""),
        ("empty", (), "", "", ""),
        ("rejected", (), "image", "", ""),
        ("rejected", (), "prompt", "  two  words ", "two  words"),
        ("rejected", (), "other", "too dark", "too dark"),
    ],
)
def test_answers_that_fit_together_are_taken(status, drawn, reason, text, kept):
    assert check_choice(status, boxes=drawn, reason=reason, reason_text=text) == kept


@pytest.mark.parametrize(
    ("status", "drawn", "reason", "text", "field"),
    [
        ("", (), "", "", "status"),
        ("skipped", (), "", "", "status"),
        ("drawn", (), "", "", "boxes"),
        ("empty", ONE, "", "", "boxes"),
        ("rejected", ONE, "image", "", "boxes"),
        ("drawn", ONE, "image", "", "reason"),
        ("empty", (), "other", "x", "reason"),
        ("rejected", (), "", "", "reason"),
        ("rejected", (), "boring", "", "reason"),
        ("rejected", (), "other", "   ", "reason_text"),
        ("rejected", (), "other", "x" * 2_001, "reason_text"),
        ("rejected", (), "image", "a\x00b", "reason_text"),
        ("rejected", (), "image", "\ud800", "reason_text"),
    ],
)
def test_answers_that_do_not_fit_together_are_refused_at_their_field(status, drawn, reason, text, field):
    with pytest.raises(AnswerError) as raised:
        check_choice(status, boxes=drawn, reason=reason, reason_text=text)

    assert raised.value.field == field


@pytest.mark.parametrize("wrong", [None, 7, [], {}, ["drawn"], True, b"drawn"])
def test_what_is_no_text_is_refused_at_its_field(wrong):
    for field, values in (
        ("status", {"status": wrong, "reason": "", "reason_text": ""}),
        ("reason", {"status": "rejected", "reason": wrong, "reason_text": ""}),
        ("reason", {"status": "empty", "reason": wrong, "reason_text": ""}),
        ("reason_text", {"status": "rejected", "reason": "other", "reason_text": wrong}),
    ):
        with pytest.raises(AnswerError) as raised:
            check_choice(boxes=(), **values)
        assert raised.value.field == field


def test_a_box_of_one_pixel_is_taken_wherever_it_lies():
    left, right = 0.4, 0.4 + 1

    found = boxes([[left, left, right, right]])

    assert right - left < 1
    assert found == ((left, left, right, right),)


def test_no_corner_is_stored_as_minus_zero():
    ((left, top, _, _),) = boxes([[-0.0, -0.0, 5, 5]])

    assert (math.copysign(1, left), math.copysign(1, top)) == (1.0, 1.0)
