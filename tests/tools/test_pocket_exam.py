"""The exam that chooses a state: the same questions through a training, read as a search reads."""

from dataclasses import replace

import numpy as np
import pytest

from tests.tools.pocket_parts import SMALL, record, seen, small_trainee
from tools.pocket.exam import Exam, ExamQuestion, is_right
from tools.pocket.locating import own_prompt
from tools.pocket.packing import Packer
from tools.pocket.shards import PictureStore

LETTER = ExamQuestion("driving:continue", 0, "?", answer="B")
CONE = seen("cone", box=(0.1, 0.2, 0.3, 0.4))
CYCLIST = seen("cyclist", box=(0.5, 0.5, 0.9, 0.9))
ONE = ExamQuestion("one", 0, "?", objects=(CONE,))
TWO = ExamQuestion("several", 0, "?", objects=(CONE, CYCLIST))


@pytest.mark.parametrize(
    ("text", "right"), [("B", True), (" B\n", True), ("A", False), ("BB", False), ("", False)]
)
def test_a_letter_is_right_where_it_is_the_whole_reply(text, right):
    assert is_right(LETTER, text) is right


@pytest.mark.parametrize(
    ("question", "text", "right"),
    [
        (ONE, '[{"bbox_2d": [100, 200, 300, 400], "label": "traffic cone"}]', True),
        (ONE, '[{"bbox_2d": [100, 200, 300, 300], "label": "traffic cone"}]', True),  # IoU 0.5
        (ONE, '[{"bbox_2d": [100, 200, 300, 290], "label": "traffic cone"}]', False),
        (ONE, "[]", False),
        (ONE, "no idea", False),
        (ONE, '[{"bbox_2d": [100, 200, 300', False),
        (TWO, '[{"bbox_2d": [500, 500, 900, 900]}, {"bbox_2d": [100, 200, 300, 400]}]', True),
        (TWO, '[{"bbox_2d": [500, 500, 900, 900]}]', True),  # one of two: 0.5
        (TWO, '[{"bbox_2d": [500, 500, 900, 800]}]', False),
        (ONE, '[{"bbox_2d": [500, 500, 900, 900]}, {"bbox_2d": [100, 200, 300, 390]}]', False),
    ],
)
def test_boxes_are_right_from_a_set_iou_of_a_half(question, text, right):
    assert is_right(question, text) is right


@pytest.fixture(scope="module")
def exam(pocket_tokenizer):
    store = PictureStore([], side=SMALL.image_size)
    large = [seen(one, box=(0.1, 0.1, 0.8, 0.8)) for one in ("cyclist", "cone")]
    street = replace(record("driving", "cyclist", "cone"), objects=tuple(large))
    small = replace(
        record("driving", "cone", "far", "light_green"), objects=(seen("cone", box=(0.1, 0.1, 0.2, 0.2)),)
    )
    store.add(np.zeros((3, 32, 32, 3), np.uint8), [street, small, record("indoor", "knife_block")])
    return Exam(store, Packer(pocket_tokenizer, image_tokens=SMALL.grid**2), seed=5)


def test_an_exam_asks_each_kind_about_each_picture_and_large_things_only(exam):
    parts = [(one.picture, one.part) for one in exam.questions]

    assert parts == [
        (0, "one"),
        (0, "several"),
        (0, "driving:emergency_stop"),
        (0, "true"),
        (0, "false"),
        (1, "driving:slow_down large"),
        (1, "true"),
        (1, "false"),
        (2, "indoor:safe"),
        (2, "true"),
        (2, "false"),
    ]
    several = exam.questions[1]
    assert several.prompt == own_prompt([one.label for one in several.objects])
    assert {one.answer for one in exam.questions if one.part in ("true", "false")} == {"T", "F"}


def test_the_same_seed_sets_the_same_exam(exam):
    again = Exam(exam.store, exam.packer, seed=5)

    assert again.questions == exam.questions


def test_the_score_is_the_mean_over_tasks_without_large_sets(exam, pocket_tokenizer, monkeypatch):
    right = {one.prompt: one for one in exam.questions}

    def replies(_self, _trainee, batch):
        known = {"one": '[{"bbox_2d": [100, 100, 800, 800]}]', "several": "[]"}
        return [known.get(right[one.prompt].part, "T" if one.answer in "TF" else one.answer) for one in batch]

    monkeypatch.setattr(Exam, "_replies", replies)

    found = exam.answers(small_trainee(pocket_tokenizer))

    assert found == {
        "score": pytest.approx((1.0 + 0.0 + 1.0 + 1.0 + 0.5) / 5),
        "driving:emergency_stop": 1.0,
        "driving:slow_down large": 1.0,
        "false": 0.0,
        "indoor:safe": 1.0,
        "one": 1.0,
        "several": 0.0,
        "true": 1.0,
    }


def test_an_untrained_model_takes_the_exam_and_sees_what_may_be_asked(exam, pocket_tokenizer):
    trainee = small_trainee(pocket_tokenizer)

    sight, answers = exam.sight(trainee), exam.answers(trainee)

    assert sight["objects"] == 2.0
    assert 0.0 <= sight["score"] <= 1.0
    assert set(answers) == {"score", *(one.part for one in exam.questions)}
    assert 0.0 <= answers["score"] <= 1.0
