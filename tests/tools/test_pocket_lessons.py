"""Lessons and what they are drawn from: the same step is the same batch, and each phase teaches its part."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.doubles import FlatSceneSource
from tests.tools.pocket_parts import SMALL, record, small_trainee
from tools.pocket.exam import Exam
from tools.pocket.lessons import Classroom, LanguageLesson, PictureLesson
from tools.pocket.model import build_model
from tools.pocket.modes import failure_rate
from tools.pocket.packing import Packer
from tools.pocket.render import DRAWS, render_shard
from tools.pocket.sets import SetSampler
from tools.pocket.shards import PictureStore
from tools.pocket.tokenizer import coordinate_rows
from tools.pocket.trainee import Trainee
from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.seeding import rng_for
from vlmlab.core.suts.base import SutReply

RECORDS = [
    record("driving", "cone"),
    record("driving", "pedestrian", "on_sidewalk"),
    record("driving", "light_green"),
    record("driving", "obstruction_far"),
    record("indoor", "knife_edge"),
    record("indoor", "cabinet_closed"),
]


@pytest.fixture
def lesson_of(pocket_tokenizer, tmp_path):
    def made(name: str) -> PictureLesson:
        store = PictureStore([tmp_path], side=SMALL.image_size)
        rng = np.random.default_rng(1)
        store.add(rng.integers(0, 256, (len(RECORDS), 32, 32, 3), dtype=np.uint8), RECORDS)
        trainee = small_trainee(pocket_tokenizer)
        packer = Packer(pocket_tokenizer, image_tokens=SMALL.grid**2)
        room = Classroom(SMALL.grid, packer, 4)
        exam = Exam(store, packer, seed=1)
        return PictureLesson(trainee, room, seed=3, pictures=store, exam=exam, name=name)

    return made


def test_a_step_is_the_same_batch_whenever_it_comes(lesson_of):
    lesson = lesson_of("joint")
    lesson.trainee.eval()
    first, _ = lesson.loss_at(5)
    lesson.loss_at(6)
    again, _ = lesson.loss_at(5)
    other, _ = lesson.loss_at(6)
    assert float(first) == pytest.approx(float(again), rel=1e-6)
    assert float(first) != pytest.approx(float(other), rel=1e-4)


@pytest.mark.parametrize(
    ("name", "readings"),
    [
        ("vision", {"class", "state", "box", "around"}),
        ("bridge", {"class", "state", "box", "around", "align"}),
        (
            "joint",
            {"class", "state", "box", "around", "align", "choice_right", "verdict", "told_box"}
            | {"told_place", "coordinate", "steps_off"},
        ),
    ],
)
def test_each_phase_looks_at_its_own_losses(lesson_of, name, readings):
    loss, found = lesson_of(name).loss_at(0)
    loss.backward()
    assert found.keys() == readings
    assert all(np.isfinite(list(found.values())))


def test_vision_teaches_the_tower_and_not_the_words(lesson_of):
    lesson = lesson_of("vision")
    loss, _ = lesson.loss_at(0)
    loss.backward()
    vlm = lesson.trainee.vlm
    assert any(
        one.grad is not None and one.grad.abs().sum() > 0 for one in vlm.model.vision_tower.parameters()
    )
    assert all(one.grad is None for one in vlm.model.language_model.parameters())


def test_imagined_scenes_teach_the_words_and_the_codes(pocket_tokenizer):
    shape = replace(SMALL, image_size=96)
    torch.manual_seed(0)

    trainee = Trainee(
        build_model(pocket_tokenizer, shape), grid=shape.grid, coordinates=coordinate_rows(pocket_tokenizer)
    )
    room = Classroom(shape.grid, Packer(pocket_tokenizer, image_tokens=shape.grid**2), 3)
    loss, _ = LanguageLesson(trainee, room, seed=1).loss_at(0)
    loss.backward()
    assert trainee.codes.classes.weight.grad.abs().sum() > 0
    assert trainee.vlm.lm_head.weight.grad.abs().sum() > 0
    assert all(one.grad is None for one in trainee.vlm.model.vision_tower.parameters())


class Refusing(FlatSceneSource):
    """Cannot draw every second scene."""

    def __init__(self) -> None:
        self.calls = 0

    def generate(self, concepts, *, seed):
        self.calls += 1
        if self.calls % 2:
            raise GenerationError("No room.")
        return super().generate(concepts, seed=seed)


def test_a_shard_is_full_although_some_sets_cannot_be_drawn(capsys):
    source = Refusing()
    pictures, records = render_shard(
        source, SetSampler(load_domain("driving")), purpose="test", number=2, count=3
    )
    assert (len(pictures), len(records), source.calls) == (3, 3, 6)
    assert pictures.shape == (3, 12, 16, 3)
    assert capsys.readouterr().out.count("passed over") == 3


def test_small_sets_have_each_answer_in_turn_and_random_ones_any_size():
    domain = load_domain("driving")
    sampler, rng = SetSampler(domain), rng_for(1, "x")
    small = [DRAWS["small"](sampler, rng, place) for place in range(30)]
    assert [domain.decide(key).action for key in small] == list(domain.actions) * 10
    assert {len(key) for key in small} == {1, 2}
    sizes = [len(DRAWS["random"](sampler, rng, 0)) for _ in range(400)]
    assert {size: sizes.count(size) > 60 for size in sizes} == {1: True, 2: True, 3: True, 4: True}


class Stubborn:
    """Answers A to everything."""

    def generate(self, requests):
        return [SutReply("A", "stop") for _ in requests]


def test_a_mode_is_asked_again_on_as_many_fresh_scenes_as_wanted():
    domain = load_domain("driving")
    source = Refusing()
    share = failure_rate(Stubborn(), domain, ("cone",), source=source, scenes=60)
    assert (share.asked, source.calls) == (60, 120)
    assert 25 <= share.right <= 55  # two of three orders have the right answer elsewhere
