"""The exam that chooses a state: the same questions through a training, read as a search reads."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.tools.pocket_parts import BOX, SMALL, record, seen, small_trainee
from tools.pocket import exam as exam_module
from tools.pocket.exam import Exam, ExamQuestion, is_right
from tools.pocket.locating import own_prompt
from tools.pocket.packing import Packer
from tools.pocket.shards import PictureStore
from tools.pocket.truth import CLASSES

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


def test_an_untrained_model_takes_the_exam(exam, pocket_tokenizer):
    answers = exam.answers(small_trainee(pocket_tokenizer))

    assert set(answers) == {"score", *(one.part for one in exam.questions)}
    assert 0.0 <= answers["score"] <= 1.0


LARGE, SHIFTED = (0.1, 0.1, 0.8, 0.8), (0.1, 0.1, 0.8, 0.4)
CYCLISTS, CONES = CLASSES.index("cyclist"), CLASSES.index("cone")


@pytest.mark.parametrize(
    ("sure", "box", "score"),
    [
        ({3: (CYCLISTS, CONES)}, LARGE, 1.0),
        ({3: (CYCLISTS,), 1: (CONES,)}, LARGE, 0.5),
        ({3: (CYCLISTS - 1, CONES + 1)}, LARGE, 0.0),
        ({3: (CYCLISTS, CONES)}, SHIFTED, 0.0),  # IoU 3/7
    ],
    ids=["both", "one of two", "other classes", "box too small"],
)
def test_sight_is_the_share_of_large_things_whose_surest_cell_has_their_box(
    exam, pocket_tokenizer, sure, box, score
):
    trainee = small_trainee(pocket_tokenizer)

    def seen_alike(features):
        logits = torch.zeros(len(features), SMALL.grid**2, len(CLASSES) + 1)
        boxes = torch.tensor(BOX).repeat(len(features), SMALL.grid**2, 1)
        boxes[:, 3] = torch.tensor(box)
        for cell, classes in sure.items():
            logits[:, cell, [1 + one for one in classes]] = 5.0
        return logits, boxes

    trainee.heads.seen = seen_alike

    assert exam.sight(trainee) == {"score": score, "objects": 2.0}


def test_a_question_in_a_mixed_batch_has_the_reply_that_it_has_alone(exam, pocket_tokenizer, monkeypatch):
    monkeypatch.setattr(exam_module, "MOST_NEW_TOKENS", 2)  # what a letter may have alone
    trainee = small_trainee(pocket_tokenizer, seed=3)
    with torch.no_grad():
        trainee.vlm.lm_head.weight.mul_(30.0)
        for block in trainee.vlm.model.language_model.h:
            block.attn.c_proj.weight.normal_(0.0, 0.5, generator=torch.Generator().manual_seed(1))
    trainee.eval()

    with torch.no_grad():
        mixed = exam._replies(trainee, exam.questions)
        alone = [exam._replies(trainee, [one])[0] for one in exam.questions]

    assert mixed == alone
    assert len({len(pocket_tokenizer.encode(one.prompt)) for one in exam.questions}) > 2
    assert len(set(mixed)) > 3
