"""Text operators that add words and sentences which leave the task as it is."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vlmlab.core.perturb.text_operator import TokenOperator, draws_for
from vlmlab.core.perturb.text_tokens import ProtectedPlaces, sentence_breaks, words_of

FILLERS = (
    "um,", "uh,", "er,", "hmm,", "well,", "so,", "like,", "you know,", "I mean,", "basically,", "actually,",
    "sort of",
)  # fmt: skip
"""What people say while they think of the next word."""

DISTRACTING_INSTRUCTIONS = (
    "Also notice the colours, but do not mention them.",
    "Think about the time of day as well, without writing about it.",
    "Before that, count to ten in your mind.",
    "Also imagine what happened a minute earlier, but keep it to yourself.",
    "Compare it in your mind with something you have seen before.",
    "Do not be in a hurry.",
    "Also consider how the light falls, but leave that out of the answer.",
    "Start with a general impression, and keep that impression to yourself.",
    "Ignore how sharp everything looks.",
    "Also decide in your mind whether you like the picture.",
    "Remember that others will read this.",
    "Also think of a title for the scene, but do not write it down.",
)
"""Sentences that ask for something beside the task; none asks for another answer."""

IRRELEVANT_SENTENCES = (
    "The picture came by mail last week.",
    "Somebody else has already looked at it.",
    "It was an ordinary day.",
    "A friend of mine collects such pictures.",
    "There are many more where this one came from.",
    "I have not slept well lately.",
    "The weather changed an hour later.",
    "It took a long time to find it again.",
    "My sister likes this one best.",
    "It is the third one today.",
    "The file was renamed twice.",
    "We talked about it over lunch.",
)
"""Sentences that say nothing about the task or about where anything is."""

COURTESIES = (
    "Thank you.",
    "Thanks in advance.",
    "Thank you for your help.",
    "I would be very grateful.",
    "It would be very kind of you.",
    "I hope this is not too much trouble.",
    "Sorry to bother you.",
    "I appreciate it.",
)
"""Polite sentences for anywhere between two sentences."""

POLITE_OPENINGS = (
    "Please",
    "Kindly",
    "If you don't mind, please",
    "When you have a moment, please",
    "If it is not too much trouble, please",
    "I would be grateful if you could",
)
"""Polite words before a sentence that asks for something."""

ASKING_VERBS = frozenset(
    (
        "answer", "box", "check", "circle", "describe", "detect", "draw", "enclose", "find", "give",
        "identify", "indicate", "label", "list", "localise", "localize", "locate", "look", "make", "mark",
        "name", "output", "point", "print", "provide", "put", "read", "reply", "report", "respond",
        "return", "say", "search", "select", "show", "spot", "state", "tell", "use", "write",
    )
)  # fmt: skip
"""First words of a sentence that asks for something."""

_FIRST_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class FillerOperator(TokenOperator):
    """Puts a filler before each word with the probability that the severity sets."""

    def _changed(
        self, text: str, probability: float, rng: np.random.Generator, places: ProtectedPlaces
    ) -> str:
        words = words_of(text)
        parts: list[str] = []
        done = 0
        for (start, _), (chance, which) in zip(words, draws_for(len(words), 2, rng), strict=True):
            follows_blank = start == 0 or text[start - 1].isspace()
            if chance < probability and follows_blank and not places.parts(start):
                parts += (text[done:start], FILLERS[int(which * len(FILLERS))], " ")
                done = start
        parts.append(text[done:])
        return "".join(parts)


@dataclass(frozen=True)
class SentenceOperator(TokenOperator):
    """Puts a sentence at the start, between two sentences, and at the end, each with that probability.

    No sentence is put twice while there are others. A blank text stays.

    Attributes:
        sentences: what may be put.
    """

    sentences: tuple[str, ...]

    def _changed(
        self, text: str, probability: float, rng: np.random.Generator, places: ProtectedPlaces
    ) -> str:
        slots = _slots(text)
        order = rng.permutation(len(self.sentences)).tolist()
        parts: list[str] = []
        done = 0
        for number, (slot, (chance,)) in enumerate(zip(slots, draws_for(len(slots), 1, rng), strict=True)):
            if chance < probability and not places.parts(slot.position):
                parts.append(text[done : slot.position])
                parts.append(slot.around(self.sentences[order[number % len(order)]]))
                done = slot.position
        parts.append(text[done:])
        return "".join(parts)


@dataclass(frozen=True)
class PolitenessOperator(TokenOperator):
    """Asks kindly: polite words before a sentence that asks, a courtesy in the other places."""

    def _changed(
        self, text: str, probability: float, rng: np.random.Generator, places: ProtectedPlaces
    ) -> str:
        slots = _slots(text)
        parts: list[str] = []
        done = 0
        for slot, (chance, which) in zip(slots, draws_for(len(slots), 2, rng), strict=True):
            if chance >= probability or places.parts(slot.position):
                continue
            parts.append(text[done : slot.position])
            done = slot.position
            first = _FIRST_WORD.match(text, slot.position)
            if first and first[0].lower() in ASKING_VERBS and not places.touches(*first.span()):
                opening = POLITE_OPENINGS[int(which * len(POLITE_OPENINGS))]
                parts += (opening, " ", first[0][:1].lower() + first[0][1:])
                done = first.end()
            else:
                parts.append(slot.around(COURTESIES[int(which * len(COURTESIES))]))
        parts.append(text[done:])
        return "".join(parts)


@dataclass(frozen=True)
class _Slot:
    """A place for a sentence: before which character, and what parts it from its neighbours."""

    position: int
    before: str
    after: str

    def around(self, sentence: str) -> str:
        return f"{self.before}{sentence}{self.after}"


def _slots(text: str) -> Sequence[_Slot]:
    """Return the places at the start, between sentences and at the end; none in a blank text."""
    start, stop = len(text) - len(text.lstrip()), len(text.rstrip())
    if start >= stop:
        return ()
    inner = [
        _Slot(end, "", text[begin:end] or " ")
        for begin, end in sentence_breaks(text)
        if start < begin and end < stop
    ]
    return (_Slot(start, "", " "), *inner, _Slot(stop, ". " if text[stop - 1].isalnum() else " ", ""))


FILLER = FillerOperator("filler", "additions")
POLITENESS = PolitenessOperator("politeness", "additions")
IRRELEVANT_CONTEXT = SentenceOperator("irrelevant_context", "additions", IRRELEVANT_SENTENCES)
DISTRACTOR_INSTRUCTION = SentenceOperator("distractor_instruction", "additions", DISTRACTING_INSTRUCTIONS)
