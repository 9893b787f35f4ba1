"""Several questions packed behind one picture: what is taught, what is seen, what is marked."""

import pytest
import torch

from tools.pocket import packing
from tools.pocket.packing import CHOICE_WEIGHT, IGNORED, OTHER_WEIGHT, Packer, token_id
from tools.pocket.wordings import Dialogue
from vlmlab.core.seeding import rng_for

PICK = Dialogue("A) stop B) go C) wait", "A")
SECOND = Dialogue("Pick A or B or C", "C")
BOX = Dialogue("Find the cone", '[{"bbox_2d": [100, 200, 310, 410], "label": "cone"}]')


@pytest.fixture(scope="module")
def packer(pocket_tokenizer):
    return Packer(pocket_tokenizer, image_tokens=4)


def ids_of(packer, *tokens):
    return [token_id(packer.tokenizer, token) for token in tokens]


def test_a_row_is_the_picture_and_then_each_question_with_its_answer(packer):
    batch = packer.pack([[PICK, SECOND]])

    text = packer.tokenizer.decode(batch.token_ids[0], skip_special_tokens=False)
    assert text == (
        "<|user|><image><image><image><image>"
        "A) stop B) go C) wait<|end|><|assistant|>A<|end|>"
        "Pick A or B or C<|end|><|assistant|>C<|end|>"
    ) + "<|pad|>" * int((batch.segments[0] == -1).sum())


def test_rows_are_as_long_as_a_multiple_of_64_tokens(packer):
    lengths = [packer.pack([[SECOND] * count]).token_ids.shape[1] for count in range(1, 12)]

    assert set(lengths) == {64, 128, 192}


def test_only_answers_are_taught_each_one_token_ahead(packer):
    batch = packer.pack([[PICK, SECOND]])

    ids, targets = batch.token_ids[0], batch.targets[0]
    taught = (targets != IGNORED).nonzero()[:, 0]
    letter_a, letter_c, end = ids_of(packer, "A", "C", "<|end|>")
    assert targets[taught].tolist() == [letter_a, end, letter_c, end]
    assert targets[taught].tolist() == ids[taught + 1].tolist()
    (opening,) = ids_of(packer, "<|assistant|>")
    assert ids[taught].tolist() == [opening, letter_a, opening, letter_c]
    assert batch.weights[0][targets == IGNORED].tolist() == [0.0] * int((targets == IGNORED).sum())
    assert batch.weights[0][taught].tolist() == pytest.approx([CHOICE_WEIGHT, OTHER_WEIGHT] * 2)


def test_letters_count_most_coordinates_and_the_opening_half_and_words_little(packer):
    batch = packer.pack([[BOX, Dialogue("Is it? T or F?", "T")]])

    targets, weights = batch.targets[0], batch.weights[0]
    named = dict(
        zip(
            packer.tokenizer.convert_ids_to_tokens(targets[targets != IGNORED]),
            weights[targets != IGNORED].tolist(),
            strict=True,
        )
    )
    assert {name: round(weight, 3) for name, weight in named.items()} == {
        '[{"bbox_2d": [': 0.5,
        "100": 1.0,
        ", 200": 1.0,
        ", 310": 1.0,
        ", 410": 1.0,
        '], "label": "': 0.12,
        "c": 0.12,
        "one": 0.12,
        '"}]': 0.12,
        "<|end|>": 0.12,
        "T": CHOICE_WEIGHT,
    }


def test_positions_restart_behind_the_picture_for_each_question(packer):
    batch = packer.pack([[PICK, SECOND]])

    segments, positions = batch.segments[0], batch.positions[0]
    assert positions[segments == 0].tolist() == [0, 1, 2, 3, 4]
    for number in (1, 2):
        own = positions[segments == number].tolist()
        assert own == list(range(5, 5 + len(own)))


def test_a_question_sees_the_picture_and_itself_up_to_here(packer):
    batch = packer.pack([[PICK, SECOND], [PICK]])

    mask = batch.attention_mask()
    segments = batch.segments
    for row in range(2):
        allowed = mask[row, 0] == 0
        for place, own in enumerate(segments[row].tolist()):
            expected = [
                before <= place and own >= 0 and other in (0, own) and (own > 0 or other == 0)
                for before, other in enumerate(segments[row].tolist())
            ]
            if own >= 0:
                assert allowed[place].tolist() == expected
    assert mask[mask != 0].unique().tolist() == [-1e9]


def test_shorter_rows_are_padded_on_the_right(packer):
    batch = packer.pack([[PICK, SECOND], [PICK]])

    length = int((packer.pack([[PICK]]).segments[0] != -1).sum())
    rest = slice(length, None)
    assert batch.token_ids[1][:length].tolist() == packer.pack([[PICK]]).token_ids[0][:length].tolist()
    assert set(batch.token_ids[1][rest].tolist()) == {packer.tokenizer.pad_token_id}
    assert set(batch.segments[1][rest].tolist()) == {-1}
    assert set(batch.targets[1][rest].tolist()) == set(batch.verdicts[1][rest].tolist()) == {IGNORED}
    assert set(batch.weights[1][rest].tolist()) == {0.0}
    assert (batch.weights.dtype, batch.token_ids.dtype) == (torch.float32, torch.int64)


