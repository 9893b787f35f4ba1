"""Reading boxes out of a reply under one declared convention; what is in doubt is malformed."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from vlmlab.core.conventions import BoxConvention
from vlmlab.core.replies.box_document import Document, read_document
from vlmlab.core.replies.box_keys import names_other_form
from vlmlab.core.replies.box_mapping import (
    BoxItem,
    FoundBox,
    Frame,
    PlaceFault,
    as_convention,
    without_numbers,
)
from vlmlab.core.replies.box_text import is_sentinel, without_special_tokens
from vlmlab.core.replies.plain import MAX_CHARACTERS, answer_part

__all__ = ["BoxItem", "BoxReading", "BoxReason", "parse_boxes"]

BoxStatus = Literal["boxes", "empty", "malformed"]
BoxReason = Literal[
    "valid_boxes",
    "sentinel",
    "well_formed_empty",
    "no_output",
    "unfinished_thinking",
    "too_long",
    "no_structured_output",
    "invalid_box",
    "out_of_range",
    "suspect_scale",
    "degenerate",
    "points_only",
    "truncated",
    "structural_error",
    "revised_answer",
    "contradiction",
    "refusal",
    "safety",
]
_REVISED = re.compile(
    r"\b(?:wait|correction|corrected|actually|sorry|mistake|revised|oops|refined|adjusted|updated"
    r"|reconsider\w{0,4}|on reflection|second thoughts?"
    r"|final (?:answer|result|output|box|boxes|bounding|detections?|coordinates)"
    r"|more (?:accurate|accurately|precise|precisely))\b|更正|修正|不对|纠正|最终",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(
    r"\b(?:for (?:example|instance)|e\.g\.|an? example(?: \w{1,12}){0,3}(?: is\b| would be\b|:)"
    r"|(?:would|might|could) look like)[^.\n\[{(]{0,40}\s{0,3}(?:`{3}\w{0,12}\s{0,3})?\Z",
    re.IGNORECASE,
)
_LONGEST_EXAMPLE, _MOST_EXAMPLES = 120, 32
_DENIED = re.compile(
    r"\bthere (?:is|are|was|were) no\b|\bthere (?:is|are)n[’']t\b"
    r"|\b(?:not|n[’']t) (?:present|visible|shown)\b"
    r"|\b(?:do|does|did|can|could)(?: ?not|n[’']t) (?:\w{1,12} )?(?:see|find|detect|locate|contain|show)\b"
    r"|\bunable to (?:see|find|detect|locate)\b",
    re.IGNORECASE,
)
_FIRST_SENTENCE = re.compile(r"[^.!。！\n]{1,60}[.!。！](?=\s|\Z)")


@dataclass(frozen=True)
class BoxReading:
    """What a reply that should hold boxes says.

    Attributes:
        status: "boxes", "empty" (the reply says clearly that there is none), or "malformed".
        reason: which rule decided.
        items: the boxes, in the order of the reply, each once; only with status "boxes".
        flags: "partial" where some boxes could not be used, "sorted", "clipped", "duplicates".
        salvage: of a malformed reply, the boxes that were complete; for the lenient view only.
    """

    status: BoxStatus
    reason: BoxReason
    items: tuple[BoxItem, ...] = ()
    flags: tuple[str, ...] = ()
    salvage: tuple[BoxItem, ...] = ()

    @property
    def lenient_items(self) -> tuple[BoxItem, ...]:
        """The boxes of the lenient view: those of the strict one, or what could be saved."""
        return self.items or self.salvage


@dataclass(frozen=True)
class _Placed:
    items: tuple[BoxItem, ...]
    flags: tuple[str, ...]
    faults: tuple[PlaceFault, ...]
    n_absent: int


def parse_boxes(
    text: str,
    *,
    convention: BoxConvention | Mapping[str, Any],
    image_size: tuple[int, int],
    seen_size: tuple[int, int] | None = None,
    finish_reason: str = "stop",
) -> BoxReading:
    """Read the boxes of a reply in pixels of the original picture.

    Args:
        text: the raw reply. Linear time; never raises for any text.
        convention: the declared one, or its stored form. Never guessed from values or key names.
        image_size: width and height of the original picture in pixels.
        seen_size: width and height of the picture that the system saw; the original's where None.
        finish_reason: why the text ended (``FinishReason`` of the SUT).

    Returns:
        The strict reading, with what a lenient one would add in ``salvage``.

    Raises:
        ValueError: a size is not two positive numbers, or the convention is none.
    """
    for name, size in (("image_size", image_size), ("seen_size", seen_size or image_size)):
        if len(size) != 2 or min(size) <= 0:
            raise ValueError(f"{name} must be a positive width and height, got {size}")
    frame = Frame(as_convention(convention), image_size, seen_size)
    answer = answer_part(text)
    if answer.is_unfinished_thinking:
        return BoxReading("malformed", "unfinished_thinking")
    visible = without_special_tokens(answer.text)
    if not visible:
        return BoxReading("malformed", "no_output")
    visible = _after_tools(visible)
    if len(visible) > MAX_CHARACTERS:
        return BoxReading("malformed", "too_long")
    if is_sentinel(visible) and finish_reason == "length":
        return BoxReading("malformed", "truncated")
    if is_sentinel(visible):
        return _stopped(BoxReading("empty", "sentinel"), finish_reason)
    document = read_document(visible, frame.convention.order)
    return _stopped(_judge(document, frame, is_cut=finish_reason == "length"), finish_reason)


def _after_tools(text: str) -> str:
    """Return what follows the last call of a tool where that is an answer: where it looked is none."""
    _, _, tail = text.rpartition("</tool_call>")
    is_answer = any(character.isdigit() for character in tail) or is_sentinel(tail) or "[]" in tail
    return tail.strip() if is_answer else text


def _judge(document: Document, frame: Frame, *, is_cut: bool) -> BoxReading:
    """Decide what a document says, rules in their order."""
    found = document.found
    candidates = found.boxes or found.bare
    if candidates and any(names_other_form(words, frame.convention.order) for _, words in document.words):
        candidates = [box if box.is_named else without_numbers(box) for box in candidates]
    candidates = _without_examples(document, candidates)
    placed = _placed(candidates, frame)
    fault = _fault(document, is_cut=is_cut and bool(candidates))
    if fault:
        whole = _placed([box for box in candidates if box.is_whole], frame)
        return BoxReading("malformed", fault, salvage=whole.items)
    if placed.items and _is_revised(document, candidates):
        return BoxReading("malformed", "revised_answer", salvage=placed.items)
    if placed.items and _is_denied(document, candidates):
        return BoxReading("malformed", "contradiction", salvage=placed.items)
    if placed.items:
        return BoxReading("boxes", "valid_boxes", placed.items, placed.flags)
    if placed.faults:
        return BoxReading("malformed", placed.faults[0])
    if found.n_points:
        return BoxReading("malformed", "points_only")
    if (placed.n_absent or found.n_empty) and is_cut and not document.ends_in_words:
        return BoxReading("malformed", "truncated")
    if placed.n_absent or found.n_empty:
        return BoxReading("empty", "well_formed_empty")
    return BoxReading("malformed", "no_structured_output")


def _fault(document: Document, *, is_cut: bool) -> BoxReason | None:
    if document.is_cut or (is_cut and document.is_open_ended):
        return "truncated"
    return "structural_error" if document.is_broken else None


def _placed(candidates: Sequence[FoundBox], frame: Frame) -> _Placed:
    """Map every candidate; the same box with the same label counts once."""
    kept: dict[tuple[str | None, tuple[float, ...]], BoxItem] = {}
    faults: list[PlaceFault] = []
    n_absent = n_items = 0
    for candidate in candidates:
        place = frame.place(candidate)
        if place is None:
            n_absent += 1
        elif isinstance(place, str):
            faults.append(place)
        else:
            n_items += 1
            kept.setdefault((place.label, place.box), place)
    flags = ["partial"] if kept and faults else []
    flags += ["duplicates"] if n_items > len(kept) else []
    flags += [flag for flag in ("sorted", "clipped") if any(flag in item.flags for item in kept.values())]
    return _Placed(tuple(kept.values()), tuple(flags), tuple(faults), n_absent)


def _without_examples(document: Document, candidates: Sequence[FoundBox]) -> list[FoundBox]:
    """Take the numbers off boxes that are introduced as an example of how a box is written."""
    starts = [start for start, _ in document.words[1:]] + [math.inf]
    examples = (
        [
            (start + len(words), end)
            for (start, words), end in zip(document.words, starts, strict=True)
            if _EXAMPLE.search(words[-_LONGEST_EXAMPLE:])
        ]
        if document.words
        else []
    )
    return [
        without_numbers(box)
        if any(start <= box.start < end for start, end in examples[:_MOST_EXAMPLES])
        else box
        for box in candidates
    ]


def _is_revised(document: Document, candidates: Sequence[FoundBox]) -> bool:
    """Whether words of correction stand between two parts that hold different boxes: which counts is open."""
    first, last = candidates[0].start, candidates[-1].start
    starts = [start for start, words in document.words if first < start < last and _REVISED.search(words)]
    if not starts:
        return False
    before = {box.numbers for box in candidates if box.start < starts[-1]}
    return before != {box.numbers for box in candidates if box.start > starts[-1]}


def _is_denied(document: Document, candidates: Sequence[FoundBox]) -> bool:
    """Whether a reply says that there is nothing and then gives numbers that nothing names a thing."""
    said = [words for start, words in document.words if start < candidates[0].start]
    opening = _FIRST_SENTENCE.match(said[0]) if said else None
    if opening is not None and is_sentinel(opening.group()):
        return True
    is_bare = not document.found.boxes and all(box.label is None for box in candidates)
    return is_bare and any(_DENIED.search(words) for _, words in document.words)


def _stopped(reading: BoxReading, finish_reason: str) -> BoxReading:
    """A reply that the provider stopped does not count, even where its text can be read."""
    if reading.status == "malformed" or finish_reason not in ("refusal", "safety"):
        return reading
    reason: BoxReason = "refusal" if finish_reason == "refusal" else "safety"
    return BoxReading("malformed", reason, salvage=reading.items)
