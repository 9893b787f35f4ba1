"""Homophones of a label: one of its words is replaced by one that sounds like it."""

import re
from collections.abc import Callable, Collection, Iterable

from tools.word_tables.pronunciations import Dictionary
from tools.word_tables.respelling import respellings
from tools.word_tables.wordnet import WordNet
from vlmlab.core.perturb.word_tables import Alternative, Closeness, label_key

MOST_FOR_A_LABEL = 6
MOST_FOR_A_WORD: dict[Closeness, int] = {"exact": 4, "split": 2, "respelled": 3, "near": 3}
_WORD = re.compile(r"[a-z]{3,}")
_SMALL_WORDS = frozenset(("the", "and", "for", "with", "pair"))
_ENDINGS = ("s", "es", "ed", "ing", "er")


class Homophones:
    """Finds what labels sound like.

    Args:
        dictionary: pronunciations.
        wordnet: tells which words are common, rude, or the same word in another spelling.
        labels: every label in small letters; none of them is given as a homophone of another.
    """

    def __init__(self, dictionary: Dictionary, wordnet: WordNet, labels: Collection[str]) -> None:
        self._dictionary = dictionary
        self._wordnet = wordnet
        self._labels = frozenset(labels)
        self._ways: dict[Closeness, Callable[[str], list[str]]] = {
            "exact": self._exact,
            "split": self._split,
            "respelled": self._respelled,
            "near": self._near,
        }

    def of(self, label: str) -> list[Alternative]:
        """Return homophones of the closest kind that the label has; an empty list where it has none."""
        key = label_key(label)
        for closeness, way in self._ways.items():
            by_word = [
                [
                    key[: match.start()] + other + key[match.end() :]
                    for other in way(match[0])[: MOST_FOR_A_WORD[closeness]]
                ]
                for match in _WORD.finditer(key)
                if match[0] not in _SMALL_WORDS
            ]
            found = [
                by_word[word][rank]
                for rank in range(MOST_FOR_A_LABEL)
                for word in reversed(range(len(by_word)))  # the last word says what the thing is
                if rank < len(by_word[word]) and by_word[word][rank] not in self._labels
            ]
            if found:
                kept = list(dict.fromkeys(found))[:MOST_FOR_A_LABEL]
                return [Alternative(text=text, closeness=closeness) for text in kept]
        return []

    def _exact(self, word: str) -> list[str]:
        found = [other for other in self._dictionary.exact(word) if self._stands_for(word, other)]
        return self._by_frequency([other for other in found if self._count(other) > 0] or found)

    def _split(self, word: str) -> list[str]:
        def is_usable(half: str) -> bool:
            return len(half) > 1 and self._count(half) > 0 and self._is_word(half)

        pairs = self._dictionary.split(word, is_usable)
        return sorted(pairs, key=lambda pair: -min(map(self._count, pair.split())))

    def _respelled(self, word: str) -> list[str]:
        known = self._dictionary.phonemes_of
        found = [
            other
            for phonemes in known.get(word, ())
            for other in respellings(word, phonemes)
            if (other not in self._wordnet.meanings or other in self._dictionary.exact(word))
            and not set(known.get(other, ())) - set(known[word])
        ]
        return list(dict.fromkeys(found))

    def _near(self, word: str) -> list[str]:
        return self._by_frequency(
            other
            for other in self._dictionary.near(word)
            if self._count(other) > 0 and self._stands_for(word, other)
        )

    def _stands_for(self, word: str, other: str) -> bool:
        return self._is_word(other) and not self._wordnet.is_same_meaning(word, other)

    def _is_word(self, text: str) -> bool:
        stems = [text, *_stems(text)]
        return (
            len(text) > 1
            and text.isascii()
            and text.isalpha()
            and any(stem in self._wordnet.words for stem in stems)
            and not any(stem in self._wordnet.rude for stem in stems)
        )

    def _count(self, word: str) -> int:
        return max(self._wordnet.counts.get(stem, 0) for stem in (word, *_stems(word)))

    def _by_frequency(self, words: Iterable[str]) -> list[str]:
        return sorted(words, key=lambda word: (-self._count(word), word))


def _stems(word: str) -> list[str]:
    """Return what a word may be an inflected form of."""
    cut = [
        word.removesuffix(ending)
        for ending in _ENDINGS
        if word.endswith(ending) and len(word) > len(ending) + 2
    ]
    return [*cut, *(f"{stem}e" for stem in cut)]
