"""Words of any script are found, marks stay with their letters, protected places are known exactly."""

import re
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.perturb.text_tokens import letters_of, protected_places, sentence_breaks, words_of


def words(text):
    return [text[start:stop] for start, stop in words_of(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Locate the bus-stop, please!", ["Locate", "the", "bus-stop", "please"]),
        ("don't - or don’t", ["don't", "or", "don’t"]),
        ("'quoted' x_min=12.5", ["quoted", "x", "min", "12", "5"]),
        ("Найди чашку.", ["Найди", "чашку"]),
        ("पानी का गिलास", ["पानी", "का", "गिलास"]),
        ("カップを、探す。", ["カップを", "探す"]),
        ("“cup” … [] {}", ["cup"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_words_are_runs_of_letters_digits_and_marks(text, found):
    assert words(text) == found


@given(st.text())
def test_words_stand_in_order_and_hold_no_blank(text):
    spans = words_of(text)

    assert all(first[1] < second[0] for first, second in pairwise(spans))
    assert not any(character.isspace() for word in words(text) for character in word)


def test_letters_keep_the_marks_that_stand_on_them():
    assert letters_of("cup") == ["c", "u", "p"]
    assert letters_of("गिलास") == ["गि", "ला", "स"]
    assert letters_of("e\u0301te") == ["e\u0301", "t", "e"]
    assert letters_of("क\u200dष") == ["क\u200dष"]


@given(st.text(min_size=1))
def test_letters_make_up_the_word_and_none_but_the_first_starts_with_a_mark(word):
    letters = letters_of(word)

    assert "".join(letters) == word
    assert not any(unicodedata.category(one[0]).startswith("M") for one in letters[1:])


@pytest.mark.parametrize(
    ("text", "breaks"),
    [
        ("Find it. Answer A.", [" "]),
        ("Find it! 1. Answer", [" ", " "]),
        ("Find e.g. cups.", []),
        ("One\n\n  two", ["\n\n  "]),
        ("探して。答え", [""]),
        ("Find it. ", []),
    ],
)
def test_sentences_break_after_their_mark_unless_a_small_letter_follows(text, breaks):
    assert [text[start:stop] for start, stop in sentence_breaks(text)] == breaks


OBVIOUS_BREAK = re.compile(r"(?<=[.!?])\s+(?=[^a-z\s])|\s*\n\s*(?=\S)|(?<=[。！？])(?=\S)")


@given(st.text(alphabet="aA.!?。 \n\u2003", max_size=30))
def test_sentences_break_as_one_pattern_says_that_would_take_hours_for_many_blanks(text):
    assert sentence_breaks(text) == [match.span() for match in OBVIOUS_BREAK.finditer(text)]


@pytest.mark.parametrize("blanks", ["\n" * 10_000, " " * 10_000, " \n" * 5_000])
def test_thousands_of_blanks_are_looked_at_once(blanks):
    assert sentence_breaks(f"Find it{blanks}") == []
    assert len(sentence_breaks(f"Find it.{blanks}Answer")) == 1


@given(
    st.text(alphabet="ab", max_size=12),
    st.lists(st.text(alphabet="ab", min_size=1, max_size=3), max_size=3),
    st.integers(0, 12),
    st.integers(0, 12),
)
def test_places_are_found_as_a_look_at_every_span_finds_them(text, protect, start, stop):
    places = protected_places(text, protect)

    assert places.touches(start, stop) == any(start < end and begin < stop for begin, end in places.spans)
    assert places.parts(start) == any(begin < start < end for begin, end in places.spans)


def test_protected_places_are_every_occurrence_and_overlapping_ones_are_one():
    assert protected_places("abab ab", ["ab"]).spans == ((0, 2), (2, 4), (5, 7))
    assert protected_places("aaa b", ["aa"]).spans == ((0, 3),)
    assert protected_places("as JSON list", ["JSON", "SON li"]).spans == ((3, 10),)
    assert protected_places("cup", ["JSON"]).spans == ()


def test_a_place_is_touched_by_its_characters_and_parted_only_from_inside():
    places = protected_places("as JSON list", ["JSON"])

    assert [places.touches(0, 3), places.touches(0, 4), places.touches(6, 9), places.touches(7, 9)] == [
        False,
        True,
        True,
        False,
    ]
    assert [places.parts(position) for position in (3, 4, 6, 7)] == [False, True, True, False]


def test_an_empty_protected_text_and_a_single_text_are_refused():
    with pytest.raises(ValueError, match="protect holds an empty text"):
        protected_places("cup", ["cup", ""])
    with pytest.raises(ValueError, match="protect must be several texts, got one: 'cup'"):
        protected_places("cup", "cup")
