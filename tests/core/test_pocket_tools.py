"""The scripts that train the pocket VLM: prompts, tokens, packing, targets, learning, saving."""

from pathlib import Path

import numpy as np
import pytest
import torch

from tools.pocket.augment import augmented
from tools.pocket.lessons import Classroom
from tools.pocket.model import PocketShape, build_model, build_processor, load_checkpoint, save_checkpoint
from tools.pocket.packing import END_WEIGHT, IGNORED, Packer
from tools.pocket.sets import RARITY, SetSampler, decided_universe, lesson_shares
from tools.pocket.shards import PictureRecord, PictureStore, write_shard
from tools.pocket.tokenizer import build_tokenizer
from tools.pocket.trainee import Trainee
from tools.pocket.truth import (
    BACKGROUND,
    STATES,
    SeenThing,
    Thing,
    cell_targets,
    class_names,
    surrounding_names,
    truth_of,
)
from tools.pocket.wordings import (
    ORDERS,
    Dialogue,
    draw_dialogue,
    prompt_corpus,
    reason_sentence,
    with_typos,
)
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.questions import ask_question
from vlmlab.core.seeding import rng_for

SMALL = PocketShape(
    image_size=32, vision_width=64, vision_depth=1, vision_heads=2, text_width=64, text_depth=2, text_inner=96
)


@pytest.fixture(scope="module")
def domain():
    return load_domain("driving")


@pytest.fixture(scope="module")
def tokenizer(domain):
    keys = [key for key, _ in decided_universe(domain, 2)][:200]
    return build_tokenizer(prompt_corpus(domain, keys, rng=rng_for(1, "corpus")), vocabulary_size=600)


def tokens_of(tokenizer, text: str) -> list[int]:
    return tokenizer([text])["input_ids"][0]


@pytest.mark.parametrize(
    "text", ["A) Stop.\nB) Ça va?", "  two  spaces \t tab", "日本 🚗", "Locate the cylcist.", ""]
)
def test_tokenizer_gives_back_any_text_it_encoded(tokenizer, text):
    assert tokenizer.decode(tokens_of(tokenizer, text)) == text


def test_each_option_letter_is_one_token_also_inside_the_real_prompt(tokenizer, domain):
    prompt = ask_question(domain, ("cone",), seed=4).prompt

    tokens = tokenizer.convert_ids_to_tokens(tokens_of(tokenizer, prompt))

    assert [len(tokens_of(tokenizer, letter)) for letter in "ABC"] == [1, 1, 1]
    assert [token for token in tokens if token in ("A", "B", "C")] == ["A", "B", "C"]


def test_truth_moves_only_the_last_modifiable_entity(domain):
    truth = truth_of(domain, ("pedestrian", "cone", "far", "weather_foggy", "light_red"))

    assert truth.things == (Thing("pedestrian", "close"), Thing("cone", "far"), Thing("light_red", "light"))
    assert truth.surroundings == ("weather_foggy", "intersection_ego")
    assert truth.action == "emergency_stop"


def test_truth_without_weather_has_the_default_weather(domain):
    assert truth_of(domain, ("cone",)).surroundings == ("weather_clear_noon",)


def test_cells_of_a_small_box_lie_over_those_of_a_large_one():
    large = SeenThing("cone", "close", (0.0, 0.0, 1.0, 1.0))
    small = SeenThing("cyclist", "far", (0.55, 0.55, 0.7, 0.7))

    cells = cell_targets([[small, large]], classes=("cone", "cyclist"), grid=2)

    assert cells.classes.tolist() == [[[0, 0], [0, 1]]]
    assert cells.states[0, 1, 1] == STATES.index("far")
    assert cells.boxes[0, 1, 1].tolist() == pytest.approx([0.55, 0.55, 0.7, 0.7])


def test_cells_of_an_empty_picture_are_background():
    cells = cell_targets([[]], classes=("cone",), grid=3)

    assert set(cells.classes.ravel().tolist()) == {BACKGROUND}


