"""Text operators that say it otherwise: homophones and synonyms of labels, another order of words."""

import re
from dataclasses import dataclass

import numpy as np

from vlmlab.core.perturb.text_operator import TokenOperator, draws_for
from vlmlab.core.perturb.text_plurals import plural_of
from vlmlab.core.perturb.text_tokens import ProtectedPlaces, Span, words_of
from vlmlab.core.perturb.word_tables import LabelForm, TableKind, WordTable, shipped_table

_VOWEL_SOUND = re.compile(r"[aio]|e(?!u|we)|u(?!ni|se|til|r[aei]|k)|hour|honest|honou?r|heir", re.IGNORECASE)
_CONSONANT_SOUND = re.compile(r"on(?:e|ce)\b", re.IGNORECASE)


@dataclass(frozen=True)
class TableOperator(TokenOperator):
    """Puts an alternative of a table in place of each label with the probability that the severity sets.

    The longest label that starts at a word counts, in the singular or the plural. Capitals are kept, and "a"
    or "an" before a label follows a synonym.

    Attributes:
        kind: what the alternatives are.
        table: where they come from; None is the shipped table of this kind.
    """

    kind: TableKind
    table: WordTable | None = None

    def _changed(
        self, text: str, probability: float, rng: np.random.Generator, places: ProtectedPlaces
    ) -> str:
        table = shipped_table(self.kind) if self.table is None else self.table
        words = words_of(text)
        parts: list[str] = []
        done = 0
        for number, (chance, which) in enumerate(draws_for(len(words), 2, rng)):
            start = words[number][0]
            if start < done:
                continue
            found = _label_at(text, words, number, table)
            if found is None:
                continue
            stop, form = found
            alternatives = table.entries[form.label]
            if chance < probability and not places.touches(start, stop):
                other = alternatives[int(which * len(alternatives))].text
                if form.is_plural:
                    other = plural_of(other) or other
                begin = start
                if self.kind == "synonym" and number and words[number - 1][0] >= done:
                    begin, article = _article(text, words[number - 1], start, other, places)
                    parts += (text[done:begin], article)
                else:
                    parts.append(text[done:start])
                parts.append(_capitals_like(text[start:stop], other))
            else:
                parts.append(text[done:stop])
            done = stop
        parts.append(text[done:])
        return "".join(parts)


def _label_at(text: str, words: list[Span], number: int, table: WordTable) -> tuple[int, LabelForm] | None:
    """Return where the longest label that starts at a word ends, and in which form it stands there."""
    start, stop = words[number]
    for form in table.forms_by_first_word.get(text[start:stop].casefold(), ()):
        last = number + form.n_words - 1
        if last < len(words):
            end = words[last][1]
            if form.n_words == 1 or " ".join(text[start:end].casefold().split()) == form.text:
                return end, form
    return None


def _article(text: str, before: Span, start: int, other: str, places: ProtectedPlaces) -> tuple[int, str]:
    """Return from where the text before an alternative is replaced, and by what."""
    word, gap = text[before[0] : before[1]], text[before[1] : start]
    if word.lower() not in ("a", "an") or not gap.isspace() or places.touches(before[0], start):
        return start, ""
    article = article_of(other)
    if word.isupper() and len(word) > 1:
        article = article.upper()
    return before[0], (article.capitalize() if word[0].isupper() else article) + gap


def article_of(words: str) -> str:
    """Return "an" before a spoken vowel, else "a"; told from the letters, right for nearly all words."""
    return "an" if _VOWEL_SOUND.match(words) and not _CONSONANT_SOUND.match(words) else "a"


def _capitals_like(old: str, new: str) -> str:
    if old.isupper() and len(old) > 1:
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


@dataclass(frozen=True)
class WordOrderOperator(TokenOperator):
    """Swaps a word with the next one with the probability that the severity sets; no word moves twice.

    Words with punctuation between them are not swapped.
    """

    def _changed(
        self, text: str, probability: float, rng: np.random.Generator, places: ProtectedPlaces
    ) -> str:
        words = words_of(text)
        chances = draws_for(max(len(words) - 1, 0), 1, rng)
        parts: list[str] = []
        done = number = 0
        while number < len(chances):
            (start, stop), (next_start, next_stop) = words[number], words[number + 1]
            gap = text[stop:next_start]
            if chances[number][0] < probability and gap.isspace() and not places.touches(start, next_stop):
                parts += (text[done:start], text[next_start:next_stop], gap, text[start:stop])
                done = next_stop
                number += 1
            number += 1
        parts.append(text[done:])
        return "".join(parts)


HOMOPHONE = TableOperator("homophone", "wording", "homophone")
SYNONYM = TableOperator("synonym", "wording", "synonym")
WORD_ORDER = WordOrderOperator("word_order", "wording")
