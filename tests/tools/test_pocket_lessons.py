"""Lessons and what they are drawn from: the same step is the same batch, and each phase teaches its part."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.doubles import FlatSceneSource
from tests.tools.pocket_parts import SMALL, record, small_trainee
from tools.pocket import lessons
from tools.pocket.exam import Exam
from tools.pocket.lessons import SHOWN_CELLS, Classroom, LanguageLesson, PictureLesson
from tools.pocket.model import build_model
from tools.pocket.modes import failure_rate
from tools.pocket.packing import Packer
from tools.pocket.render import DRAWS, render_shard
from tools.pocket.sets import SetSampler
from tools.pocket.shards import PictureStore
from tools.pocket.tokenizer import coordinate_rows
from tools.pocket.trainee import Trainee, VisionTargets
from tools.pocket.truth import BACKGROUND
from tools.pocket.wordings import Dialogue
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


def language_lesson(tokenizer, *, batch_size):
    """Return a language lesson of a tiny model whose picture has 6 x 6 cells: as many as are shown."""
    shape = replace(SMALL, image_size=96)
    torch.manual_seed(0)
    trainee = Trainee(build_model(tokenizer, shape), grid=shape.grid, coordinates=coordinate_rows(tokenizer))
    room = Classroom(shape.grid, Packer(tokenizer, image_tokens=shape.grid**2), batch_size)
    return LanguageLesson(trainee, room, seed=1)


def test_imagined_scenes_teach_the_words_and_the_codes(pocket_tokenizer):
    lesson = language_lesson(pocket_tokenizer, batch_size=3)
    loss, _ = lesson.loss_at(0)
    loss.backward()
    trainee = lesson.trainee
    assert trainee.codes.classes.weight.grad.abs().sum() > 0
    assert trainee.vlm.lm_head.weight.grad.abs().sum() > 0
    assert all(one.grad is None for one in trainee.vlm.model.vision_tower.parameters())


@pytest.fixture
def asked(monkeypatch):
    """Note what lessons ask about: record, kind and whose answer it is."""
    rows = []

    def draw(kind, found, _objects, *, rng, by_people=False):
        rows.append((found, kind, by_people))
        return Dialogue("A) stop B) go", "A")

    monkeypatch.setattr(lessons, "draw_dialogue", draw)
    return rows


def test_pictures_that_teach_decisions_are_asked_for_them_and_the_others_where_things_are(lesson_of, asked):
    lesson = lesson_of("joint")
    lesson.room = replace(lesson.room, batch_size=5)
    lesson.deciding, lesson.showing = {False: np.eye(6)[0], True: np.eye(6)[1]}, np.eye(6)[5]

    for step in range(lessons.PEOPLE_FROM - 4, lessons.PEOPLE_FROM + 4):
        lesson.loss_at(step)

    assert len(asked) == 8 * 5 * 4
    instead = set()
    for start in range(0, len(asked), 20):
        kinds = [kind for _, kind, _ in asked[start : start + 20]]
        for place in (1, 5):
            instead.add(kinds[place])
            kinds[place] = "probe"
        assert kinds[:8] == ["decision", "probe", "location", "location"] * 2
        assert kinds[8:] == ["location", "location", "location", "statement"] * 3
    assert instead == {"probe", "statement"}
    for start, number, by_people in ((0, 0, False), (80, 1, True)):
        own = asked[start : start + 80]
        assert [found for found, _, _ in own] == ([RECORDS[number]] * 8 + [RECORDS[5]] * 12) * 4
        assert [whose for _, _, whose in own] == [by_people] * 80


def test_of_imagined_scenes_six_of_ten_teach_decisions_some_with_statements_before(
    pocket_tokenizer, asked, monkeypatch
):
    drawn = []

    def imagined(_rng, *, decides):
        drawn.append(decides)
        return RECORDS[len(drawn) % len(RECORDS)]

    monkeypatch.setattr(lessons, "imagined_record", imagined)
    lesson = language_lesson(pocket_tokenizer, batch_size=10)

    for step in range(20):
        lesson.loss_at(step)

    kinds = [kind for _, kind, _ in asked]
    scenes = [kinds[start : start + 4] for start in range(0, len(kinds), 4)]
    deciding = [one for start in range(0, 200, 10) for one in scenes[start : start + 6]]
    showing = [one for start in range(0, 200, 10) for one in scenes[start + 6 : start + 10]]
    decisions = [kind for one in deciding for kind in one[:2]]
    assert drawn == ([True] * 6 + [False] * 4) * 20
    assert set(decisions) == {"decision", "probe"}
    assert abs(decisions.count("probe") / len(decisions) - 0.35) < 0.1
    assert [one[2:] for one in deciding] == [["location", "statement"]] * 120
    assert showing == [["location", "location", "location", "statement"]] * 80
    assert not any(by_people for _, _, by_people in asked)


def losses_of(lesson, monkeypatch, *, ranks):
    lesson.trainee.eval()
    losses = []
    for number in ranks:
        monkeypatch.setattr(lessons, "rank", lambda number=number: number)
        losses.append(float(lesson.loss_at(5)[0]))
    return losses


@pytest.mark.parametrize("name", ["language", "vision", "joint"])
def test_each_worker_has_batches_of_its_own(lesson_of, pocket_tokenizer, monkeypatch, name):
    language = name == "language"
    lesson = language_lesson(pocket_tokenizer, batch_size=3) if language else lesson_of(name)

    first, second, again = losses_of(lesson, monkeypatch, ranks=(0, 1, 0))

    assert again == pytest.approx(first, rel=1e-6)
    assert second != pytest.approx(first, rel=1e-4)


def test_the_score_of_the_language_check_is_right_choices_less_steps_off(pocket_tokenizer, monkeypatch):
    lesson = language_lesson(pocket_tokenizer, batch_size=3)
    readings = {"choice_right": 0.9, "steps_off": 3.0, "verdict": 0.2}
    counts = []

    def loss(_rng, count):
        counts.append((count, lesson.trainee.training))
        return torch.tensor(1.0), readings

    monkeypatch.setattr(lesson, "_loss", loss)
    lesson.trainee.train()

    assert lesson.check() == {"score": pytest.approx(0.9 - 0.06), **readings}
    assert counts == [(160, False)]


def cells_of(*areas):
    """Return the targets of one picture of 10 x 10 cells: of each class so many cells, in a row."""
    classes = torch.full((1, 100), BACKGROUND)
    start = 0
    for number, area in enumerate(areas):
        classes[0, start : start + area] = number
        start += area
    return VisionTargets(classes, classes, torch.zeros(1, 100, 4), torch.zeros(1, 1))


def test_shown_cells_are_sorted_each_once_and_have_all_of_the_small_things():
    targets = cells_of(1, 2, 60)
    large = background = 0

    for number in range(50):
        (cells,) = lessons._chosen_cells(targets, rng=rng_for(number, "cells")).tolist()
        large += sum(3 <= cell < 63 for cell in cells)
        background += sum(cell >= 63 for cell in cells)
        assert len(cells) == SHOWN_CELLS == 36
        assert cells == sorted(set(cells))
        assert cells[:3] == [0, 1, 2]

    # of the 33 others: a cell of the large thing is ahead by 0.53 of the background's range
    assert large / 60 > 2 * background / 37 > 0


def test_the_same_generator_shows_the_same_cells():
    targets = cells_of(1, 5)

    first, again, other = (lessons._chosen_cells(targets, rng=rng_for(seed, "cells")) for seed in (1, 1, 2))

    assert first.equal(again)
    assert not first.equal(other)


def test_shown_cells_have_the_positions_of_the_whole_picture_and_questions_stand_behind_it(pocket_tokenizer):
    packer = Packer(pocket_tokenizer, image_tokens=3)
    batch = packer.pack([[Dialogue("A) stop B) go", "A"), Dialogue("Is it?", "T")]])
    cells = torch.tensor([[2, 5, 9]])

    placed = lessons._placed(batch, cells, all_cells=10)

    segments, positions = batch.segments[0], placed.positions[0]
    assert positions[:4].tolist() == [0, 3, 6, 10]
    for number in (1, 2):
        own = positions[segments == number].tolist()
        assert own == list(range(11, 11 + len(own)))
    assert positions[segments == -1].tolist() == [7] * int((segments == -1).sum())
    assert placed.token_ids.equal(batch.token_ids)
    assert placed.targets.equal(batch.targets)


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
