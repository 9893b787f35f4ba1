"""Text operators that keep every word and change how it is set: capitals and punctuation."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vlmlab.core.perturb.text_operator import TokenOperator, draws_for
from vlmlab.core.perturb.text_spelling import WordOperator
from vlmlab.core.perturb.text_tokens import ProtectedPlaces, words_of

MARKS = (",", ".", ";", ":", "!", "?", "...")
"""What is put after a word that has no punctuation, or in place of the one it has."""

_SINGLE_MARKS = frozenset(",.;:!?")


def change_capitals(word: str, _where: float, which: float) -> str:
    """Return the word in capitals, in small letters, with a capital first, or in turns; never as it was.

    Letters without capitals, or whose capitals are other letters (ß), leave the word as it is.
    """
    first = int(which * len(_SETTINGS))
    for setting in _SETTINGS[first:] + _SETTINGS[:first]:
        changed = setting(word)
        if changed != word and len(changed) == len(word) and changed.casefold() == word.casefold():
            return changed
    return word


def _in_turns(word: str) -> str:
    return "".join([letter.upper() if place % 2 else letter.lower() for place, letter in enumerate(word)])


_SETTINGS: tuple[Callable[[str], str], ...] = (str.upper, str.lower, str.capitalize, _in_turns)


def change_mark(gap: str, action: float, which: float, *, is_last: bool = False) -> str:
    """Return what stands between two words with its first punctuation mark changed.

    A single mark , . ; : ! ? before a blank or at the end is dropped, doubled or replaced; where only a blank
    or nothing stands, a mark is put before it. Anything else, such as brackets, quotes and a point inside a
    number, stays.

    Args:
        gap: the characters after a word up to the next word, or to the end of the text.
        action: in [0, 1): which of the three.
        which: in [0, 1): which mark.
        is_last: whether the text ends with it.
    """
    mark, rest = gap[:1], gap[1:]
    if mark == "" or mark.isspace():
        return MARKS[int(which * len(MARKS))] + gap
    ends_a_word = rest[0].isspace() if rest else is_last
    if mark not in _SINGLE_MARKS or not ends_a_word:
        return gap
    if action < 1 / 3:
        return rest
    if action < 2 / 3:
        return mark + gap
    others = [one for one in MARKS if one != mark]
    return others[int(which * len(others))] + rest


@dataclass(frozen=True)
class PunctuationOperator(TokenOperator):
    """Changes the punctuation after each word with the probability that the severity sets."""

    def _changed(
        self, text: str, probability: float, rng: np.random.Generator, places: ProtectedPlaces
    ) -> str:
        words = words_of(text)
        if not words:
            return text
        parts = [text[: words[0][0]]]
        ends = [start for start, _ in words[1:]] + [len(text)]
        draws = draws_for(len(words), 3, rng)
        for (start, stop), end, (chance, action, which) in zip(words, ends, draws, strict=True):
            gap = text[stop:end]
            if chance < probability and not places.touches(stop, stop + 1) and not places.parts(stop):
                gap = change_mark(gap, action, which, is_last=end == len(text))
            parts += (text[start:stop], gap)
        return "".join(parts)


CASING = WordOperator("casing", "form", change_capitals)
PUNCTUATION = PunctuationOperator("punctuation", "form")
