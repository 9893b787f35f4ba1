"""What the evaluation asks about a picture, how it judges replies, and how it makes requests worse."""

import io
import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from tests.tools.pocket_parts import record, seen
from tools.pocket.degrade import PICTURE_CHANGES, PROMPT_CHANGES, changed, chosen, shares
from tools.pocket.evaluate import (
    decision_about,
    everything_about,
    judged_rows,
    several_about,
    side_of,
)
from tools.pocket.locating import own_prompt
from tools.pocket.shards import write_shard
from vlmlab.core.images import encode_png
from vlmlab.core.suts.base import SutReply

PNG = encode_png(np.random.default_rng(1).integers(0, 255, (24, 32, 3)).astype(np.uint8))
BOXES = {"cyclist": (0.1, 0.2, 0.3, 0.5), "cone": (0.5, 0.5, 0.8, 0.9), "bus_stop": (0.8, 0.1, 0.85, 0.15)}
STREET = replace(
    record("driving", "cyclist", "cone", "bus_stop"),
    objects=tuple(seen(name, box=box) for name, box in BOXES.items()),
)


def asked_about(found=STREET, *, number=0, ask=everything_about):
    return list(ask(found, PNG, number))


def judge(one, text, **named):
    return list(one.judged(SutReply(text, **named)))


def test_everything_is_asked_about_a_picture_once():
    rows = asked_about(number=2)
    located = [one for one in rows if one.objects]

    assert [one.task for one in rows[:2]] == ["driving answer", "driving answer behind statements"]
    assert [one.group for one in rows[:2]] == ["emergency_stop"] * 2
    assert [len(one.objects) for one in located] == [1, 2]
    assert [one.request.prompt for one in located] == [
        own_prompt([thing.label for thing in one.objects]) for one in located
    ]
    assert {one.request.image_png for one in rows} == {PNG}
    assert len(rows[1].statements) == 6
    assert list(rows[0].question.options.values()) == list(rows[1].question.options.values())


def test_several_objects_are_large_and_odd_pictures_ask_for_up_to_three():
    third = replace(STREET.objects[2], box=(0.6, 0.1, 0.9, 0.4))
    whole = replace(STREET, objects=(*STREET.objects[:2], third))

    assert [len(one.objects) for one in asked_about(whole, number=1) if one.objects] == [1, 3]
    assert [len(one.objects) for one in asked_about(whole, number=2) if one.objects] == [1, 2]
    assert [len(one.objects) for one in asked_about(number=1) if one.objects] == [1, 2]
    assert side_of(third) == pytest.approx(48.0)


def test_small_objects_are_a_task_of_their_own():
    small = replace(STREET, objects=(STREET.objects[2],))

    (located,) = [one for one in asked_about(small) if one.objects]

    assert (located.task, located.group) == ("locating below 16 px", "driving, one object")


def test_a_random_set_is_asked_for_its_decision_only():
    (one,) = asked_about(ask=decision_about)

    assert (one.task, one.group, one.objects, one.statements) == ("driving random", "size 3", (), ())


def test_pictures_of_several_things_are_asked_for_these_only():
    (one,) = asked_about(ask=several_about)
    located = [row for row in asked_about() if len(row.objects) > 1]

    assert [one] == located
    assert asked_about(replace(STREET, objects=STREET.objects[1:]), ask=several_about) == []


def test_a_letter_is_right_wrong_or_malformed():
    one = asked_about()[0]
    right = one.question.expected_letter
    wrong = next(letter for letter in "ABC" if letter != right)

    (good,), (bad,), (lost,) = judge(one, right), judge(one, wrong), judge(one, "I cannot tell.")

    assert (good.is_right, good.is_malformed, good.answered) == (True, False, "emergency_stop")
    assert (bad.is_right, bad.is_malformed, bad.answered) == (False, False, one.question.actions[wrong])
    assert (lost.is_right, lost.is_malformed, lost.answered) == (False, True, "invalid")
    assert {row.expected for row in (good, bad, lost)} == {"emergency_stop"}


def test_statements_are_judged_each_behind_the_decision():
    one = asked_about()[1]
    lines = [f"{n}. {'T' if row.is_true else 'F'}" for n, row in enumerate(one.statements, 1)]
    lines[0] = "1. F" if lines[0] == "1. T" else "1. T"
    del lines[-1]

    decision, *statements = judge(one, "\n".join([*lines, one.question.expected_letter]))

    assert decision.is_right
    assert [row.is_right for row in statements] == [False, True, True, True, True, False]
    assert [row.is_malformed for row in statements] == [False] * 5 + [True]
    assert [row.group for row in statements] == ["true" if s.is_true else "false" for s in one.statements]
    assert [row.key for row in statements] == [(s.concept,) for s in one.statements]
    assert {row.task for row in statements} == {"driving statement"}
    assert decision.is_reply
    assert not any(row.is_reply for row in statements)


