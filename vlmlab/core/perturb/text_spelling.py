"""Text operators that change letters inside words: slips of the keyboard and of a scanner's reading."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from string import ascii_lowercase

import numpy as np

from vlmlab.core.perturb.text_operator import TokenOperator, draws_for
from vlmlab.core.perturb.text_tokens import ProtectedPlaces, letters_of, words_of

WordEdit = Callable[[str, float, float], str]
"""(word, where in [0, 1), which in [0, 1)) -> the changed word, or the word where it cannot be changed."""

_ROWS = (("qwertyuiop", 0.0), ("asdfghjkl", 0.25), ("zxcvbnm", 0.75))
_REACH = 1.3  # of key widths: the six keys around a key, none further


def _key_neighbours() -> dict[str, str]:
    keys = {key: (shift + x, float(y)) for y, (row, shift) in enumerate(_ROWS) for x, key in enumerate(row)}
    return {
        key: "".join(
            other
            for other, (x2, y2) in keys.items()
            if other != key and (x2 - x) ** 2 + (y2 - y) ** 2 < _REACH**2
        )
        for key, (x, y) in keys.items()
    }


KEY_NEIGHBOURS: Mapping[str, str] = _key_neighbours()
"""Small letter -> the letters whose keys touch its key on a US keyboard."""

MISREADINGS: Mapping[str, tuple[str, ...]] = {
    "rn": ("m",), "m": ("rn",), "cl": ("d",), "d": ("cl",), "vv": ("w",), "w": ("vv",),
    "li": ("h",), "nn": ("m",), "n": ("ri",), "u": ("v", "ii"), "v": ("u",),
    "o": ("0", "c"), "O": ("0", "Q"), "D": ("O",), "Q": ("O",), "G": ("6", "C"), "C": ("G",),
    "l": ("1", "I"), "I": ("l", "1"), "i": ("l", "j"), "j": ("i",), "t": ("f", "l"), "f": ("t",),
    "s": ("5",), "S": ("5",), "B": ("8",), "g": ("9", "q"), "q": ("g",), "z": ("2",), "Z": ("2",),
    "e": ("c", "o"), "c": ("e", "o"), "a": ("o",), "h": ("b",), "b": ("h", "6"), "E": ("F",), "R": ("K",),
}  # fmt: skip
"""Letters -> what a scanner reads in their place. No digit is misread: coordinates and counts stay."""


_PAIRS = tuple(source for source in MISREADINGS if len(source) == 2)


def _at(size: int, share: float) -> int:
    return int(share * size)  # share < 1, so below size


def replace_by_key_neighbour(word: str, where: float, which: float) -> str:
    """Return the word with one letter replaced by a neighbour on the keyboard, its case kept."""
    places = [place for place, letter in enumerate(word.lower()) if letter in KEY_NEIGHBOURS]
    if not places or len(word.lower()) != len(word):
        return word
    place = places[_at(len(places), where)]
    letter = word[place]
    neighbours = KEY_NEIGHBOURS[letter.lower()]
    typed = neighbours[_at(len(neighbours), which)]
    return word[:place] + (typed.upper() if letter.isupper() else typed) + word[place + 1 :]


def swap_letters(word: str, where: float, _which: float) -> str:
    """Return the word with two different letters in a row swapped."""
    letters = letters_of(word)
    is_plain = word.isascii() and word.isalpha()
    places = [
        place
        for place, (left, right) in enumerate(pairwise(letters))
        if left != right and (is_plain or (left[0].isalpha() and right[0].isalpha()))
    ]
    if not places:
        return word
    place = places[_at(len(places), where)]
    letters[place], letters[place + 1] = letters[place + 1], letters[place]
    return "".join(letters)


def delete_letter(word: str, where: float, _which: float) -> str:
    """Return the word without one of its letters; a single letter stays."""
    letters = letters_of(word)
    places = _letter_places(word, letters)
    if len(places) < 2:
        return word
    del letters[places[_at(len(places), where)]]
    return "".join(letters)


def insert_letter(word: str, where: float, which: float) -> str:
    """Return the word with one letter more: any of a to z, in other scripts one of the word's own letters."""
    letters = letters_of(word)
    places = _letter_places(word, letters)
    if not places:
        return word
    choices = ascii_lowercase if word.isascii() else [letters[place] for place in places]
    letter = choices[_at(len(choices), which)]
    letters.insert(_at(len(letters) + 1, where), letter.upper() if _is_in_capitals(word) else letter)
    return "".join(letters)


def repeat_letter(word: str, where: float, which: float) -> str:
    """Return the word with one letter typed two or three times."""
    letters = letters_of(word)
    places = _letter_places(word, letters)
    if not places:
        return word
    letters[places[_at(len(places), where)]] *= 2 + _at(2, which)
    return "".join(letters)


def misread_letters(word: str, where: float, which: float) -> str:
    """Return the word with one letter or pair of letters read as a scanner would."""
    readings = [(place, letter) for place, letter in enumerate(word) if letter in MISREADINGS]
    readings += [(word.index(pair), pair) for pair in _PAIRS if pair in word]
    if not readings:
        return word
    place, source = readings[_at(len(readings), where)]
    choices = MISREADINGS[source]
    return word[:place] + choices[_at(len(choices), which)] + word[place + len(source) :]


def _letter_places(word: str, letters: list[str]) -> Sequence[int]:
    if word.isascii() and word.isalpha():
        return range(len(letters))
    return [place for place, letter in enumerate(letters) if letter[0].isalpha()]


def _is_in_capitals(word: str) -> bool:
    return len(word) > 1 and word.isupper()


@dataclass(frozen=True)
class WordOperator(TokenOperator):
    """Changes each word with the probability that the severity sets, one slip a word.

    Attributes:
        edit: the slip.
    """

    edit: WordEdit

    def _changed(
        self, text: str, probability: float, rng: np.random.Generator, places: ProtectedPlaces
    ) -> str:
        words = words_of(text)
        parts: list[str] = []
        done = 0
        for (start, stop), (chance, where, which) in zip(words, draws_for(len(words), 3, rng), strict=True):
            if chance < probability and not places.touches(start, stop):
                parts += (text[done:start], self.edit(text[start:stop], where, which))
                done = stop
        parts.append(text[done:])
        return "".join(parts)


SPELLING_OPERATORS = (
    WordOperator("char_swap", "spelling", swap_letters),
    WordOperator("char_delete", "spelling", delete_letter),
    WordOperator("char_insert", "spelling", insert_letter),
    WordOperator("char_repeat", "spelling", repeat_letter),
    WordOperator("keyboard_typo", "spelling", replace_by_key_neighbour),
)
"""In the order they act."""

OCR_CONFUSION = WordOperator("ocr_confusion", "form", misread_letters)
"""Acts after everything else: a text is typed first and scanned last."""
