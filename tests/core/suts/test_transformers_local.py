"""Checkpoints that answer: padding, fixed batches, decoding, errors and identity."""

from pathlib import Path

import pytest

from vlmlab.core.suts.base import SutRequest

torch = pytest.importorskip("torch")
tiny = pytest.importorskip("tests.core.suts.tiny_checkpoints")
asking = pytest.importorskip("tests.core.suts.local_asking")

FAMILIES, QUESTION = asking.FAMILIES, asking.QUESTION
loaded, picture, question, one_thread = asking.loaded, asking.picture, asking.question, asking.one_thread


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    return {name: save(tmp_path_factory.mktemp(name)) for name, save in FAMILIES.items()}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_row_gets_the_same_answer_whatever_else_is_asked(folders, family):
    sut = loaded(folders[family])
    rows = [question(number, words=3 * number) for number in range(6)]
    rows += [SutRequest(picture(number, width=160, height=90), QUESTION) for number in (6, 7)]

    replies = sut.generate(rows)

    together = [reply.text for reply in replies]
    assert not any(reply.is_call_error for reply in replies)
    assert [sut.generate([row])[0].text for row in rows] == together
    assert [reply.text for reply in sut.generate(rows[::-1])][::-1] == together
    assert [reply.text for reply in sut.generate([rows[0], *rows])][1:] == together
    assert len(set(together)) > 2


@pytest.mark.parametrize("family", ["qwen3_vl", "internvl", "smolvlm"])
def test_rows_whose_pictures_have_unlike_shapes_go_into_different_passes(folders, monkeypatch, family):
    sut = loaded(folders[family])
    shapes, answer = [], sut._loaded.model.generate

    def noted(**inputs):
        shapes.append(tuple(inputs["pixel_values"].shape))
        return answer(**inputs)

    monkeypatch.setattr(sut._loaded.model, "generate", noted)
    wide, small = (
        SutRequest(picture(1, width=width, height=height), QUESTION)
        for width, height in ((200, 50), (64, 64))
    )
    for rows in ([wide], [small], [wide, small, wide]):
        sut.generate(rows)

    assert shapes == [shapes[0], shapes[1], shapes[0], shapes[1]]
    assert shapes[0] != shapes[1]


@pytest.mark.parametrize(
    ("family", "seen"),
    [("llava", (64, 64)), ("gemma3", (64, 64)), ("qwen3_vl", (160, 96)), ("qwen2_5_vl", (168, 84)),
     ("internvl", None), ("smolvlm", None)],
)  # fmt: skip
def test_the_size_that_the_model_saw_is_told_where_there_is_one(folders, family, seen):
    (reply,) = loaded(folders[family]).generate([SutRequest(picture(1, width=160, height=90), QUESTION)])

    assert (reply.call_error, reply.seen_size) == ("", seen)


@pytest.mark.parametrize("family", FAMILIES)
def test_padding_on_the_left_gives_the_answer_of_the_unpadded_row(folders, family):
    sut = loaded(folders[family])
    rows = [question(number, words=4 * number) for number in range(4)]
    processor, model = sut._loaded.processor, sut._loaded.model

    def alone(row: SutRequest) -> str:
        inputs = sut._inputs.tensors([row], {"padding": False})
        with torch.inference_mode():
            new = model.generate(**inputs)[0, inputs["input_ids"].shape[1] :]
        return processor.tokenizer.decode(new, skip_special_tokens=False)

    replies = sut.generate(rows)

    assert [reply.text for reply in replies] == [alone(row) for row in rows]
    assert [reply.input_tokens for reply in replies] == [
        sut._inputs.tensors([row], {"padding": False})["input_ids"].shape[1] for row in rows
    ]


def test_pictures_and_their_sizes_matter_to_the_answer(folders):
    sut = loaded(folders["qwen3_vl"])
    rows = [SutRequest(picture(1, width=width), QUESTION) for width in (64, 96, 160)]

    replies = sut.generate(rows)

    assert len({reply.input_tokens for reply in replies}) > 1
    assert all(reply.text for reply in replies)