def test_sampler_draws_each_expected_action_about_a_third_of_the_time(domain):
    sampler = SetSampler(domain, size_shares={1: 0.4, 2: 0.6})
    rng = rng_for(3, "sets")

    actions = [domain.decide(sampler.draw(rng)).action for _ in range(600)]

    counts = [actions.count(action) for action in ("emergency_stop", "slow_down", "continue")]
    assert min(counts) > 150
    assert sum(counts) == 600


def test_lesson_shares_give_each_expected_answer_a_third_and_rare_concepts_less():
    keys = [
        ("cone",),
        ("wheelchair_pedestrian",),
        ("cone", "far"),
        ("town_town01",),
        ("cone", "near", "on_lane", "light_red"),
    ]
    actions = ["emergency_stop", "emergency_stop", "slow_down", "continue", "emergency_stop"]

    shares = lesson_shares(keys, actions)

    common, rare = 1.0, RARITY["wheelchair_pedestrian"]
    expected = [common / (common + rare) / 3, rare / (common + rare) / 3, 1 / 3, 1 / 3, 0.0]
    assert shares.tolist() == pytest.approx(expected)


def test_sampled_sets_are_valid_and_of_the_wanted_size(domain):
    sampler = SetSampler(domain, size_shares={2: 0.5, 3: 0.5})
    rng = rng_for(4, "sets")

    keys = [sampler.draw(rng, action="continue", size=3) for _ in range(50)]

    assert all(domain.is_compatible(key) and len(key) == 3 for key in keys)
    assert {domain.decide(key).action for key in keys} == {"continue"}


def test_letters_of_a_dialogue_are_shuffled_and_every_letter_is_right_now_and_then(domain):
    truth = truth_of(domain, ("cone",))
    rng = rng_for(5, "dialogues")

    letters = [draw_dialogue(domain, truth, rng=rng).letter for _ in range(300)]

    assert len(ORDERS) == 6
    assert min(letters.count(letter) for letter in "ABC") > 60


def test_reason_names_the_far_thing_that_decides(domain):
    truth = truth_of(domain, ("light_green", "cone", "far"))

    assert reason_sentence(domain, truth) == "Cone in the lane, further ahead."


def test_typos_leave_option_letters_alone():
    text = "A) stop B) slow down C) continue"

    noisy = with_typos(text, 20, rng=rng_for(6, "typos"))

    assert noisy != text
    assert [sign for sign in noisy if sign.isupper()] == ["A", "B", "C"]


def test_packing_teaches_answers_only_and_shows_each_question_the_picture_and_itself(tokenizer):
    packer = Packer(tokenizer, image_tokens=4)
    row = [Dialogue("A) stop B) go C) wait", "A", "A"), Dialogue("Pick A or B or C", "C", "C")]

    batch = packer.pack([row, row[:1]])

    segments, targets = batch.segments[0], batch.targets[0]
    letter_ids = [tokens_of(tokenizer, letter)[0] for letter in "AC"]
    taught = targets[targets != IGNORED].tolist()
    assert taught == [letter_ids[0], tokenizer.eos_token_id, letter_ids[1], tokenizer.eos_token_id]
    assert batch.weights[0][targets != IGNORED].tolist() == pytest.approx([1.0, END_WEIGHT, 1.0, END_WEIGHT])
    assert segments[:5].tolist() == [0] * 5
    starts = [int((segments == number).nonzero()[0]) for number in (1, 2)]
    assert batch.positions[0][starts].tolist() == [5, 5]
    open_to = batch.attention_mask()[0, 0] == 0
    second = int(starts[1])
    assert open_to[second, :5].all()
    assert not open_to[second, starts[0] : second].any()
    assert not open_to[second, second + 1 :].any()
    assert (batch.segments[1] == -1).any()


def test_packing_marks_the_end_of_the_right_option(tokenizer):
    packer = Packer(tokenizer, image_tokens=1)

    batch = packer.pack([[Dialogue("A) stop\nB) go\nC) wait", "B", "B")]])

    marks = batch.verdicts[0]
    assert marks[marks != IGNORED].tolist() == [0, 1, 0]


