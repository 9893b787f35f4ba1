"""Capitals and punctuation change; the words do not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.perturb.text_cases import PROMPT, Draws, rng
from vlmlab.core.perturb.text_form import CASING, MARKS, PUNCTUATION, change_capitals, change_mark
from vlmlab.core.perturb.text_tokens import words_of


@pytest.mark.parametrize(
    ("word", "which", "changed"),
    [
        ("cup", 0.0, "CUP"),
        ("cup", 0.25, "Cup"),  # small letters would change nothing, so the next way counts
        ("cup", 0.5, "Cup"),
        ("cup", 0.99, "cUp"),
        ("JSON", 0.0, "json"),
        ("JSON", 0.5, "Json"),
        ("a", 0.99, "A"),
        ("12", 0.3, "12"),
        ("ß", 0.0, "ß"),
        ("чашка", 0.0, "ЧАШКА"),
        ("カップ", 0.0, "カップ"),
    ],
)
def test_capitals_change_as_by_hand(word, which, changed):
    assert change_capitals(word, 0.0, which) == changed


@given(st.text(), st.floats(0, 1, exclude_max=True))
def test_capitals_are_all_that_casing_changes(text, severity):
    changed = CASING.apply(text, severity, rng())

    assert changed.casefold() == text.casefold()


@pytest.mark.parametrize(
    ("gap", "action", "which", "changed"),
    [
        (". ", 0.0, 0.0, " "),
        (". ", 0.5, 0.0, ".. "),
        (". ", 0.9, 0.0, ", "),
        (", ", 0.9, 0.0, ". "),
        ("?\n", 0.9, 0.99, "...\n"),
        (" ", 0.0, 0.0, ", "),
        ("\n", 0.0, 0.99, "...\n"),
        (".", 0.0, 0.0, "."),  # as in 0.5
        ("... ", 0.0, 0.0, "... "),
        ('": [', 0.0, 0.0, '": ['),
        ("[", 0.0, 0.0, "["),
    ],
)
def test_a_mark_changes_as_by_hand(gap, action, which, changed):
    assert change_mark(gap, action, which) == changed


def test_a_mark_at_the_end_of_a_text_is_changed_or_added():
    assert change_mark(".", 0.0, 0.0, is_last=True) == ""
    assert change_mark(".", 0.5, 0.0, is_last=True) == ".."
    assert change_mark("", 0.0, 0.0, is_last=True) == MARKS[0]


def test_punctuation_touches_the_gaps_whose_draw_is_below_the_probability():
    draws = Draws([0.2, 0.0, 0.0], [0.8, 0.0, 0.0], [0.1, 0.0, 0.0])

    assert PUNCTUATION.apply("Find the cup.", 0.5, draws) == "Find, the cup"


@given(st.text(), st.floats(0, 1))
def test_punctuation_keeps_every_word(text, severity):
    changed = PUNCTUATION.apply(text, severity, rng())

    assert [changed[slice(*span)] for span in words_of(changed)] == [
        text[slice(*span)] for span in words_of(text)
    ]


def test_punctuation_keeps_numbers_and_the_marks_of_json():
    text = 'at 0.5, 3:20 and [{"box": [1, 2]}]'

    changed = PUNCTUATION.apply(text, 1.0, rng(), protect=['[{"box": [1, 2]}]'])

    assert changed.endswith('[{"box": [1, 2]}]')
    assert "0.5" in changed
    assert "3:20" in changed


def test_casing_leaves_protected_words_alone():
    changed = CASING.apply(PROMPT, 1.0, rng(), protect=["JSON list"])

    assert "JSON list" in changed
    assert changed != PROMPT
