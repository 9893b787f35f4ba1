"""Where words, letters, sentences and protected places stand in a prompt."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

# Neither blanks nor punctuation, of any script; the joiners inside words of some scripts (U+200C, U+200D)
# belong to the word.
_INNER = (
    r"[^\s!-/:-@\[-`{-~\u00a1-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb\u00bf\u00d7\u00f7\u2010-\u206f"
    r"\u3000-\u303f\ufe30-\ufe4f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]+"
)
_WORD = re.compile(rf"{_INNER}(?:['’-]{_INNER})*")
_GAP = re.compile(
    r"\s+|(?<=[。！？])(?=\S)"
)  # each character is looked at once, also in a prompt of line ends
_JOINERS = frozenset("\u200c\u200d")

Span = tuple[int, int]


def _end_of(span: Span) -> int:
    return span[1]


@dataclass(frozen=True)
class ProtectedPlaces:
    """Parts of a text that stay as they are.

    Attributes:
        spans: first character and the one after the last, sorted, without overlaps.
    """

    spans: tuple[Span, ...] = ()

    def touches(self, start: int, stop: int) -> bool:
        """Whether characters in ``start..stop - 1`` are protected."""
        place = bisect_right(self.spans, start, key=_end_of)
        return place < len(self.spans) and self.spans[place][0] < stop

    def parts(self, position: int) -> bool:
        """Whether something put before the character at a position would part a protected text."""
        return self.touches(position, position)


def protected_places(text: str, protect: Sequence[str]) -> ProtectedPlaces:
    """Return where any of some texts stands in a text, also where occurrences overlap.

    Raises:
        ValueError: ``protect`` is one text instead of several, or one of them is empty.
    """
    if isinstance(protect, str):
        raise ValueError(f"protect must be several texts, got one: {protect!r}")
    if not all(protect):
        raise ValueError("protect holds an empty text")
    found = sorted(
        (match.start(), match.start() + len(one))
        for one in dict.fromkeys(protect)
        for match in re.finditer(f"(?={re.escape(one)})", text)
    )
    merged: list[Span] = []
    for start, stop in found:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return ProtectedPlaces(tuple(merged))


def words_of(text: str) -> list[Span]:
    """Return where the words are: runs of letters, digits and marks, joined by apostrophes and hyphens.

    In scripts without blanks between words, a whole run up to the next punctuation counts as one word.
    """
    return [match.span() for match in _WORD.finditer(text)]


def letters_of(word: str) -> list[str]:
    """Return the characters of a word, each with the marks that stand on it."""
    if word.isascii():
        return list(word)
    letters: list[str] = []
    for character in word:
        is_mark = unicodedata.category(character).startswith("M") or character in _JOINERS
        if letters and (is_mark or letters[-1][-1] == "\u200d"):
            letters[-1] += character
        else:
            letters.append(character)
    return letters


def sentence_breaks(text: str) -> list[Span]:
    """Return the blanks between sentences: after . ! ? when no small letter follows, and at line ends."""
    gaps = (match.span() for match in _GAP.finditer(text))
    return [(start, stop) for start, stop in gaps if start == stop or _parts_sentences(text, start, stop)]


def _parts_sentences(text: str, start: int, stop: int) -> bool:
    """Return whether the blanks in ``start..stop - 1``, all that stand there, are between two sentences."""
    if stop == len(text):
        return False
    is_behind_sentence = start > 0 and text[start - 1] in ".!?"
    return "\n" in text[start:stop] or (is_behind_sentence and not "a" <= text[stop] <= "z")
