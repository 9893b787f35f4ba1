"""Every code of the box reader has words for people."""

from typing import get_args

import pytest

from vlmlab.core.replies.boxes import BoxReason
from vlmlab.web.reading_words import FLAGS, REASONS, flag_words, reason_words


def test_every_reason_of_the_reader_has_a_sentence():
    assert set(get_args(BoxReason)) == set(REASONS)
    assert [code for code, words in REASONS.items() if words and not words.endswith(".")] == []


def test_every_flag_of_the_reader_has_words():
    assert set(FLAGS) == {"partial", "duplicates", "sorted", "clipped"}


@pytest.mark.parametrize(("code", "words"), [("", ""), ("new_reason", "New reason.")])
def test_a_reason_of_a_newer_reader_is_written_as_words(code, words):
    assert reason_words(code) == words


def test_a_flag_of_a_newer_reader_is_written_as_words():
    assert flag_words("odd_order") == "odd order"
