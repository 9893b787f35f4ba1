"""Small faults in the words of training prompts."""

from collections import Counter

from tools.pocket.disturb import disturbed, lower_words, with_typos, without_words
from vlmlab.core.seeding import rng_for

TEXT = "A) stop at once B) slow down C) go on, 24 km/h"


def test_typos_leave_capitals_digits_and_spaces_alone():
    noisy = with_typos(TEXT, 40, rng=rng_for(6, "typos"))

    kept = [sign for sign in TEXT if not sign.islower()]
    assert [sign for sign in noisy if not sign.islower()] == kept
    assert noisy != TEXT


def test_one_typo_changes_one_place():
    changes = Counter(len(with_typos("abcdef", 1, rng=rng_for(7, "typos", n))) for n in range(200))

    assert set(changes) == {5, 6, 7}
    assert {with_typos("ABC 12", 3, rng=rng_for(8, "typos"))} == {"ABC 12"}


def test_dropped_words_are_lowercase_words_only():
    text = "Find the big red cone, then answer with A or B. [1, 2]"

    nothing = without_words(text, 0.0, rng=rng_for(1, "drop"))
    bare = without_words(text, 1.0, rng=rng_for(1, "drop"))

    assert nothing == text
    assert bare == "Find cone, A B. [1, 2]"


def test_dropped_words_are_as_many_as_the_share():
    text = " ".join(["word"] * 2000)

    left = len(without_words(text, 0.25, rng=rng_for(2, "drop")).split())

    assert abs(left - 1500) < 100


def test_lower_case_spares_letters_that_stand_alone():
    assert lower_words("Pick A) Stop or (B) Go. T or F?") == "pick A) stop or (B) go. T or f?"


def test_most_texts_stay_as_they_are():
    rng = rng_for(3, "disturbed")

    same = sum(disturbed(TEXT, rng=rng) == TEXT for _ in range(1000))

    assert 780 <= same <= 880
    assert disturbed(TEXT, rng=rng_for(4, "one")) == disturbed(TEXT, rng=rng_for(4, "one"))
