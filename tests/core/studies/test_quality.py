"""What is shown to a person for a look, and attention checks."""

import pytest

from vlmlab.core.studies.quality import GivenAnswer, checks_passed, easy_check_passed, quality_flags


def answer(*, accepted=True, boxes=((10.0, 10.0, 40.0, 40.0),), ms=9_000, size=(100, 100)):
    return GivenAnswer(accepted, boxes if accepted else (), size[0], size[1], ms)


def other(number, **named):
    return answer(boxes=((float(number), 5.0, 50.0 + number, 60.0),), **named)


def names(answers):
    return [flag.name for flag in quality_flags(answers)]


def test_ordinary_answers_have_no_flag():
    assert names([other(n) for n in range(9)] + [answer(accepted=False)]) == []


def test_a_median_below_two_seconds_is_fast():
    assert names([other(n, ms=1_999) for n in range(6)] + [answer(accepted=False, ms=9_000)]) == ["fast"]
    assert names([other(n, ms=2_000) for n in range(6)] + [answer(accepted=False)]) == []


def test_all_accepted_and_all_rejected_stand_out_from_five_answers_on():
    assert names([other(n) for n in range(4)]) == []
    assert names([other(n) for n in range(5)]) == ["all_accepted"]
    assert names([answer(accepted=False)] * 5) == ["all_rejected"]


def test_one_box_in_half_of_the_drawn_cases_stands_out():
    mixed = [other(n) for n in range(3)] + [answer() for _ in range(3)] + [answer(accepted=False)]
    fewer = [other(n) for n in range(4)] + [answer() for _ in range(3)] + [answer(accepted=False)]

    assert (names(mixed), names(fewer)) == (["same_box"], [])


def test_boxes_of_the_whole_image_stand_out_above_thirty_percent():
    whole = answer(boxes=((0.0, 0.0, 100.0, 99.0),))
    rest = [other(n) for n in range(7)] + [answer(accepted=False)]

    assert names([whole] * 3 + rest) == []
    assert names([whole] * 4 + rest) == ["full_image"]


def test_the_sentences_say_the_numbers():
    flags = quality_flags([answer(accepted=False, ms=1_000)] * 6)

    assert [flag.sentence for flag in flags] == [
        "Half of the cases took less than 1.0 s.",
        "All 6 cases were rejected.",
    ]


def test_no_answers_no_flags():
    assert quality_flags([]) == []


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [([], None), ([True, True], True), ([False, True], True), ([False, False], False), ([False], False)],
)
def test_a_submission_is_invalid_only_where_every_check_failed(verdicts, expected):
    assert checks_passed(verdicts) is expected


@pytest.mark.parametrize(
    ("is_accepted", "iou", "expected"), [(True, 0.5, True), (True, 0.49, False), (False, 1.0, False)]
)
def test_the_easy_check_needs_acceptance_and_an_iou_of_one_half(is_accepted, iou, expected):
    assert easy_check_passed(is_accepted=is_accepted, iou=iou) is expected
