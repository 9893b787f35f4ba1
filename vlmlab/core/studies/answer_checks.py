"""What an answer of a participant must be before it is stored."""

from collections.abc import Sequence
from typing import Literal

from vlmlab.core.errors import VlmLabError
from vlmlab.core.storable_values import is_storable
from vlmlab.core.studies.judgements import Boxes

AnswerChoice = Literal["drawn", "empty", "rejected"]
ANSWER_CHOICES: tuple[AnswerChoice, ...] = ("drawn", "empty", "rejected")
REJECT_REASONS = ("image", "prompt", "other")
MOST_BOXES = 100
LEAST_SIDE = 1.0
"""Pixels of the case's picture."""
LAST_BITS = 1e-9
"""Pixels: (0.4 + 1) - 0.4 is not quite 1."""
MOST_REASON = 2_000
MOST_PIXELS = 1e9
"""Beyond every picture; a missing number is not below it."""
ROUNDING = 1e-3
"""Pixels that a page's arithmetic may lie outside the picture; such a corner is set on the edge."""


class AnswerError(VlmLabError):
    """An answer cannot be stored; message and hint are for the participant."""


def checked_boxes(rows: object, *, width: int, height: int) -> Boxes:
    """Return boxes as x_min, y_min, x_max, y_max in pixels of the picture.

    Args:
        rows: what a page sent.
        width: of the picture in pixels.
        height: of the picture in pixels.

    Raises:
        AnswerError: no list of four finite numbers each, more than 100, outside the picture, or a side
            shorter than one pixel; the first such box is named.
    """
    if not isinstance(rows, list | tuple):
        raise AnswerError("The boxes are not a list.", hint=_AGAIN, field="boxes")
    if len(rows) > MOST_BOXES:
        raise AnswerError(
            f"There are {len(rows)} boxes; at most {MOST_BOXES} can be kept.",
            hint="Delete those that are not needed.",
            field="boxes",
        )
    return tuple(_checked_box(row, number, width, height) for number, row in enumerate(rows, start=1))


def check_choice(status: object, *, boxes: Sequence[object], reason: object, reason_text: object) -> str:
    """Check that an answer fits together and return the words of the reason as they are stored.

    Args:
        status: as a page sent it, as are reason and its words.
        boxes: checked ones.
        reason: "" where nothing is rejected.
        reason_text: words, "" for none.

    Raises:
        AnswerError: an unknown status or reason, boxes where there can be none or none where there must be,
            or "other" without words.
    """
    if not isinstance(status, str) or status not in ANSWER_CHOICES:
        raise AnswerError("Draw a box, or say why you cannot.", field="status")
    if status == "drawn" and not boxes:
        raise AnswerError(
            "There is no box yet.", hint="Draw one, or say that there is no such object.", field="boxes"
        )
    if status != "drawn" and boxes:
        raise AnswerError(
            "An answer without an object has no boxes.", hint="Delete the boxes, or draw.", field="boxes"
        )
    if status != "rejected":
        if reason != "":
            raise AnswerError("Only a rejected case has a reason.", field="reason")
        return ""
    if not isinstance(reason, str) or reason not in REJECT_REASONS:
        raise AnswerError("Say what is unclear.", hint="Choose one of the reasons.", field="reason")
    if not isinstance(reason_text, str) or len(reason_text) > MOST_REASON:
        raise AnswerError(f"Write at most {MOST_REASON:,} characters.", field="reason_text")
    words = reason_text.strip()
    if not is_storable(words):
        raise AnswerError("The text has characters that cannot be stored.", field="reason_text")
    if reason == "other" and not words:
        raise AnswerError("Say in a few words what the reason is.", field="reason_text")
    return words


_AGAIN = "Load the page again; what you drew is kept."


def _checked_box(row: object, number: int, width: int, height: int) -> tuple[float, float, float, float]:
    if not isinstance(row, list | tuple) or len(row) != 4 or not all(_is_number(value) for value in row):
        raise AnswerError(f"Box {number} is not four numbers.", hint=_AGAIN, field="boxes")
    left, top, right, bottom = (float(value) for value in row)
    inside = (
        -ROUNDING <= left <= right <= width + ROUNDING and -ROUNDING <= top <= bottom <= height + ROUNDING
    )
    if not inside:
        raise AnswerError(
            f"Box {number} reaches out of the picture of {width} x {height} pixels.",
            hint=_AGAIN,
            field="boxes",
        )
    box = max(0.0, left), max(0.0, top), min(right, float(width)), min(bottom, float(height))  # no -0.0
    if min(box[2] - box[0], box[3] - box[1]) < LEAST_SIDE - LAST_BITS:
        raise AnswerError(
            f"Box {number} is too small.", hint="Make it at least one pixel wide and high.", field="boxes"
        )
    return box


def _is_number(value: object) -> bool:
    """Whether it is a finite number; a whole number may be too large to become a float."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MOST_PIXELS
