"""Fillers, courtesies and sentences are put between words and sentences, and nothing else changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.perturb.text_cases import FORMAT, PROMPT, Draws, rng
from vlmlab.core.perturb.text_additions import (
    ASKING_VERBS,
    COURTESIES,
    DISTRACTING_INSTRUCTIONS,
    DISTRACTOR_INSTRUCTION,
    FILLER,
    FILLERS,
    IRRELEVANT_CONTEXT,
    IRRELEVANT_SENTENCES,
    POLITE_OPENINGS,
    POLITENESS,
)
from vlmlab.core.perturb.text_tokens import words_of
from vlmlab.core.perturb.word_tables import label_key, label_sets

ADDITIONS = (FILLER, POLITENESS, IRRELEVANT_CONTEXT, DISTRACTOR_INSTRUCTION)


def words(text):
    return [text[start:stop] for start, stop in words_of(text)]


def test_a_filler_stands_before_each_word_whose_draw_is_below_the_probability():
    draws = Draws([0.2, 0.0], [0.8, 0.0], [0.1, 0.999])

    assert FILLER.apply("Find the cup.", 0.5, draws) == "um, Find the sort of cup."


def test_a_filler_never_stands_inside_what_belongs_together():
    changed = FILLER.apply("[x_min, y_min] 0.5 cup", 1.0, Draws(*[[0.0, 0.0]] * 7))

    assert changed == "[x_min, um, y_min] um, 0.5 um, cup"


def test_sentences_stand_at_the_start_between_sentences_and_at_the_end():
    first, second, third = IRRELEVANT_SENTENCES[:3]

    assert IRRELEVANT_CONTEXT.apply("Find it. Say A.", 0.5, Draws([0.0], [0.0], [0.0])) == (
        f"{first} Find it. {second} Say A. {third}"
    )
    assert IRRELEVANT_CONTEXT.apply("Find it. Say A.", 0.5, Draws([0.9], [0.0], [0.9])) == (
        f"Find it. {second} Say A."
    )
    assert IRRELEVANT_CONTEXT.apply("Find it\nSay A", 0.5, Draws([0.9], [0.0], [0.0])) == (
        f"Find it\n{second}\nSay A. {third}"
    )


def test_no_sentence_is_put_twice_while_there_are_others():
    text = " ".join(["Find it."] * 11)

    changed = DISTRACTOR_INSTRUCTION.apply(text, 1.0, Draws(*[[0.0]] * 12))

    assert [changed.count(sentence) for sentence in DISTRACTING_INSTRUCTIONS] == [1] * 12


@pytest.mark.parametrize("text", ["", " ", "\n\t"])
@pytest.mark.parametrize("operator", ADDITIONS, ids=lambda one: one.name)
def test_nothing_is_added_to_a_blank_text(operator, text):
    assert operator.apply(text, 1.0, rng()) == text


def test_politeness_opens_a_sentence_that_asks_and_thanks_in_other_places():
    draws = Draws([0.0, 0.0], [0.0, 0.0], [0.0, 0.999])

    changed = POLITENESS.apply("Locate the cup. It is red.", 0.5, draws)

    assert changed == f"Please locate the cup. {COURTESIES[0]} It is red. {COURTESIES[-1]}"


def test_politeness_keeps_a_protected_first_word():
    changed = POLITENESS.apply(
        "Answer as JSON.", 0.5, Draws([0.0, 0.0], [0.9, 0.0]), protect=["Answer as JSON"]
    )

    assert changed == f"{COURTESIES[0]} Answer as JSON."


@pytest.mark.parametrize("operator", ADDITIONS, ids=lambda one: one.name)
def test_nothing_is_put_into_a_protected_text(operator):
    whole = PROMPT[PROMPT.index("Answer") : PROMPT.index(" If")]

    changed = operator.apply(PROMPT, 1.0, rng(1), protect=[whole, FORMAT])

    assert whole in changed
    assert changed != PROMPT


@given(st.text(), st.floats(0, 1))
def test_every_word_stays_in_its_order(text, severity):
    for operator in ADDITIONS:
        remaining = iter(words(operator.apply(text, severity, rng()).lower()))

        assert all(word in remaining for word in words(text.lower()))


def test_no_addition_names_a_label_of_the_sample_set_or_of_coco():
    labels = {label_key(label) for name in ("sample", "coco") for label in label_sets()[name]}
    added = (*FILLERS, *IRRELEVANT_SENTENCES, *DISTRACTING_INSTRUCTIONS, *COURTESIES, *POLITE_OPENINGS)

    found = {
        label for text in added for label in labels if f" {label} " in f" {' '.join(words(text.lower()))} "
    }

    assert found == set()


def test_verbs_that_ask_are_small_single_words():
    assert all(words(verb) == [verb] and verb.islower() for verb in ASKING_VERBS)
