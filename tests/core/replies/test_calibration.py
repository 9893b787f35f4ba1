"""Judging a probe: every convention is told from every other, and failures are said to be failures."""

import json

import pytest

from vlmlab.core.conventions import BoxConvention
from vlmlab.core.replies.calibration import (
    CANDIDATE_CONVENTIONS,
    convention_name,
    judge_answers,
    judge_boxes,
)
from vlmlab.core.replies.probe_pictures import PROBE_SIZE, probe_pictures
from vlmlab.core.suts.base import SutReply

PICTURES = probe_pictures()
ALIKE = [{"0-1000 xyxy", "0-999 xyxy", "1000 bins xyxy"}]


def _seen(picture):
    return (picture.width // 28 * 28, picture.height // 28 * 28)


def _written(picture, convention, *, shift=0.0):
    """Return the reply of a system that sees the rectangle and writes it in a convention."""
    x0, y0, x1, y1 = (value + shift for value in picture.box)
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


@pytest.mark.parametrize("declared", CANDIDATE_CONVENTIONS)
@pytest.mark.parametrize("spoken", CANDIDATE_CONVENTIONS)
def test_judge_boxes_names_the_convention_that_a_system_answers_in(spoken, declared):
    replies = [_written(one, CANDIDATE_CONVENTIONS[spoken]) for one in PICTURES]

    verdict = judge_boxes(PICTURES, replies, CANDIDATE_CONVENTIONS[declared])

    if spoken == declared or _are_alike(spoken, declared):
        assert verdict.status == "calibrated"
    else:
        assert verdict.status == "other_convention"
        best = verdict.fits[1].name
        assert best == spoken or _are_alike(best, spoken)
        assert f"fit {best} " in verdict.sentence
