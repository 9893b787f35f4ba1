"""Word pieces by hand, and against the tokenizers library with the vocabulary of the packaged model."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from vlmlab.core.most.prompt_embedding import PACKAGE
from vlmlab.core.most.wordpiece import SPECIAL_TOKENS, WordPiece

TINY = WordPiece([*SPECIAL_TOKENS, "car", "##t", "##s", "the", ",", "猫", "e", "##x"])
PAD, UNKNOWN, FIRST, LAST, MASK, CAR, T, S, THE, COMMA, CAT, E, X = range(13)
# Signs that texts of people and text operators have: Latin, Greek, Cyrillic, Arabic, Han, marks, spaces.
SIGNS = st.one_of(
    st.characters(min_codepoint=0x20, max_codepoint=0x24F),
    st.characters(min_codepoint=0x370, max_codepoint=0x45F, categories=("L", "P", "N")),
    st.sampled_from("\t\n\r\x00\u200b\u2028\u3000\ufffd´“”—…。、€©✓猫车حب한글é\u0301Σςİß²①"),
)


def test_pieces_by_hand():
    assert TINY.token_ids("the carts, the CAR") == [FIRST, THE, CAR, T, S, COMMA, THE, CAR, LAST]
    assert TINY.token_ids("Thé\u200b 猫猫!") == [FIRST, THE, CAT, CAT, UNKNOWN, LAST]
    assert TINY.token_ids("carb") == [FIRST, UNKNOWN, LAST]  # the rest of the word is in no piece
    assert TINY.token_ids("the [MASK] car") == [FIRST, THE, MASK, CAR, LAST]
    assert TINY.token_ids("") == [FIRST, LAST]


def test_words_of_more_than_a_hundred_signs_are_unknown():
    assert TINY.token_ids("e" + "x" * 99) == [FIRST, E, *[X] * 99, LAST]
    assert TINY.token_ids("e" + "x" * 100) == [FIRST, UNKNOWN, LAST]


def test_long_texts_are_cut_before_the_last_token():
    assert TINY.token_ids("car " * 9, max_tokens=5) == [FIRST, CAR, CAR, CAR, LAST]
    assert len(TINY.token_ids("car, " * 2_000)) == 256


def test_a_vocabulary_without_special_tokens_is_refused():
    with pytest.raises(ValueError, match=r"\[PAD\] missing"):
        WordPiece([*SPECIAL_TOKENS[1:], "car"])


@pytest.fixture(scope="module")
def model_folder():
    return Path(find_spec(PACKAGE).submodule_search_locations[0]) / "model"


@pytest.fixture(scope="module")
def ours(model_folder):
    return WordPiece((model_folder / "vocab.txt").read_text(encoding="utf-8").split("\n")[:-1])


@pytest.fixture(scope="module")
def library(model_folder):
    tokenizer = Tokenizer.from_file(str(model_folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    return tokenizer


@pytest.mark.parametrize(
    "text",
    [
        "Locate every forklift in the picture. Answer with JSON: [{\"label\": ..., \"bbox_2d\": [x1, y1]}].",
        "Lcoate teh fork-lfit!!  in\tthe imgae,pls",
        "Où est la crème brûlée? ΟΔΟΣ ΤΟΥ ΚΡΑΤΟΥΣ, где автобус, 猫在哪里",
        "[CLS] is no word, [sep] is three pieces, ##s too",
        "supercalifragilisticexpialidocious " * 40,
    ],
)  # fmt: skip
def test_ids_of_prompts_are_those_of_the_library(ours, library, text):
    assert ours.token_ids(text) == library.encode(text).ids


@settings(deadline=None, max_examples=150)
@given(text=st.text(SIGNS, max_size=40))
def test_ids_of_any_text_are_those_of_the_library(ours, library, text):
    assert ours.token_ids(text) == library.encode(text).ids
