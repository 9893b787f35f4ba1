"""Differences of prompts: whole words, letters of words that are alike, and any text within bounds."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searches.services.prompt_diffs import prompt_diff

SIGNS = {"same": "{}", "insert": "[+{}+]", "delete": "[-{}-]"}


def drawn(before, after):
    return "".join(SIGNS[part.kind].format(part.text) for part in prompt_diff(before, after).parts)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("Locate the car.", "Locate the car.", "Locate the car."),
        ("Locate the car.", "Locate the automobile.", "Locate the [-car-][+automobile+]."),
        ("Locate the bicycle.", "Locate the bicyycle.", "Locate the bicy[+y+]cle."),
        ("Locate the bicycle.", "Locate the bicyle.", "Locate the bicy[-c-]le."),
        ("Locate the car.", "Locate please the car.", "Locate [+please +]the car."),
        ("Find every red car", "Find a blue car", "Find [-every red-][+a blue+] car"),
        ("", "new", "[+new+]"),
        ("old", "", "[-old-]"),
        ("", "", ""),
        ("Käse 犬", "Kase 犬", "K[-ä-][+a+]se 犬"),
    ],
)
def test_prompt_diff_marks_words_and_letters_of_similar_words(before, after, expected):
    assert drawn(before, after) == expected


@given(st.text("ab \n.ß犬", max_size=40), st.text("ab \n.ß犬", max_size=40))
def test_prompt_diff_gives_both_prompts_back(before, after):
    diff = prompt_diff(before, after)

    assert (diff.before, diff.after) == (before, after)
    assert diff.is_same == (before == after)


@given(st.text("abc ", max_size=30), st.text("abc ", max_size=30))
def test_prompt_diff_never_has_two_parts_of_a_kind_in_a_row(before, after):
    kinds = [part.kind for part in prompt_diff(before, after).parts]

    assert all(first != second for first, second in pairwise(kinds))


def test_prompt_diff_takes_ten_thousand_words_of_one_letter_that_all_differ():
    diff = prompt_diff("a " * 5000, "b " * 5000)

    assert [part.kind for part in diff.parts] == ["delete", "insert", "same"]


def test_sentence_counts_characters():
    assert prompt_diff("a car", "a truck").sentence == "5 characters put in and 3 characters taken out"
    assert prompt_diff("a car", "a cars").sentence == "1 character put in"
    assert prompt_diff("a car", "a car").sentence == "unchanged"
