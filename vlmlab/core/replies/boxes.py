"""Reading boxes out of a reply under one declared convention; what is in doubt is malformed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from vlmlab.core.conventions import BoxConvention
from vlmlab.core.replies.box_document import Document, read_document
from vlmlab.core.replies.box_keys import names_other_form
from vlmlab.core.replies.box_mapping import BoxItem, FoundBox, Frame, as_convention, without_numbers
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
    "refusal",
    "safety",
]
_REVISED = re.compile(
    r"\b(?:wait|correction|corrected|actually|sorry|mistake|revised|oops)\b|更正|修正|不对|纠正",
    re.IGNORECASE,
)


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
    reasons: tuple[str, ...]
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
    if not without_special_tokens(text):
        return BoxReading("malformed", "no_output")
    answer = answer_part(text)
    if answer.is_unfinished_thinking:
        return BoxReading("malformed", "unfinished_thinking")
    visible = without_special_tokens(answer.text)
    if not visible:
        return BoxReading("malformed", "no_output")
    if len(visible) > MAX_CHARACTERS:
        return BoxReading("malformed", "too_long")
    if is_sentinel(visible) and finish_reason == "length":
        return BoxReading("malformed", "truncated")
    if is_sentinel(visible):
        return _stopped(BoxReading("empty", "sentinel"), finish_reason)
    document = read_document(visible, frame.convention.order)
    return _stopped(_judge(document, frame, is_cut=finish_reason == "length"), finish_reason)


def _judge(document: Document, frame: Frame, *, is_cut: bool) -> BoxReading:
    """Decide what a document says, rules in their order."""
    found = document.found
    candidates = found.boxes or found.bare
    if candidates and any(names_other_form(words, frame.convention.order) for _, words in document.words):
        candidates = [box if box.is_named else without_numbers(box) for box in candidates]
    placed = _placed(candidates, frame)
    fault = _fault(document, is_cut=is_cut and bool(candidates))
    if fault:
        whole = _placed([box for box in candidates if box.is_whole], frame)
        return BoxReading("malformed", fault, salvage=whole.items)
    if placed.items and _is_revised(document, candidates):
        return BoxReading("malformed", "revised_answer", salvage=placed.items)
    if placed.items:
        return BoxReading("boxes", "valid_boxes", placed.items, placed.flags)
    if placed.reasons:
        return BoxReading("malformed", placed.reasons[0])  # type: ignore[arg-type]  # reasons of Frame.place
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
    reasons: list[str] = []
    n_absent = n_items = 0
    for candidate in candidates:
        place = frame.place(candidate)
        if place is None:
            n_absent += 1
        elif isinstance(place, str):
            reasons.append(place)
        else:
            n_items += 1
            kept.setdefault((place.label, place.box), place)
    flags = ["partial"] if kept and reasons else []
    flags += ["duplicates"] if n_items > len(kept) else []
    flags += [flag for flag in ("sorted", "clipped") if any(flag in item.flags for item in kept.values())]
    return _Placed(tuple(kept.values()), tuple(flags), tuple(reasons), n_absent)


def _is_revised(document: Document, candidates: Sequence[FoundBox]) -> bool:
    """Whether words of correction stand between two parts that hold boxes: which one counts is open."""
    first, last = candidates[0].start, candidates[-1].start
    return any(first < start < last and _REVISED.search(words) for start, words in document.words)


def _stopped(reading: BoxReading, finish_reason: str) -> BoxReading:
    """A reply that the provider stopped does not count, even where its text can be read."""
    if reading.status == "malformed" or finish_reason not in ("refusal", "safety"):
        return reading
    reason: BoxReason = "refusal" if finish_reason == "refusal" else "safety"
    return BoxReading("malformed", reason, salvage=reading.items)
