"""What a probe finds: conventions to compare, each one's fit, readings of single replies, and verdicts."""

from dataclasses import dataclass
from typing import Literal

from vlmlab.core.conventions import RELATIVE_1000, SEEN_PIXELS, BoxConvention

VerdictStatus = Literal["calibrated", "other_convention", "unclear", "unreadable", "failed"]

CANDIDATE_CONVENTIONS: dict[str, BoxConvention] = {
    "0-1000 xyxy": RELATIVE_1000,
    "0-1000 yxyx": BoxConvention(order="yxyx"),
    "0-999 xyxy": BoxConvention(scale=999),
    "1000 bins xyxy": BoxConvention(bin_offset=0.5),
    "0-1024 xyxy": BoxConvention(scale=1024),
    "0-1024 yxyx": BoxConvention(scale=1024, order="yxyx"),
    "0-100 xyxy": BoxConvention(scale=100),
    "0-100 yxyx": BoxConvention(scale=100, order="yxyx"),
    "0-1 xyxy": BoxConvention(scale=1),
    "0-1 yxyx": BoxConvention(scale=1, order="yxyx"),
    "pixels xyxy": SEEN_PIXELS,
    "pixels yxyx": BoxConvention(space="seen_pixels", scale=None, order="yxyx"),
}


@dataclass(frozen=True)
class ProbeBox:
    """What one reply says under the declared convention.

    Attributes:
        status: of the reading; "call_error" where there was no reply.
        reason: which rule decided.
        n_boxes: how many boxes it holds.
        box: the first of them in pixels of the picture.
        iou: of that box with the rectangle, 0 without a box.
    """

    status: str
    reason: str
    n_boxes: int
    box: tuple[float, float, float, float] | None
    iou: float


@dataclass(frozen=True)
class Fit:
    """How well the replies fit one convention.

    Attributes:
        name: for people, as in ``CANDIDATE_CONVENTIONS``.
        convention: which one.
        median_iou: over all answered pictures; a missing box counts as 0.
        n_read: how many replies held a box under it.
    """

    name: str
    convention: BoxConvention
    median_iou: float
    n_read: int


@dataclass(frozen=True)
class BoxVerdict:
    """What a probe says about boxes.

    Attributes:
        status: a ``CalibrationStatus`` value.
        sentence: for people: what was found and what to do.
        median_iou: under the declared convention; None where the calls failed.
        fits: the declared convention first, then the others, best first.
        readings: one a picture, under the declared convention.
    """

    status: VerdictStatus
    sentence: str
    median_iou: float | None
    fits: tuple[Fit, ...]
    readings: tuple[ProbeBox, ...]


@dataclass(frozen=True)
class ProbeAnswer:
    """What one reply to the colour question says.

    Attributes:
        status: "answered", "invalid" or "call_error".
        letter: the chosen one, if any.
        reason: why it could not be read, else "".
        is_right: it is the rectangle's colour.
    """

    status: str
    letter: str | None
    reason: str
    is_right: bool


@dataclass(frozen=True)
class AnswerVerdict:
    """What a probe says about lettered answers.

    Attributes:
        status: a ``CalibrationStatus`` value; depends on what can be read, not on what is right.
        sentence: for people: what was found and what to do.
        readable_share: of the answered pictures; None where the calls failed.
        right_share: of the answered pictures.
        readings: one a picture.
    """

    status: VerdictStatus
    sentence: str
    readable_share: float | None
    right_share: float | None
    readings: tuple[ProbeAnswer, ...]


def meaning_of(convention: BoxConvention) -> tuple[str, float | None, str, float]:
    """Return what changes a reading: not the syntax nor the names of keys, which are for people."""
    return convention.space, convention.scale, convention.order, convention.bin_offset


def convention_name(convention: BoxConvention) -> str:
    """Return a short name for people, that of ``CANDIDATE_CONVENTIONS`` where it is one of them."""
    for name, candidate in CANDIDATE_CONVENTIONS.items():
        if meaning_of(candidate) == meaning_of(convention):
            return name
    if convention.scale is None:
        return f"pixels {convention.order}"
    offset = f" + {convention.bin_offset:g}" if convention.bin_offset else ""
    return f"0-{convention.scale:g}{offset} {convention.order}"
