"""Each slip of the keyboard or the scanner changes one word as one would by hand."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.perturb.text_cases import FORMAT, PROMPT, Draws, rng
from vlmlab.core.perturb.text_spelling import (
    KEY_NEIGHBOURS,
    MISREADINGS,
    OCR_CONFUSION,
    SPELLING_OPERATORS,
    delete_letter,
    insert_letter,
    misread_letters,
    repeat_letter,
    replace_by_key_neighbour,
    swap_letters,
)

LAST = 0.999
EDITS = (
    delete_letter,
    insert_letter,
    misread_letters,
    repeat_letter,
    replace_by_key_neighbour,
    swap_letters,
)


@pytest.mark.parametrize(
    ("edit", "word", "where", "which", "changed"),
    [
        (replace_by_key_neighbour, "cup", 0.0, 0.0, "dup"),
        (replace_by_key_neighbour, "Cup", 0.0, LAST, "Vup"),
        (replace_by_key_neighbour, "CUP", LAST, 0.0, "CUO"),
        (replace_by_key_neighbour, "12", 0.0, 0.0, "12"),
        (replace_by_key_neighbour, "чашка", 0.5, 0.5, "чашка"),
        (swap_letters, "cup", 0.0, 0.0, "ucp"),
        (swap_letters, "cup", LAST, 0.0, "cpu"),
        (swap_letters, "aab", 0.0, 0.0, "aba"),
        (swap_letters, "aa", 0.0, 0.0, "aa"),
        (swap_letters, "x1y", 0.0, 0.0, "x1y"),
        (swap_letters, "गिलास", 0.0, 0.0, "लागिस"),
        (delete_letter, "cup", 0.0, 0.0, "up"),
        (delete_letter, "cup", LAST, 0.0, "cu"),
        (delete_letter, "a", 0.0, 0.0, "a"),
        (delete_letter, "x12", 0.0, 0.0, "x12"),
        (delete_letter, "xy12", LAST, 0.0, "x12"),
        (insert_letter, "cup", 0.0, 0.0, "acup"),
        (insert_letter, "cup", LAST, LAST, "cupz"),
        (insert_letter, "CUP", 0.5, 0.0, "CUAP"),
        (insert_letter, "I", 0.0, 0.0, "aI"),
        (insert_letter, "стол", LAST, 0.0, "столс"),
        (insert_letter, "12", 0.0, 0.0, "12"),
        (repeat_letter, "cup", 0.0, 0.0, "ccup"),
        (repeat_letter, "cup", LAST, LAST, "cuppp"),
        (repeat_letter, "12", 0.0, 0.0, "12"),
        (misread_letters, "cone", 0.0, 0.0, "eone"),
        (misread_letters, "horn", LAST, 0.0, "hom"),
        (misread_letters, "S", 0.0, 0.0, "5"),
        (misread_letters, "500", 0.0, 0.0, "500"),
    ],
)
def test_a_slip_changes_the_word_as_by_hand(edit, word, where, which, changed):
    assert edit(word, where, which) == changed


def test_a_key_in_the_middle_has_six_neighbours_and_neighbours_are_mutual():
    assert sorted(KEY_NEIGHBOURS["g"]) == ["b", "f", "h", "t", "v", "y"]
    assert sorted(KEY_NEIGHBOURS["q"]) == ["a", "w"]
    assert all(key in KEY_NEIGHBOURS[other] for key, others in KEY_NEIGHBOURS.items() for other in others)


def test_no_misreading_starts_from_a_digit_or_leads_to_the_same_letters():
    assert not any(character.isdigit() for source in MISREADINGS for character in source)
    assert all(source not in choices for source, choices in MISREADINGS.items())


@given(
    st.sampled_from(EDITS),
    st.text(min_size=1),
    st.floats(0, 1, exclude_max=True),
    st.floats(0, 1, exclude_max=True),
)
def test_a_slip_never_empties_a_word_and_keeps_its_digits(edit, word, where, which):
    changed = edit(word, where, which)

    assert changed
    if edit is not misread_letters:
        assert [one for one in changed if one.isdigit()] == [one for one in word if one.isdigit()]


@given(
    st.sampled_from(EDITS),
    st.text("abcdefgh", min_size=3, max_size=9).filter(lambda word: len(set(word)) > 1),
)
def test_a_slip_changes_every_ordinary_word(edit, word):
    assert edit(word, 0.4, 0.7) != word


def test_an_operator_touches_the_words_whose_draw_is_below_the_probability():
    by_name = {operator.name: operator for operator in SPELLING_OPERATORS}
    draws = Draws([0.49, 0.0, 0.0], [0.5, 0.0, 0.0], [0.1, 0.999, 0.0])

    changed = by_name["char_delete"].apply("Find the cup.", 0.5, draws)

    assert changed == "ind the cu."


def test_a_protected_word_keeps_its_letters_and_changes_no_draw_elsewhere():
    swap = SPELLING_OPERATORS[0]

    free = swap.apply(PROMPT, 1.0, rng(3))
    protected = swap.apply(PROMPT, 1.0, rng(3), protect=[FORMAT])

    assert FORMAT not in free
    assert FORMAT in protected
    assert protected.partition(FORMAT)[0] == free[: protected.index(FORMAT)]
    assert protected.partition(FORMAT)[2] == free[-len(protected.partition(FORMAT)[2]) :]


@pytest.mark.parametrize("operator", [*SPELLING_OPERATORS, OCR_CONFUSION], ids=lambda one: one.name)
def test_a_higher_severity_repeats_the_slips_of_a_lower_one_and_adds_more(operator):
    text = PROMPT.partition(FORMAT)[0].strip()
    original = text.split(" ")
    low, high = (operator.apply(text, severity, rng(5)).split(" ") for severity in (0.2, 0.9))

    assert len(low) == len(high) == len(original)
    kept = [place for place, word in enumerate(original) if low[place] != word]
    assert [low[place] for place in kept] == [high[place] for place in kept]
    assert sum(map(str.__ne__, high, original)) > len(kept) > 0


@pytest.mark.parametrize("operator", [*SPELLING_OPERATORS, OCR_CONFUSION], ids=lambda one: one.name)
def test_numbers_stay_as_they_are(operator):
    changed = operator.apply("boxes [12, 40, 310, 400], scale 1000 by 0.5", 1.0, rng())

    assert re.findall(r"\b\d+\b", changed) == ["12", "40", "310", "400", "1000", "0", "5"]
