"""Boxes and points written straight into a sentence: pairs in parentheses, and what stands before a list."""

import re

from vlmlab.core.replies.box_items import Found
from vlmlab.core.replies.box_mapping import FoundBox
from vlmlab.core.replies.box_numbers import NUMERAL

_NUMBERS_IN_PARENTHESES = re.compile(rf"\(\s*+({NUMERAL}(?:(?:\s*+[,;]\s*+|\s++){NUMERAL})*+)\s*+\)")
_ONE_NUMERAL = re.compile(NUMERAL)
_JOINED = re.compile(r"\s*,\s*|[^\S\n]*")
_NAMED_POINT = re.compile(
    rf"\bx\s{{0,4}}[=:]\s{{0,4}}{NUMERAL}\s{{0,4}},\s{{0,4}}y\s{{0,4}}[=:]", re.IGNORECASE
)
_LABEL_EDGES = frozenset("\n.,:;!?()[]{}<>=|\"'`*_，。：；！？、“”")
_LONGEST_LABEL = 120
_JOINING_WORD = re.compile(r"^(?:and|or|with|&)\s+", re.IGNORECASE)
_NO_LABELS = frozenset(
    (
        *("box", "bbox", "boxes", "bounding box", "bounding boxes"),
        *("the box", "the bounding box", "coordinates", "coordinate"),
    )
)


def bare_boxes_in_words(words: str, start: int) -> Found:
    """Return boxes written as ``(x, y), (x, y)`` or ``(a, b, c, d)``, and points, in plain words.

    Args:
        words: a part of the reply without lists and objects.
        start: where the part begins in the reply.
    """
    found = Found(n_points=sum(1 for _ in _NAMED_POINT.finditer(words)))
    chain: list[tuple[float, ...]] = []
    chain_start = end = 0
    for match in _NUMBERS_IN_PARENTHESES.finditer(words):
        if chain and not _JOINED.fullmatch(words, end, match.start()):
            _note_chain(found, chain, start + chain_start)
            chain = []
        if not chain:
            chain_start = match.start()
        chain.append(tuple(float(number) for number in _ONE_NUMERAL.findall(match.group(1))))
        end = match.end()
    _note_chain(found, chain, start + chain_start)
    return found


def _note_chain(found: Found, chain: list[tuple[float, ...]], start: int) -> None:
    sizes = [len(numbers) for numbers in chain]
    if sizes == [2]:
        found.n_points += 1
    elif sizes == [2, 2]:
        found.bare.append(FoundBox(None, start, chain[0] + chain[1]))
    elif sizes and set(sizes) == {4}:
        found.bare += [FoundBox(None, start, numbers) for numbers in chain]
    elif sum(sizes) > 1:
        found.bare.append(FoundBox(None, start))


def label_before(text: str, start: int) -> str | None:
    """Return the words that stand directly before a list, as in ``red car[[1, 2, 3, 4]]``."""
    first = start
    if start and text[start - 1].isspace():
        return None
    while first > max(0, start - _LONGEST_LABEL) and text[first - 1] not in _LABEL_EDGES:
        first -= 1
    label = _JOINING_WORD.sub("", text[first:start].strip())
    return None if not label or label.casefold() in _NO_LABELS else label
