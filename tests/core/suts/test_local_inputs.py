"""Rows as a checkpoint's chat template makes them, and which of them share a forward pass."""

from pathlib import Path

import pytest

from vlmlab.core.suts.base import SutRequest

torch = pytest.importorskip("torch")
tiny = pytest.importorskip("tests.core.suts.tiny_checkpoints")
asking = pytest.importorskip("tests.core.suts.local_asking")

loaded, question, one_thread = asking.loaded, asking.question, asking.one_thread


@pytest.fixture(scope="module")
def llava(tmp_path_factory) -> Path:
    return tiny.save_llava(tmp_path_factory.mktemp("llava"))


def test_system_prompt_becomes_a_turn_of_its_own(llava):
    sut = loaded(llava, system_prompt="Drive well.")

    ids = sut._inputs.tensors([question(0)], {"padding": False})["input_ids"][0]

    assert sut._loaded.processor.tokenizer.decode(ids).startswith(
        "<|system|>Drive well.<|end|><|user|><image>"
    )


@pytest.mark.parametrize("words", [0, 20, 60])
def test_a_row_is_padded_to_the_next_multiple_of_64_above_its_own_tokens(llava, words):
    inputs = loaded(llava)._inputs
    row = question(0, words=words)
    n_tokens = inputs.tensors([row], {"padding": False})["input_ids"].shape[1]

    length = inputs.shape(row).length

    assert (length % 64, 0 <= length - n_tokens < 64) == (0, True)


def test_rows_with_pictures_of_one_size_and_texts_of_like_length_share_a_pass(llava):
    inputs = loaded(llava)._inputs

    assert inputs.shape(question(0)) == inputs.shape(question(1, words=1))


def test_the_row_that_just_fits_is_taken_and_one_token_more_is_refused(llava):
    room = 512 - loaded(llava)._inputs.tensors([question(0)], {"padding": False})["input_ids"].shape[1]

    assert loaded(llava, max_new_tokens=room)._inputs.shape(question(0)).length > 0
    with pytest.raises(ValueError, match="more than the 512 this checkpoint can read"):
        loaded(llava, max_new_tokens=room + 1)._inputs.shape(question(0))


def test_a_known_prompt_with_another_picture_counts_that_pictures_tokens(llava):
    inputs = loaded(llava)._inputs
    first, second = question(0), SutRequest(asking.picture(1, width=160), question(0).prompt)

    lengths = [inputs.shape(row).length for row in (first, second, first)]

    assert lengths == [loaded(llava)._inputs.shape(row).length for row in (first, second, first)]
