"""Words that sound like others, from the CMU Pronouncing Dictionary."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

Phonemes = tuple[str, ...]

_VARIANT, _STRESS = re.compile(r"\(\d+\)$"), re.compile(r"\d")

ALIKE: Mapping[str, tuple[str, ...]] = {
    "P": ("B",), "B": ("P",), "T": ("D",), "D": ("T",), "K": ("G",), "G": ("K",), "F": ("V",),
    "V": ("F",), "S": ("Z",), "Z": ("S",), "TH": ("F", "DH"), "DH": ("TH", "D"), "SH": ("CH", "ZH"),
    "CH": ("SH", "JH"), "JH": ("CH",), "ZH": ("SH",), "M": ("N",), "N": ("M", "NG"), "NG": ("N",),
    "L": ("R",), "R": ("L",), "W": ("V",),
    "AA": ("AO", "AH"), "AO": ("AA", "OW"), "OW": ("AO",), "AH": ("AA", "AE"), "AE": ("EH",),
    "EH": ("AE", "IH"), "IH": ("IY", "EH"), "IY": ("IH",), "UH": ("UW", "AH"), "UW": ("UH",), "EY": ("EH",),
}  # fmt: skip
"""Phoneme -> those it is easily taken for: the other voice, or a mouth held nearly alike. Our choice."""


@dataclass(frozen=True)
class Dictionary:
    """Pronunciations without stress, and back.

    Attributes:
        phonemes_of: word -> its pronunciations.
        words_of: pronunciation -> the words that have it, sorted.
    """

    phonemes_of: Mapping[str, tuple[Phonemes, ...]]
    words_of: Mapping[Phonemes, tuple[str, ...]]

    def exact(self, word: str) -> list[str]:
        """Return other words with the same phonemes."""
        return _unique(
            other
            for phonemes in self.phonemes_of.get(word, ())
            for other in self.words_of[phonemes]
            if other != word
        )

    def split(self, word: str, is_usable: Callable[[str], bool]) -> list[str]:
        """Return pairs of usable words that together have the same phonemes, written with a blank.

        Each half has at least two phonemes. A pair that only parts the word's own letters is left out.
        """
        found = (
            f"{left} {right}"
            for phonemes in self.phonemes_of.get(word, ())
            for cut in range(2, len(phonemes) - 1)
            for left, right in product(
                filter(is_usable, self.words_of.get(phonemes[:cut], ())),
                filter(is_usable, self.words_of.get(phonemes[cut:], ())),
            )
        )
        return _unique(one for one in found if one.replace(" ", "") != word)

    def near(self, word: str) -> list[str]:
        """Return words of at least three phonemes that differ by one phoneme that is easily mistaken."""
        found = (
            other
            for phonemes in self.phonemes_of.get(word, ())
            if len(phonemes) >= 3
            for place, phoneme in enumerate(phonemes)
            for heard in ALIKE.get(phoneme, ())
            for other in self.words_of.get((*phonemes[:place], heard, *phonemes[place + 1 :]), ())
        )
        same = {word, *self.exact(word)}
        return _unique(one for one in found if one not in same)


def _unique(words: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(words))


def read_dictionary(file: Path) -> Dictionary:
    """Return the dictionary from its file: a word and its phonemes a line, ``word(2)`` for another way."""
    phonemes_of: dict[str, list[Phonemes]] = defaultdict(list)
    words_of: dict[Phonemes, set[str]] = defaultdict(set)
    for line in file.read_text("utf-8").splitlines():
        word, _, spoken = line.partition("#")[0].strip().partition(" ")
        word = _VARIANT.sub("", word)
        phonemes = tuple(_STRESS.sub("", spoken).split())
        if word and phonemes and phonemes not in phonemes_of[word]:
            phonemes_of[word].append(phonemes)
            words_of[phonemes].add(word)
    return Dictionary(
        {word: tuple(ways) for word, ways in phonemes_of.items()},
        {phonemes: tuple(sorted(words)) for phonemes, words in words_of.items()},
    )
