"""Foreign COCO segmentations made into masks, checked before any decoder sees them.

The decoder of run lengths believes whatever it is given: lengths that do not add up to the picture make it
show what happens to lie in memory. So every length is added up here first.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

CODE_BASE = 48
CODE_BITS = 5
MOST_CODES = 7  # characters of one number; more than any picture needs
MOST_RUNS = 4_000_000
MOST_POINTS = 200_000
MOST_OUTLINE = 200_000  # pixels along all outlines; the decoder takes 50 bytes for each
BEYOND_PIXELS = 2.0


def checked_mask(segmentation: object, *, width: int, height: int) -> str:
    """Return a segmentation as a compressed COCO run-length string; "" where it says nothing.

    Args:
        segmentation: polygons, run lengths as numbers, or a compressed run-length string, as COCO files
            write them.
        width: of the picture in pixels.
        height: of the picture in pixels.

    Raises:
        ValueError: it is none of these, or does not fit the picture; the message is a sentence's end.
    """
    if segmentation in (None, [], {}, ""):
        return ""
    if isinstance(segmentation, Mapping):
        return _from_runs(segmentation, width=width, height=height)
    if isinstance(segmentation, Sequence) and not isinstance(segmentation, str):
        return _from_polygons(segmentation, width=width, height=height)
    raise ValueError("is neither polygons nor run lengths")


def runs_of(counts: str) -> list[int]:
    """Return the run lengths of a compressed COCO string.

    Each number is written in groups of five bits, lowest first, with a sixth bit that says that more follow;
    from the fourth number on it is the difference to the number two places before.

    Raises:
        ValueError: the string ends within a number, or has other characters.
    """
    runs: list[int] = []
    value = shift = 0
    for sign in counts:
        code = ord(sign) - CODE_BASE
        if not 0 <= code < 64 or shift >= MOST_CODES * CODE_BITS:
            raise ValueError("is no run-length string")
        value |= (code & 0x1F) << shift
        shift += CODE_BITS
        if code & 0x20:
            continue
        if code & 0x10:
            value -= 1 << shift
        runs.append(value + runs[-2] if len(runs) > 2 else value)
        value = shift = 0
    if shift:
        raise ValueError("ends within a number")
    return runs


def _from_runs(segmentation: Mapping[str, Any], *, width: int, height: int) -> str:
    from pycocotools import mask as coco

    size, counts = segmentation.get("size"), segmentation.get("counts")
    if not isinstance(size, Sequence) or list(size) != [height, width]:
        raise ValueError(f"is for another size than {width} x {height}")
    if isinstance(counts, str):
        _check_runs(runs_of(counts), pixels=width * height)
        return counts
    if not isinstance(counts, Sequence):
        raise ValueError("has no run lengths")
    if not all(isinstance(run, int) and not isinstance(run, bool) for run in counts):
        raise ValueError("has run lengths that are no whole numbers")
    _check_runs(list(counts), pixels=width * height)
    packed = coco.frPyObjects({"size": [height, width], "counts": list(counts)}, height, width)
    return str(packed["counts"].decode("ascii"))


def _check_runs(runs: Sequence[int], *, pixels: int) -> None:
    if len(runs) > MOST_RUNS or any(run < 0 for run in runs) or sum(runs) != pixels:
        raise ValueError("has run lengths that do not add up to the picture")


def _from_polygons(polygons: Sequence[object], *, width: int, height: int) -> str:
    from pycocotools import mask as coco

    checked = [_checked_polygon(one, width=width, height=height) for one in polygons]
    if sum(len(polygon) for polygon in checked) > 2 * MOST_POINTS:
        raise ValueError(f"has more than {MOST_POINTS:,} points")
    if sum(_outline(polygon) for polygon in checked) > MOST_OUTLINE:
        raise ValueError(f"has outlines of more than {MOST_OUTLINE:,} pixels")
    merged = coco.merge(coco.frPyObjects(checked, height, width))
    return str(merged["counts"].decode("ascii"))


def _checked_polygon(polygon: object, *, width: int, height: int) -> list[float]:
    if not isinstance(polygon, Sequence) or len(polygon) < 6 or len(polygon) % 2:
        raise ValueError("has a polygon that is not three points or more")
    values: list[float] = []
    for place, value in enumerate(polygon):
        side = height if place % 2 else width
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise ValueError("has a point that is no number")
        if not -BEYOND_PIXELS <= value <= side + BEYOND_PIXELS:
            raise ValueError("has a point outside the picture")
        values.append(min(max(float(value), 0.0), float(side)))
    return values


def _outline(polygon: Sequence[float]) -> float:
    """Return the pixels along a closed outline, the longer side of each step counted."""
    xs, ys = polygon[::2], polygon[1::2]
    return sum(
        max(abs(xs[place] - xs[place - 1]), abs(ys[place] - ys[place - 1])) for place in range(len(xs))
    )