def test_generation_settings_that_come_with_the_weights_do_not_decide(folders, tmp_path):
    odd = tiny.save_llava(tmp_path, repetition_penalty=9.0, do_sample=True, temperature=5.0, max_length=20)

    answers = [
        [reply.text for reply in loaded(folder).generate([question(0)])] for folder in (odd, folders["llava"])
    ]

    assert answers[0] == answers[1]


def test_reply_ends_at_the_first_stop_token_and_keeps_other_special_tokens(folders, monkeypatch):
    sut = loaded(folders["llava"])
    words = sut._loaded.processor.tokenizer
    ids = words("B<image>")["input_ids"] + words.convert_tokens_to_ids(["<|end|>", "<|pad|>", "<|user|>"])

    def answer(**inputs):
        return torch.cat([inputs["input_ids"], torch.tensor([ids] * 4)], dim=1)

    monkeypatch.setattr(sut._loaded.model, "generate", answer)
    (reply,) = sut.generate([question(0)])

    assert (reply.text, reply.finish_reason, reply.output_tokens) == ("B<image>", "stop", len(ids) - 3)


def test_reply_that_fills_its_length_says_so(folders):
    (reply,) = loaded(folders["llava"], max_new_tokens=2).generate([question(0)])

    assert (reply.finish_reason, reply.output_tokens) == ("length", 2)


def test_a_row_that_cannot_be_answered_leaves_its_neighbours_alone(folders):
    sut = loaded(folders["llava"])
    good = question(1)
    rows = [good, SutRequest(picture(2), "What is <image> here?"), question(0, words=600), good]

    replies = sut.generate(rows)

    assert [reply.is_call_error for reply in replies] == [False, True, True, False]
    assert replies[0].text == replies[3].text == sut.generate([good])[0].text
    assert "more than the 512 this checkpoint can read" in replies[2].call_error


def test_a_forward_pass_that_fails_for_one_row_fails_only_that_row(folders, monkeypatch):
    sut = loaded(folders["llava"])
    answer, bad = sut._loaded.model.generate, question(2)
    marked = sut._inputs.tensors([bad], {"padding": False})["pixel_values"][0]

    def fragile(**inputs):
        if any(torch.equal(row, marked) for row in inputs["pixel_values"]):
            raise RuntimeError("shape mismatch")
        return answer(**inputs)

    monkeypatch.setattr(sut._loaded.model, "generate", fragile)
    replies = sut.generate([question(1), bad, question(3)])

    assert [reply.is_call_error for reply in replies] == [False, True, False]
    assert "RuntimeError: shape mismatch" in replies[1].call_error


def test_sampling_repeats_with_the_repeat_number_and_differs_between_numbers(folders):
    sut = loaded(folders["llava"], temperature=1.5)
    rows = [SutRequest(picture(1), QUESTION, number) for number in range(4)]

    first = [reply.text for reply in sut.generate(rows)]

    assert [reply.text for reply in sut.generate(rows[::-1])][::-1] == first
    assert len(set(first)) > 1
    assert sut.info.batch_size == 1


def test_fingerprint_tells_apart_what_can_change_an_answer_and_nothing_else(folders, tmp_path):
    base = loaded(folders["llava"]).info.fingerprint
    other_weights = tiny.save_llava(tmp_path, seed=7)

    others = [
        loaded(folders["llava"], batch_size=8),
        loaded(folders["llava"], dtype="bfloat16"),
        loaded(folders["llava"], max_new_tokens=11),
        loaded(folders["llava"], system_prompt="Drive well."),
        loaded(folders["llava"], temperature=0.7),
        loaded(other_weights),
    ]

    assert loaded(folders["llava"], threads=1).info.fingerprint == base
    assert len({base, *(sut.info.fingerprint for sut in others)}) == 7


def test_a_closed_system_cannot_be_asked(folders):
    sut = loaded(folders["llava"])

    sut.close()

    with pytest.raises(ValueError, match="was closed"):
        sut.generate([question(0)])
    with pytest.raises(ValueError, match="was closed"):
        sut.describe_request(question(0))