def test_mirrored_and_moved_pictures_keep_boxes_on_their_things():
    pictures = np.zeros((24, 40, 40, 3), np.uint8)
    pictures[:, 16:24, 6:14] = 255
    things = [[SeenThing("cone", "close", (6 / 40, 16 / 40, 14 / 40, 24 / 40))]] * 24

    pixels, moved = augmented(pictures, things, rng=rng_for(7, "augment"))

    for picture, row in zip(pixels, moved, strict=True):
        ys, xs = np.nonzero(picture.mean(0).numpy() > 0.3)
        box = np.array(row[0].box) * 40
        assert np.abs(np.array([xs.min(), ys.min(), xs.max() + 1, ys.max() + 1]) - box).max() <= 1.6


def test_store_joins_new_shards_and_skips_those_it_knows(tmp_path: Path, domain):
    record = PictureRecord(("cone",), 5, (SeenThing("cone", "close", (0.1, 0.2, 0.3, 0.4)),))
    write_shard(tmp_path, 0, np.full((2, 6, 8, 3), 7, np.uint8), [record, record])
    store = PictureStore([tmp_path], domain=domain, side=4)

    joined = [store.refresh(), store.refresh()]
    write_shard(tmp_path, 1, np.full((1, 6, 8, 3), 9, np.uint8), [record])
    joined.append(store.refresh())

    assert joined == [2, 0, 1]
    assert store.records == [record] * 3
    assert store.pictures([2, 0])[:, 0, 0, 0].tolist() == [9, 7]


def test_pocket_model_learns_eight_pictures_by_heart_and_answers_alike_after_saving(
    tmp_path, tokenizer, domain
):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    rng = rng_for(8, "pictures")
    keys = [("cone",), ("cone", "far"), ("weather_cloudy",), ("light_red",)] * 2
    truths = [truth_of(domain, key) for key in keys]
    pictures = torch.from_numpy(rng.uniform(-1, 1, (8, 3, 32, 32)).astype(np.float32))
    vlm = build_model(tokenizer, SMALL)
    classes, around = class_names(domain), surrounding_names(domain)
    trainee = Trainee(vlm, classes=classes, surroundings=around, grid=SMALL.grid)
    packer = Packer(tokenizer, image_tokens=SMALL.grid**2)
    room = Classroom(domain, SMALL.grid, packer, 8, 1)
    targets = room.vision_targets(truths, [[] for _ in truths])
    questions = [ask_question(domain, key, seed=1) for key in keys]
    batch = packer.pack([[Dialogue(q.prompt, q.expected_letter, q.expected_letter)] for q in questions])
    optimiser = torch.optim.AdamW(trainee.parameters(), lr=4e-3)

    for _ in range(40):
        features, tokens = trainee.see(pictures)
        letter_loss, readings = trainee.letter_loss(tokens, batch)
        vision_loss, _ = trainee.vision_loss(features, tokens, targets)
        optimiser.zero_grad()
        (letter_loss + 0.1 * vision_loss).backward()
        optimiser.step()
    processor = build_processor(tokenizer, SMALL)
    save_checkpoint(vlm, processor, tmp_path)
    again = load_checkpoint(tmp_path)
    vlm.eval()

    assert readings["letter_right"] == 1.0
    text = processor.apply_chat_template(
        [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": questions[0].prompt}]}],
        add_generation_prompt=True,
    )
    image = np.zeros((40, 50, 3), np.uint8)
    inputs = processor(text=text, images=image, return_tensors="pt")
    assert (
        inputs["input_ids"][0].tolist()
        == packer.prefix + tokens_of(tokenizer, questions[0].prompt) + packer.suffix
    )
    with torch.no_grad():
        first, second = (model(**inputs).logits[0, -1] for model in (vlm, again))
    assert torch.allclose(first, second, atol=0.3)