def test_boxes_are_judged_by_their_set_iou():
    (one,) = [row for row in asked_about(replace(STREET, objects=STREET.objects[:1])) if row.objects]

    replies = {
        "right": '[{"bbox_2d": [100, 200, 300, 500], "label": "cyclist"}]',
        "half": '[{"bbox_2d": [100, 200, 300, 350], "label": "cyclist"}]',
        "wrong": '[{"bbox_2d": [600, 200, 900, 500], "label": "cyclist"}]',
        "none": "[]",
        "malformed": "somewhere on the left",
    }
    rows = {name: judge(one, text)[0] for name, text in replies.items()}

    assert {name: (row.is_right, row.is_malformed, round(row.iou, 6)) for name, row in rows.items()} == {
        "right": (True, False, 1.0),
        "half": (True, False, 0.5),
        "wrong": (False, False, 0.0),
        "none": (False, False, 0.0),
        "malformed": (False, True, 0.0),
    }
    assert {row.task for row in rows.values()} == {"locating"}
    assert {row.pooled for row in rows.values()} == {"locating: one object"}


def test_objects_are_found_by_name_where_a_box_with_their_name_is():
    (one,) = [row for row in asked_about() if len(row.objects) == 2]
    swapped = json.dumps(
        [
            {"bbox_2d": [round(1000 * side) for side in box], "label": label}
            for box, label in zip(
                [thing.box for thing in one.objects],
                [thing.label for thing in reversed(one.objects)],
                strict=True,
            )
        ]
    )
    first = one.objects[0]
    half = [{"bbox_2d": [round(1000 * side) for side in first.box], "label": first.label}]

    whole, *by_name = judge(one, swapped)
    _, *one_of_two = judge(one, json.dumps(half))

    assert (whole.is_right, whole.pooled) == (True, "locating: two or three objects")
    assert [(row.task, row.is_right, row.is_reply) for row in by_name] == [
        ("locating by name", False, False)
    ] * 2
    assert [row.is_right for row in one_of_two] == [True, False]
    assert [row.key for row in by_name] == [(thing.concept,) for thing in one.objects]


def test_a_failed_call_ends_the_evaluation():
    with pytest.raises(SystemExit, match="A call failed: no memory"):
        judge(asked_about()[0], "", call_error="no memory")


class Scripted:
    """Answers every request with the first option."""

    def generate(self, requests):
        return [SutReply("A") for _ in requests]


def test_every_picture_of_a_folder_is_asked_about_and_judged(tmp_path):
    pictures = np.zeros((2, 24, 32, 3), np.uint8)
    street = replace(STREET, objects=STREET.objects[:2])
    write_shard(tmp_path, 0, pictures, [street, record("indoor", "knife_block")])

    rows = judged_rows(Scripted(), tmp_path, everything_about, most=None)
    first = judged_rows(Scripted(), tmp_path, decision_about, most=1)

    tasks = Counter(row.task for row in rows)
    assert tasks == {
        "driving answer": 1, "driving answer behind statements": 1, "driving statement": 6,
        "indoor answer": 1, "indoor answer behind statements": 1, "indoor statement": 2, "locating": 3,
        "locating by name": 4,
    }  # fmt: skip
    assert [row.task for row in first] == ["driving random"]


def test_a_folder_without_pictures_ends_the_evaluation(tmp_path):
    with pytest.raises(SystemExit, match="has no pictures: render them first"):
        judged_rows(Scripted(), tmp_path, several_about, most=None)


@pytest.mark.parametrize("name", list(PICTURE_CHANGES))
def test_a_change_of_the_picture_leaves_the_prompt_and_grows_with_its_level(name):
    one = asked_about()[0]
    clean = pixels(PNG)

    requests = [changed(one, name, level, seed=3) for level in PICTURE_CHANGES[name][1]]

    gaps = [float(np.abs(pixels(request.image_png) - clean).mean()) for request in requests]
    assert {request.prompt for request in requests} == {one.request.prompt}
    assert all(gap > 0.0 for gap in gaps)
    assert gaps == sorted(gaps)
    assert changed(one, name, PICTURE_CHANGES[name][1][2], seed=3) == requests[2]


@pytest.mark.parametrize("name", list(PROMPT_CHANGES))
def test_a_change_of_the_prompt_leaves_the_picture(name):
    one = asked_about()[0]
    level = PROMPT_CHANGES[name][1][-1]

    request = changed(one, name, level, seed=3)

    assert request.image_png == PNG
    assert request.prompt != one.request.prompt
    assert changed(one, name, level, seed=3) == request
    assert changed(one, name, level, seed=4).prompt != request.prompt


def test_noise_depends_on_the_seed():
    one = asked_about()[0]

    assert changed(one, "noise", 20, seed=1).image_png != changed(one, "noise", 20, seed=2).image_png


def pixels(png):
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"), np.float64)


def test_curves_are_measured_on_decisions_and_single_objects(tmp_path):
    write_shard(tmp_path, 0, np.zeros((2, 24, 32, 3), np.uint8), [STREET, STREET])

    rows = chosen([tmp_path], each=1)
    found = shares(Scripted(), rows, [one.request for one in rows])

    assert (rows[0].task, rows[0].objects) == ("driving answer", ())
    assert all(len(one.objects) <= 1 and not one.statements for one in rows)
    assert (found["driving answer"].asked, found["indoor answer"].asked) == (1, 0)
