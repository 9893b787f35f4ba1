"""Labels give way to what a table offers, articles and capitals fit, and words swap with their neighbours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.perturb.text_cases import FORMAT, PROMPT, Draws, rng
from vlmlab.core.perturb.text_tokens import words_of
from vlmlab.core.perturb.text_wording import (
    HOMOPHONE,
    SYNONYM,
    WORD_ORDER,
    TableOperator,
    article_of,
)
from vlmlab.core.perturb.word_tables import Alternative, table_of


def table(kind, **entries):
    return table_of(
        kind,
        {
            label.replace("_", " "): [Alternative(text=text, closeness="whole") for text in texts]
            for label, texts in entries.items()
        },
    )


SYNONYMS = table(
    "synonym", cup=["mug", "beaker"], coffee_cup=["coffee mug"], toddler=["infant"], adult=["grownup"]
)
HOMOPHONES = table("homophone", adult=["a dolt"])
REPLACE = TableOperator("synonym", "wording", "synonym", SYNONYMS)
SOUND = TableOperator("homophone", "wording", "homophone", HOMOPHONES)


def all_drawn(text, which=0.0):
    return Draws(*[[0.0, which]] * len(words_of(text)))


@pytest.mark.parametrize(
    ("text", "which", "changed"),
    [
        ("Find the cup.", 0.0, "Find the mug."),
        ("Find the cup.", 0.99, "Find the beaker."),
        ("Find the coffee cup and the cup", 0.0, "Find the coffee mug and the mug"),
        ("Find the coffee\ncup", 0.0, "Find the coffee mug"),
        ("coffee, cup", 0.0, "coffee, mug"),
        ("CUP, Cup, cup", 0.0, "MUG, Mug, mug"),
        ("Find all cups, coffee cups and Toddlers", 0.0, "Find all mugs, coffee mugs and Infants"),
        ("the cupboard and the cup-board", 0.0, "the cupboard and the cup-board"),
        ("Is a toddler or an adult there? A toddler", 0.0, "Is an infant or a grownup there? An infant"),
        ("IS A TODDLER THERE", 0.0, "IS An INFANT THERE"),
        ("No label here", 0.0, "No label here"),
    ],
)
def test_labels_give_way_to_an_alternative(text, which, changed):
    assert REPLACE.apply(text, 0.5, all_drawn(text, which)) == changed


def test_only_labels_whose_draw_is_below_the_probability_give_way():
    draws = Draws([0.9, 0.0], [0.2, 0.0], [0.0, 0.0], [0.9, 0.0])

    assert REPLACE.apply("cup cup and cup", 0.5, draws) == "cup mug and cup"


def test_a_homophone_leaves_the_article_because_the_sound_stays():
    assert SOUND.apply("an adult", 0.5, all_drawn("an adult")) == "an a dolt"


def test_protected_labels_and_articles_stay():
    text = "a toddler, a toddler"

    assert REPLACE.apply(text, 0.5, all_drawn(text), protect=["toddler"]) == text
    assert REPLACE.apply("A toddler", 0.5, all_drawn("A toddler"), protect=["A "]) == "A infant"


@pytest.mark.parametrize(
    ("words", "article"),
    [
        *[(one, "an") for one in ("adult", "extension lead", "infant", "orange", "umbrella", "hourglass")],
        *[
            (one, "a")
            for one in ("cup", "unicycle", "ewe", "hen", "horse", "one-way sign", "ukulele", "European")
        ],
    ],
)
def test_an_article_follows_the_spoken_sound(words, article):
    assert article_of(words) == article


def test_the_shipped_tables_change_a_label_of_the_sample_set():
    text = "Locate the traffic cone."

    assert HOMOPHONE.apply(text, 1.0, all_drawn(text)) == "Locate the traffic kone."
    assert SYNONYM.apply(text, 1.0, all_drawn(text)) == "Locate the safety cone."


def test_words_swap_with_the_next_one_and_no_word_moves_twice():
    assert WORD_ORDER.apply("a b c d e", 0.5, Draws(*[[0.0]] * 4)) == "b a d c e"
    assert WORD_ORDER.apply("a b c d e", 0.5, Draws([0.9], [0.0], [0.0], [0.0])) == "a c b e d"


def test_words_with_punctuation_between_them_do_not_swap():
    assert WORD_ORDER.apply("a, b. c d", 0.5, Draws(*[[0.0]] * 3)) == "a, b. d c"


def test_protected_words_do_not_swap():
    changed = WORD_ORDER.apply(PROMPT, 1.0, rng(), protect=["traffic cone in", FORMAT])

    assert "traffic cone in" in changed
    assert FORMAT in changed
    assert changed != PROMPT


@given(st.text(), st.floats(0, 1))
def test_word_order_keeps_the_words(text, severity):
    changed = WORD_ORDER.apply(text, severity, rng())

    assert sorted(changed) == sorted(text)
    assert sorted(changed[slice(*span)] for span in words_of(changed)) == sorted(
        text[slice(*span)] for span in words_of(text)
    )
