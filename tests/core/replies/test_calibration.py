"""Judging a probe: every convention is told from every other, and failures are said to be failures."""

import json
from dataclasses import replace

import numpy as np
import pytest

from vlmlab.core.conventions import BoxConvention
from vlmlab.core.replies.calibration import (
    CANDIDATE_CONVENTIONS,
    convention_name,
    judge_answers,
    judge_boxes,
)
from vlmlab.core.replies.probe_pictures import PROBE_SIZE, probe_pictures
from vlmlab.core.seeding import rng_for
from vlmlab.core.suts.base import SutReply

PICTURES = probe_pictures()
ALIKE = [{"0-1000 xyxy", "0-999 xyxy", "1000 bins xyxy"}]


def _seen(picture):
    return (picture.width // 28 * 28, picture.height // 28 * 28)


def _written(picture, convention):
    """Return the reply of a system that sees the rectangle and writes it in a convention."""
    x0, y0, x1, y1 = picture.box
    x_scale, y_scale = (convention.scale,) * 2 if convention.scale else _seen(picture)
    x0, x1 = (x / picture.width * x_scale - convention.bin_offset for x in (x0, x1))
    y0, y1 = (y / picture.height * y_scale - convention.bin_offset for y in (y0, y1))
    numbers = (y0, x0, y1, x1) if convention.order == "yxyx" else (x0, y0, x1, y1)
    digits = 3 if convention.scale == 1 else 0 if not convention.scale or convention.scale > 100 else 1
    rounded = [round(number, digits) for number in numbers]
    text = json.dumps([{"bbox_2d": rounded, "label": picture.target}])
    return SutReply(text, seen_size=_seen(picture))


def _are_alike(first, second):
    return any({first, second} <= group for group in ALIKE)


@pytest.mark.parametrize("name", CANDIDATE_CONVENTIONS)
def test_judge_boxes_accepts_a_system_that_answers_as_declared(name):
    convention = CANDIDATE_CONVENTIONS[name]

    verdict = judge_boxes(PICTURES, [_written(one, convention) for one in PICTURES], convention)

    assert verdict.status == "calibrated"
    assert verdict.median_iou > 0.95
    assert verdict.fits[0].name == name
    assert verdict.fits[0].n_read == PROBE_SIZE


DECLARED = ("0-1000 xyxy", "0-1000 yxyx", "0-1 xyxy", "pixels xyxy", "0-1024 yxyx")
PAIRS = [(spoken, declared) for spoken in CANDIDATE_CONVENTIONS for declared in DECLARED]


@pytest.mark.parametrize(("spoken", "declared"), PAIRS)
def test_judge_boxes_names_the_convention_that_a_system_answers_in(spoken, declared):
    replies = [_written(one, CANDIDATE_CONVENTIONS[spoken]) for one in PICTURES]

    verdict = judge_boxes(PICTURES, replies, CANDIDATE_CONVENTIONS[declared])

    if spoken == declared or _are_alike(spoken, declared):
        assert verdict.status == "calibrated"
    else:
        assert verdict.status == "other_convention"
        assert f"Declare {verdict.fits[1].name} if its authors say so too." in verdict.sentence
        best = verdict.fits[1].name
        assert best == spoken or _are_alike(best, spoken)
        named = verdict.sentence.removeprefix("The replies fit ").split(" (")[0]
        assert named == spoken or _are_alike(named, spoken)


def test_judge_boxes_says_which_conventions_cannot_be_told_apart():
    declared = CANDIDATE_CONVENTIONS["0-999 xyxy"]

    verdict = judge_boxes(PICTURES, [_written(one, declared) for one in PICTURES], declared)

    assert verdict.sentence == (
        "The declared convention fits: 0-999 xyxy (median IoU 1.00). "
        "0-1000 xyxy and 1000 bins xyxy would fit as well."
    )


def test_judge_boxes_says_what_goes_wrong_under_the_declared_convention():
    replies = [_written(one, CANDIDATE_CONVENTIONS["0-1000 yxyx"]) for one in PICTURES]

    order = judge_boxes(PICTURES, replies, CANDIDATE_CONVENTIONS["0-1000 xyxy"])
    scale = judge_boxes(PICTURES, replies, CANDIDATE_CONVENTIONS["0-1 yxyx"])

    assert order.sentence == (
        "The replies fit 0-1000 yxyx (median IoU 1.00), not the declared 0-1000 xyxy (median IoU 0.00). "
        "Under that one the boxes lie elsewhere in the picture. "
        "Declare 0-1000 yxyx if its authors say so too."
    )
    assert "20 of 20 cannot be used: the numbers were too large for the scale." in scale.sentence


def test_judge_boxes_knows_a_declared_convention_that_is_no_candidate():
    declared = BoxConvention(scale=500)
    replies = [_written(one, declared) for one in PICTURES]

    verdict = judge_boxes(PICTURES, replies, declared)

    assert (verdict.status, verdict.fits[0].name) == ("calibrated", "0-500 xyxy")
    assert len(verdict.fits) == len(CANDIDATE_CONVENTIONS) + 1


def test_judge_boxes_ignores_how_a_convention_is_shown_to_people():
    declared = BoxConvention(syntax="ref_box", keys=("bbox",))

    verdict = judge_boxes(PICTURES, [_written(one, declared) for one in PICTURES], declared)

    assert (verdict.status, verdict.fits[0].name) == ("calibrated", "0-1000 xyxy")


def test_judge_boxes_accepts_a_system_that_is_only_roughly_right():
    declared = CANDIDATE_CONVENTIONS["0-1000 xyxy"]

    for seed in range(5):
        rng = rng_for(seed, "noise")
        moved = [
            replace(one, box=tuple(np.array(one.box) + rng.normal(0, 0.02, 4) * one.width))
            for one in PICTURES
        ]

        verdict = judge_boxes(PICTURES, [_written(one, declared) for one in moved], declared)

        assert verdict.status == "calibrated"
        assert 0.6 < verdict.median_iou < 0.9


def test_judge_boxes_does_not_take_a_small_shift_for_another_scale():
    declared = CANDIDATE_CONVENTIONS["0-1000 xyxy"]
    moved = [replace(one, box=tuple(value + 4 for value in one.box)) for one in PICTURES]

    verdict = judge_boxes(PICTURES, [_written(one, declared) for one in moved], declared)

    fits = {fit.name: fit.median_iou for fit in verdict.fits}
    assert verdict.median_iou < fits["0-1024 xyxy"] < verdict.median_iou + 0.05
    assert verdict.status == "calibrated"
    assert verdict.sentence.endswith("0-1024 xyxy would fit as well.")


def test_judge_boxes_counts_a_missing_box_as_no_overlap():
    declared = CANDIDATE_CONVENTIONS["0-1000 xyxy"]
    replies = [_written(one, declared) for one in PICTURES]
    replies[:12] = [SutReply("[]")] * 11 + [SutReply("I see none.")]

    verdict = judge_boxes(PICTURES, replies, declared)

    assert verdict.median_iou == 0
    assert verdict.status == "unreadable"
    assert verdict.sentence == (
        "Only 8 of 20 replies hold a box that can be read. Most often: "
        "the reply said that there is no rectangle; check that it gets the picture."
    )
    assert [one.status for one in verdict.readings[9:14]] == ["empty", "empty", "malformed", "boxes", "boxes"]


def test_judge_boxes_takes_no_box_from_replies_that_were_cut():
    declared = CANDIDATE_CONVENTIONS["0-1000 xyxy"]
    whole = [_written(one, declared) for one in PICTURES]
    cut = [replace(one, text=one.text.strip("[]") + "\n", finish_reason="length") for one in whole]

    verdict = judge_boxes(PICTURES, cut, declared)

    assert verdict.status == "unreadable"
    assert {one.reason for one in verdict.readings} == {"truncated"}


def test_judge_boxes_says_that_nothing_fits_a_system_that_guesses():
    declared = CANDIDATE_CONVENTIONS["0-1000 xyxy"]
    replies = [SutReply('{"bbox_2d": [400, 400, 600, 600]}')] * PROBE_SIZE

    verdict = judge_boxes(PICTURES, replies, declared)

    assert verdict.status == "unclear"
    assert verdict.sentence.startswith("No convention fits: declared 0-1000 xyxy (median IoU 0.")


def test_judge_boxes_wants_half_an_overlap_also_where_no_other_convention_fits_better():
    declared = CANDIDATE_CONVENTIONS["0-1000 xyxy"]

    for share, status in ((0.8, "calibrated"), (0.6, "calibrated"), (0.45, "unclear")):
        narrow = [
            replace(one, box=(x0, y0, x0 + share * (x1 - x0), y1))
            for one, (x0, y0, x1, y1) in ((one, one.box) for one in PICTURES)
        ]

        verdict = judge_boxes(PICTURES, [_written(one, declared) for one in narrow], declared)

        assert verdict.median_iou == pytest.approx(share, abs=0.03)
        assert verdict.median_iou > max(fit.median_iou for fit in verdict.fits if fit.name == "0-1000 yxyx")
        assert verdict.status == status


def test_judge_boxes_says_so_when_replies_hold_points():
    verdict = judge_boxes(PICTURES, [SutReply("(100, 200)")] * PROBE_SIZE, BoxConvention())

    assert verdict.status == "unreadable"
    assert verdict.sentence.endswith("Most often: the reply held points instead of boxes.")


@pytest.mark.parametrize(("n_errors", "status"), [(5, "calibrated"), (6, "failed")])
def test_judge_boxes_leaves_failed_calls_out_until_there_are_too_many(n_errors, status):
    declared = CANDIDATE_CONVENTIONS["0-1 xyxy"]
    replies = [_written(one, declared) for one in PICTURES]
    replies[:n_errors] = [SutReply("", call_error="The key was refused.")] * n_errors

    verdict = judge_boxes(PICTURES, replies, declared)

    assert verdict.status == status
    assert [one.status for one in verdict.readings].count("call_error") == n_errors
    if status == "failed":
        assert verdict.median_iou is None
        assert verdict.sentence == (
            "6 of 20 calls failed, so nothing can be said. Most often: The key was refused."
        )


def test_judge_boxes_is_the_same_in_another_order_of_pictures():
    declared = CANDIDATE_CONVENTIONS["0-1000 xyxy"]
    replies = [_written(one, declared) for one in PICTURES]

    straight = judge_boxes(PICTURES, replies, declared)
    reverse = judge_boxes(PICTURES[::-1], replies[::-1], declared)

    assert (straight.fits, straight.sentence) == (reverse.fits, reverse.sentence)
    assert straight.readings == reverse.readings[::-1]


def test_convention_name_names_any_convention():
    assert convention_name(BoxConvention(space="seen_pixels", scale=None, order="yxyx")) == "pixels yxyx"
    assert convention_name(BoxConvention(scale=512, bin_offset=0.5)) == "0-512 + 0.5 xyxy"


@pytest.mark.parametrize(
    ("n_read", "n_right", "status"), [(20, 20, "calibrated"), (18, 0, "calibrated"), (17, 17, "unreadable")]
)
def test_judge_answers_asks_for_letters_that_can_be_read_not_for_right_ones(n_read, n_right, status):
    wrong = [next(letter for letter in "ABCD" if letter != one.expected_letter) for one in PICTURES]
    letters = [one.expected_letter for one in PICTURES[:n_right]] + wrong[n_right:n_read]
    replies = [SutReply(f"Answer: {letter}") for letter in letters]
    replies += [SutReply("It is hard to say.")] * (PROBE_SIZE - n_read)

    verdict = judge_answers(PICTURES, replies)

    assert verdict.status == status
    assert (verdict.readable_share, verdict.right_share) == (n_read / 20, n_right / 20)
    assert [one.is_right for one in verdict.readings].count(True) == n_right
    assert verdict.sentence.startswith(
        f"{n_read} of 20 answers can be read; {n_right} name the right colour."
    )


def test_judge_answers_says_that_calls_failed():
    replies = [SutReply("", call_error="The server did not answer.")] * PROBE_SIZE

    verdict = judge_answers(PICTURES, replies)

    assert (verdict.status, verdict.readable_share, verdict.right_share) == ("failed", None, None)


@pytest.mark.parametrize("judge", [judge_answers, lambda one, two: judge_boxes(one, two, BoxConvention())])
def test_judging_needs_one_reply_a_picture(judge):
    with pytest.raises(ValueError, match="one reply a picture expected, got 1 for 20"):
        judge(PICTURES, [SutReply("A")])
