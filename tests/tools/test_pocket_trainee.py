"""The helper losses of the pocket VLM's training."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn import functional

from tests.tools.pocket_parts import SMALL, record, small_trainee
from tools.pocket.lessons import Classroom
from tools.pocket.packing import IGNORED, Packer
from tools.pocket.tokenizer import NEXT_COORDINATES
from tools.pocket.trainee import (
    COORDINATE_SPREAD,
    SceneCodes,
    VisionHeads,
    VisionTargets,
    _cell_loss,
    generalised_iou,
)
from tools.pocket.truth import BACKGROUND, CLASSES, STATES, SURROUNDINGS, UNKNOWN
from tools.pocket.wordings import Dialogue

COUNT = len(NEXT_COORDINATES)


@pytest.fixture(scope="module")
def trainee(pocket_tokenizer):
    return small_trainee(pocket_tokenizer)


@pytest.mark.parametrize(
    ("first", "second", "value"),
    [
        ((0, 0, 1, 1), (0, 0, 1, 1), 1.0),
        ((0, 0, 1, 1), (1, 0, 2, 1), 0.0),
        ((0, 0, 1, 1), (2, 0, 3, 1), -1 / 3),
        ((0, 0, 2, 2), (1, 1, 3, 3), 1 / 7 - 2 / 9),
        ((0, 0, 4, 4), (1, 1, 3, 3), 0.25),
        ((1, 1, 0, 0), (0, 0, 1, 1), 0.0),
    ],
)
def test_generalised_iou_of_hand_worked_boxes(first, second, value):
    one, two = (torch.tensor([box], dtype=torch.float32) for box in (first, second))

    assert generalised_iou(one, two).tolist() == pytest.approx([value], abs=1e-5)
    assert generalised_iou(two, one).tolist() == pytest.approx([value], abs=1e-5)


def guess(trainee, token, *, sureness=5.0):
    logits = torch.zeros(1, len_of(trainee))
    logits[0, token] = sureness
    return logits


def len_of(trainee):
    return trainee.vlm.get_input_embeddings().weight.shape[0]


def soft_loss(trainee, tokenizer, wanted, guessed):
    start = tokenizer.convert_tokens_to_ids(", 0")
    (loss,) = trainee._losses(guess(trainee, start + guessed), torch.tensor([start + wanted])).tolist()
    return loss


def test_a_near_miss_of_a_coordinate_costs_less_than_a_far_one(trainee, pocket_tokenizer):
    losses = [soft_loss(trainee, pocket_tokenizer, 50, guessed) for guessed in (50, 51, 49, 53, 60, 90)]

    assert losses[0] < losses[1] < losses[3] < losses[4]
    assert losses[1] == pytest.approx(losses[2])
    assert losses[4] == pytest.approx(losses[5], abs=1e-4)


def test_the_soft_loss_is_the_cross_entropy_with_a_bell_over_the_steps(trainee, pocket_tokenizer):
    bell = np.exp(-0.5 * ((np.arange(COUNT) - 50) / COORDINATE_SPREAD) ** 2)
    normaliser = np.log(len_of(trainee) - 1 + np.exp(5.0))

    expected = normaliser - 5.0 * bell[51] / bell.sum()

    assert soft_loss(trainee, pocket_tokenizer, 50, 51) == pytest.approx(expected, abs=1e-4)


def test_at_the_edge_the_bell_is_cut_and_still_adds_up_to_one(trainee, pocket_tokenizer):
    assert trainee.near.sum(1).tolist() == pytest.approx([1.0] * COUNT)
    assert soft_loss(trainee, pocket_tokenizer, 0, 0) < soft_loss(trainee, pocket_tokenizer, 50, 50)


@pytest.mark.parametrize("sign", list("ABCDTF"))
def test_letters_are_learnt_hard(trainee, pocket_tokenizer, sign):
    wanted = torch.tensor([pocket_tokenizer.convert_tokens_to_ids(sign)])
    logits = guess(trainee, int(wanted))

    assert trainee._losses(logits, wanted).tolist() == functional.cross_entropy(logits, wanted)[None].tolist()


def test_first_coordinates_are_learnt_softly_too(trainee, pocket_tokenizer):
    numbers = pocket_tokenizer.convert_tokens_to_ids(["0", "100", "500", "510", "1000"])
    losses = [
        trainee._losses(guess(trainee, numbers[3]), torch.tensor([wanted])).item() for wanted in numbers
    ]

    assert trainee._is_coordinate(torch.tensor(numbers)).tolist() == [True] * 5
    assert losses[3] < losses[2] < losses[1]


def test_words_are_learnt_hard_and_are_no_coordinates(trainee, pocket_tokenizer):
    wanted = torch.tensor(pocket_tokenizer.convert_tokens_to_ids(["<|end|>", '"}]', '], "label": "']))
    logits = torch.randn(3, len_of(trainee), generator=torch.Generator().manual_seed(1))

    losses = trainee._losses(logits, wanted)

    assert losses.tolist() == pytest.approx(
        functional.cross_entropy(logits, wanted, reduction="none").tolist()
    )
    assert trainee._is_coordinate(wanted).tolist() == [False] * 3
    following = torch.tensor(pocket_tokenizer.convert_tokens_to_ids([", 0", ", 1000"]))
    assert trainee._is_coordinate(following).tolist() == [True, True]


def targets(*, box=(0.1, 0.2, 0.3, 0.4), town=0.0):
    """Return two cells: a cone that is far, with a box; and background, with a box that means nothing."""
    return VisionTargets(
        torch.tensor([[CLASSES.index("cone"), BACKGROUND]]),
        torch.tensor([[STATES.index("far"), BACKGROUND]]),
        torch.tensor([[(0.5, 0.5, 0.7, 0.7), box]]),
        torch.tensor([[town, *[0.0] * (len(SURROUNDINGS) - 1)]]),
    )


def test_codes_ignore_boxes_of_the_background_and_see_those_of_things():
    codes = SceneCodes(width=16)
    other = targets(box=(0.8, 0.8, 0.9, 0.9))

    moved = replace(targets(), boxes=targets().boxes.flip(1))

    assert codes(targets()).equal(codes(other))
    assert codes(targets())[0, 1].equal(codes(moved)[0, 1])
    assert not torch.allclose(codes(targets())[0, 0], codes(moved)[0, 0], atol=0.01)
    assert codes(targets()).shape == (1, 2, 16)


def test_codes_take_an_unknown_surrounding_for_an_absent_one():
    codes = SceneCodes(width=16)

    assert codes(targets(town=UNKNOWN)).equal(codes(targets(town=0.0)))
    assert not torch.allclose(codes(targets(town=1.0)), codes(targets(town=0.0)), atol=0.01)


def statistics_of(trainee):
    state = trainee.vlm.model.vision_tower.state_dict()
    return {name: value.clone() for name, value in state.items() if "running" in name}


def test_a_fixed_tower_keeps_its_running_statistics_while_the_rest_trains(pocket_tokenizer):
    trainee = small_trainee(pocket_tokenizer)
    pixels = torch.rand(4, 3, 32, 32, generator=torch.Generator().manual_seed(3)) * 2 - 1
    before = statistics_of(trainee)

    trainee.has_fixed_tower = True
    trainee.train()
    trainee.see(pixels)
    fixed = statistics_of(trainee)
    trainee.has_fixed_tower = False
    trainee.train()
    trainee.see(pixels)
    free = statistics_of(trainee)

    assert len(before) > 4
    assert all(before[name].equal(fixed[name]) for name in before)
    assert not any(before[name].equal(free[name]) for name in before)


def test_training_mode_of_a_fixed_tower_is_off_and_of_everything_else_on(trainee):
    trainee.has_fixed_tower = True
    trainee.train()
    tower, language = trainee.vlm.model.vision_tower.training, trainee.vlm.model.language_model.training
    trainee.has_fixed_tower = False
    trainee.train()

    assert (tower, language, trainee.heads.training) == (False, True, True)
    assert trainee.vlm.model.vision_tower.training


def test_heads_start_from_the_centre_of_each_cell(trainee):
    assert trainee.heads.cells.tolist() == [
        [0.25, 0.25, 0.25, 0.25], [0.75, 0.25, 0.75, 0.25],
        [0.25, 0.75, 0.25, 0.75], [0.75, 0.75, 0.75, 0.75],
    ]  # fmt: skip


def test_a_tiny_model_learns_four_pictures_by_heart(pocket_tokenizer):
    trainee = small_trainee(pocket_tokenizer, seed=1)
    packer = Packer(pocket_tokenizer, image_tokens=SMALL.grid**2)
    records = [record("driving", "cone"), record("driving", "light_green")] * 2
    asked = Dialogue("A) stop\nB) go", "A", (("stop", True), ("go", False)))
    other = Dialogue("A) stop\nB) go", "B", (("stop", False), ("go", True)))
    batch = packer.pack([[asked], [other]] * 2)
    shown = Classroom(SMALL.grid, packer, 4).vision_targets(records, [one.objects for one in records])
    pixels = torch.tensor([-0.8, 0.8, -0.7, 0.7])[:, None, None, None].expand(4, 3, 32, 32)
    optimiser = torch.optim.AdamW(trainee.parameters(), lr=4e-3)
    history = []

    for _ in range(40):
        features, tokens = trainee.see(pixels)
        seen_loss, _ = trainee.vision_loss(features, tokens, shown, aligns=True)
        answer_loss, _ = trainee.answer_loss(tokens, batch)
        optimiser.zero_grad()
        (answer_loss + 0.1 * seen_loss).backward()
        optimiser.step()
        history.append((float(seen_loss.detach()), float(answer_loss.detach())))
    _, readings = trainee.answer_loss(trainee.see(pixels)[1], batch)

    assert readings["choice_right"] == 1.0
    assert readings["verdict"] < 0.5
    assert history[-1][0] < 0.7 * history[0][0]
    assert history[-1][1] < 0.5 * history[0][1]


def always(head, box):
    """Let a helper head tell the same box whatever it is shown."""
    with torch.no_grad():
        head[1].weight.zero_()
        head[1].bias.copy_((torch.tensor(box) - 0.5) / 0.25)


@pytest.mark.parametrize(
    ("told", "loss"),
    [
        ((0.1, 0.2, 0.3, 0.4), 0.0),
        ((0.1, 0.2, 0.3, 0.6), 2 * 0.05 + 0.5),  # one edge 0.2 off; half of it shared, no hull beyond
        ((0.3, 0.2, 0.5, 0.4), 2 * 0.1 + 1.0),  # beside it
    ],
)
def test_told_boxes_are_compared_with_those_of_answers_and_names(pocket_tokenizer, told, loss):
    trainee = small_trainee(pocket_tokenizer)
    packer = Packer(pocket_tokenizer, image_tokens=SMALL.grid**2)
    answer = '[{"bbox_2d": [100, 200, 300, 400], "label": "cone"}]'
    batch = packer.pack([[Dialogue("Find the cone.", answer, places=(("cone", (0.1, 0.2, 0.3, 0.4)),))]])
    hidden = torch.randn(*batch.token_ids.shape, SMALL.text_width)
    always(trainee.box_heads, told)
    always(trainee.place_heads, told)

    assert float(trainee._box_loss(hidden, batch)) == pytest.approx(loss, abs=1e-5)
    assert float(trainee._place_loss(hidden, batch)) == pytest.approx(loss, abs=1e-5)


def test_without_boxes_nothing_is_told(pocket_tokenizer):
    trainee = small_trainee(pocket_tokenizer)
    batch = Packer(pocket_tokenizer, image_tokens=SMALL.grid**2).pack([[Dialogue("Is it?", "T")]])
    hidden = torch.randn(*batch.token_ids.shape, SMALL.text_width)

    assert float(trainee._box_loss(hidden, batch)) == 0.0
    assert float(trainee._place_loss(hidden, batch)) == 0.0


@pytest.mark.parametrize(
    ("claims", "told", "loss"),
    [
        ((), 3.0, 0.0),
        ((("go", True),), 0.0, np.log(2.0)),
        ((("stop", False), ("go", True)), 2.0, (np.log(1 + np.exp(2.0)) + np.log(1 + np.exp(-2.0))) / 2),
    ],
    ids=["no claim", "undecided", "sure of both"],
)
def test_verdicts_are_compared_with_the_claims_and_without_claims_nothing_is_judged(
    pocket_tokenizer, claims, told, loss
):
    trainee = small_trainee(pocket_tokenizer)
    batch = Packer(pocket_tokenizer, image_tokens=4).pack([[Dialogue("A) stop B) go", "B", claims)]])
    hidden = torch.randn(*batch.token_ids.shape, SMALL.text_width, requires_grad=True)
    with torch.no_grad():
        trainee.verdict_heads[1].weight.zero_()
        trainee.verdict_heads[1].bias.fill_(told)

    found = trainee._verdict_loss(hidden, batch)
    found.backward()

    assert float(found.detach()) == pytest.approx(loss, abs=1e-5)


def test_a_batch_without_a_claim_has_a_loss(pocket_tokenizer):
    trainee = small_trainee(pocket_tokenizer)
    batch = Packer(pocket_tokenizer, image_tokens=4).pack([[Dialogue("Is it?", "T")]])

    loss, readings = trainee.answer_loss(torch.randn(1, 4, SMALL.text_width), batch)

    assert float(loss.detach()) > 0.0
    assert (readings["verdict"], readings["told_box"], readings["told_place"]) == (0.0, 0.0, 0.0)


QUESTIONS = (
    Dialogue("A) stop B) go C) wait", "A"),
    Dialogue("Find the cone", '[{"bbox_2d": [100, 200, 310, 410], "label": "cone"}]'),
    Dialogue("Is it so? T or F?", "T"),
)


def test_a_packed_question_has_the_logits_that_the_model_alone_gives_it(pocket_tokenizer):
    trainee = small_trainee(pocket_tokenizer)
    trainee.eval()
    packer = Packer(pocket_tokenizer, image_tokens=SMALL.grid**2)
    pixels = torch.rand(1, 3, 32, 32, generator=torch.Generator().manual_seed(2)) * 2 - 1
    packed = []
    trainee.vlm.lm_head.register_forward_hook(lambda _head, _read, logits: packed.append(logits))

    with torch.no_grad():
        trainee.answer_loss(trainee.see(pixels)[1], packer.pack([QUESTIONS]))
        (together,) = packed
        rows = []
        for one in QUESTIONS:
            batch = packer.pack([[one]])
            ids = batch.token_ids[:, batch.segments[0] >= 0]
            logits = trainee.vlm(input_ids=ids, pixel_values=pixels).logits[0]
            rows.append(logits[batch.targets[0][: len(logits)] != IGNORED])
    alone = torch.cat(rows)

    assert together.shape == alone.shape
    assert float((together - alone).abs().max()) < 1e-4 * float(alone.std())
    assert float((alone[0] - alone[-2]).abs().max()) > 0.1 * float(alone.std())


def heads_and_targets(*, town):
    """Return heads that tell the same of all features, with a bias for the first surrounding alone."""
    heads = VisionHeads(8, grid=2)
    with torch.no_grad():
        heads.surroundings.weight.zero_()
        heads.surroundings.bias.zero_()
        heads.surroundings.bias[0] = 5.0
    classes = torch.tensor([[CLASSES.index("cone"), BACKGROUND, BACKGROUND, BACKGROUND]])
    states = torch.tensor([[STATES.index("far"), BACKGROUND, BACKGROUND, BACKGROUND]])
    boxes = torch.zeros(1, 4, 4)
    boxes[0, 0] = torch.tensor([0.1, 0.1, 0.4, 0.4])
    around = torch.tensor([[town, *[0.0] * (len(SURROUNDINGS) - 1)]])
    return heads, VisionTargets(classes, states, boxes, around)


@pytest.mark.parametrize(
    ("town", "loss"),
    [
        (UNKNOWN, np.log(2.0)),
        (0.0, (np.log(1 + np.exp(5.0)) + (len(SURROUNDINGS) - 1) * np.log(2.0)) / len(SURROUNDINGS)),
        (1.0, (np.log(1 + np.exp(-5.0)) + (len(SURROUNDINGS) - 1) * np.log(2.0)) / len(SURROUNDINGS)),
    ],
    ids=["unknown", "absent", "there"],
)
def test_surroundings_that_nobody_knows_do_not_count(town, loss):
    heads, wanted = heads_and_targets(town=town)

    _, readings = heads(torch.randn(1, 4, 8), wanted)

    assert readings["around"] == pytest.approx(loss, abs=1e-5)


def test_an_unknown_town_moves_no_weight_and_a_known_one_does():
    moved = {}

    for town in (UNKNOWN, 0.0):
        heads, wanted = heads_and_targets(town=town)
        loss, _ = heads(torch.randn(1, 4, 8), wanted)
        loss.backward()
        moved[town] = float(heads.surroundings.bias.grad[0])

    assert moved[UNKNOWN] == 0.0
    assert moved[0.0] > 0.01


def test_the_loss_of_what_is_seen_is_the_sum_of_its_parts():
    heads, wanted = heads_and_targets(town=0.0)
    with torch.no_grad():
        heads.boxes.weight.zero_()
        heads.boxes.bias.copy_(torch.tensor([-0.6, -0.6, 0.6, 0.6]))  # the first cell tells 0.1 to 0.4

    loss, readings = heads(torch.randn(1, 4, 8), wanted)

    parts = readings["class"] + readings["state"] + 2.0 * readings["around"]
    assert readings["box"] == pytest.approx(0.0, abs=1e-5)
    assert float(loss.detach()) == pytest.approx(parts, abs=1e-5)


def test_seen_boxes_and_classes_are_those_that_the_loss_looks_at():
    heads, wanted = heads_and_targets(town=0.0)
    features = torch.randn(1, 4, 8)

    logits, boxes = heads.seen(features)
    _, readings = heads(features, wanted)

    apart = 1.0 - generalised_iou(boxes[0, :1], wanted.boxes[0, :1])
    assert readings["class"] == pytest.approx(float(_cell_loss(logits, wanted.classes.flatten() + 1)))
    assert readings["box"] == pytest.approx(float(apart))


def test_a_cell_of_the_background_counts_less_than_one_with_a_thing():
    logits = torch.log(torch.tensor([[[1.0, 1.0, 1.0], [1.0, 2.0, 1.0]]]))

    found = float(_cell_loss(logits, torch.tensor([0, 1])))

    assert found == pytest.approx((0.4 * np.log(3.0) + np.log(2.0)) / 1.4)
