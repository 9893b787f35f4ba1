"""Numbers of foreign rows."""

import math
import re

from vlmlab.core.seed_images.faults import FaultError

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
MOST_CHARACTERS = 40


def number_in(value: object, *, what: str, has_decimal_comma: bool = False) -> float:
    """Return a finite number of a foreign file.

    Args:
        value: a number or its text.
        what: what it is, for the refusal.
        has_decimal_comma: whether a comma may stand for the decimal point.

    Raises:
        FaultError: it is none.
    """
    if isinstance(value, str):
        text = value.strip()
        if has_decimal_comma and "." not in text:
            text = text.replace(",", ".", 1)
        if len(text) > MOST_CHARACTERS or not NUMBER.fullmatch(text):
            raise FaultError("box", f"has “{text[:20]}” for {what}, which is no number")
        value = float(text)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FaultError("box", f"has no number for {what}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise FaultError("box", f"has no finite number for {what}")
    return number


def side_in(value: object, *, what: str) -> int:
    """Return a claimed width or height in pixels; 0 where the file leaves it open.

    Raises:
        FaultError: it is no whole number from 0 on.
    """
    number = number_in(value, what=what)
    if number < 0 or number != int(number):
        raise FaultError("size", f"has {number:g} for {what}, which is no number of pixels")
    return int(number)


def size_in(width: object, height: object) -> tuple[int, int] | None:
    """Return a claimed size; None where it is left open: nothing, or 0, which some tools write.

    Raises:
        FaultError: only one side is told, or one is no number of pixels.
    """
    sides = [value for value in (width, height) if value not in (None, "")]
    if not sides:
        return None
    if len(sides) == 1:
        raise FaultError("size", "tells only one side of its picture")
    wide, high = side_in(width, what="the width"), side_in(height, what="the height")
    return (wide, high) if wide and high else None