def marks(packer, dialogue, **named):
    """Return the text up to each mark, with the mark."""
    batch = packer.pack([[dialogue]], **named)
    start, found = 5, []
    for place in (batch.verdicts[0] != IGNORED).nonzero()[:, 0].tolist():
        text = packer.tokenizer.decode(batch.token_ids[0][start : place + 1])
        found.append((text, int(batch.verdicts[0][place])))
    return found


CLAIMS = Dialogue(
    "1. It is dry.\n2. There is thick fog.\nA) stop\nB) go",
    "1. F\n2. T\nB",
    (("It is dry.", False), ("There is thick fog.", True), ("stop", False), ("go", True)),
)


def test_each_claim_is_marked_in_its_last_token_with_whether_it_is_right(packer):
    assert marks(packer, CLAIMS) == [
        ("1. It is dry.", 0),
        ("1. It is dry.\n2. There is thick fog.", 1),
        ("1. It is dry.\n2. There is thick fog.\nA) stop", 0),
        ("1. It is dry.\n2. There is thick fog.\nA) stop\nB) go", 1),
    ]


def test_claims_that_read_alike_are_marked_each_at_its_own_place(packer):
    twice = Dialogue("A) no B) no C) yes", "C", (("no", False), ("no", False), ("yes", True)))

    assert marks(packer, twice) == [("A) no", 0), ("A) no B) no", 0), ("A) no B) no C) yes", 1)]


def test_a_claim_that_is_not_in_the_prompt_is_left_out(packer):
    missing = Dialogue("A) stop", "A", (("go", False), ("stop", True)))

    assert marks(packer, missing) == [("A) stop", 1)]


def test_disturbed_prompts_carry_no_marks_and_keep_their_answer(packer, monkeypatch):
    monkeypatch.setattr(packing, "disturbed", lambda text, *, rng: text.lower())

    batch = packer.pack([[CLAIMS]], rng=rng_for(1, "pack"))

    text = packer.tokenizer.decode(batch.token_ids[0]).replace("<|pad|>", "")
    question = "1. it is dry.\n2. there is thick fog.\na) stop\nb) go"
    assert text.endswith(f"<image>{question}<|end|><|assistant|>{CLAIMS.answer}<|end|>")
    assert set(batch.verdicts[0].tolist()) == {IGNORED}
    assert marks(packer, Dialogue("1. stop", "T", (("stop", True),)), rng=rng_for(1, "pack")) == [
        ("1. stop", 1)
    ]


def test_spelled_prompts_carry_marks_too(packer, monkeypatch):
    monkeypatch.setattr(packing, "disturbed", lambda text, *, rng: text)
    monkeypatch.setattr(packing, "SPELLED_SHARE", 1.1)

    found = marks(packer, CLAIMS, rng=rng_for(2, "pack"))

    assert [text for text, _ in found] == [text for text, _ in marks(packer, CLAIMS)]
    assert [mark for _, mark in found] == [0, 1, 0, 1]


def test_the_same_generator_disturbs_and_cuts_the_same_prompts(packer):
    rows = [[CLAIMS, PICK, SECOND]] * 12

    same, again = (packer.pack(rows, rng=rng_for(3, "pack")) for _ in range(2))

    lengths = (same.token_ids != packer.tokenizer.pad_token_id).sum(1)
    assert len(set(lengths.tolist())) > 1
    assert all(
        torch.equal(getattr(same, name), getattr(again, name))
        for name in ("token_ids", "targets", "verdicts")
    )


def test_a_text_is_cut_into_pieces_that_make_it_up_again():
    text = "Where is the wheelchair user? Give the bounding box as JSON, please, in one line."

    pieces = packing.cut(text, rng=rng_for(1, "cut"))

    assert "".join(pieces) == text
    assert len(pieces) == 1 + len(text) // packing.CUT_EVERY == 4
    assert all(pieces)
    assert packing.cut("short", rng=rng_for(1, "cut")) == ["short"]
    assert packing.cut("", rng=rng_for(1, "cut")) == [""]


def test_only_whole_tokens_have_a_number(pocket_tokenizer):
    with pytest.raises(TypeError, match="token must be one token"):
        token_id(_Unknown(), "nothing")


class _Unknown:
    def convert_tokens_to_ids(self, _token):
        return None


def test_the_box_of_a_named_thing_stands_where_its_name_ends(packer):
    prompt = "Find the police officer and the cone."
    places = (("police officer", (0.1, 0.2, 0.3, 0.4)), ("cone", (0.5, 0.6, 0.7, 0.8)))

    batch = packer.pack([[Dialogue(prompt, "[]", places=places)]])

    marked = (batch.boxes[0, :, 0] != packing.NO_BOX).nonzero()[:, 0].tolist()
    assert [packer.tokenizer.decode(batch.token_ids[0, : place + 1]) for place in marked] == [
        packer.tokenizer.decode(packer.prefix) + "Find the police officer",
        packer.tokenizer.decode(packer.prefix) + "Find the police officer and the cone",
    ]
    assert batch.boxes[0, marked].numpy().round(3).tolist() == [
        pytest.approx([0.1, 0.2, 0.3, 0.4]),
        pytest.approx([0.5, 0.6, 0.7, 0.8]),
    ]
