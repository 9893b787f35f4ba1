"""Numbers of a box in scanned values: lists, numerals in quotes, two points, coordinates with names."""

import re
from collections.abc import Mapping

from vlmlab.core.replies import box_keys
from vlmlab.core.replies.box_keys import folded
from vlmlab.core.replies.box_mapping import FoundBox
from vlmlab.core.replies.box_scan import Group, Node

NUMERAL = r"[-+]?(?:[0-9]{1,64}(?:\.[0-9]{0,64})?|\.[0-9]{1,64})(?:[eE][-+]?[0-9]{1,4})?"
_ONLY_NUMERAL = re.compile(rf"\s*({NUMERAL})\s*")
_NUMERAL_OR_OTHER = re.compile(rf"({NUMERAL})(?![\w.%])|[^\s\[\](),;<>]")
_TAG_AROUND = re.compile(r"^\s*<(bbox|box)>(.*)</\1>\s*$", re.DOTALL)
_MOST_NUMBERS = 1_000


def numbers_of(node: Node) -> tuple[float, ...] | None:
    """Return the numbers of a list that holds nothing but numbers or numerals in quotes, else None."""
    if not isinstance(node, Group) or node.is_object:
        return None
    numbers = [number_of(value) for value in node.values]
    return None if None in numbers else tuple(number for number in numbers if number is not None)


def numbers_of_text(text: str) -> tuple[float, ...] | None:
    """Return the numbers of a text that holds nothing but numerals, blanks, commas and brackets."""
    tagged = _TAG_AROUND.match(text)
    numbers: list[float] = []
    for match in _NUMERAL_OR_OTHER.finditer(tagged.group(2) if tagged else text):
        if match.group(1) is None or len(numbers) >= _MOST_NUMBERS:
            return None
        numbers.append(float(match.group(1)))
    return tuple(numbers)


def number_of(node: Node) -> float | None:
    """Return a number, or the one in a numeral in quotes."""
    if isinstance(node, float):
        return node
    match = _ONLY_NUMERAL.fullmatch(node) if isinstance(node, str) else None
    return float(match.group(1)) if match else None


def two_points(group: Group) -> tuple[float, ...] | None:
    """Return the four numbers of ``[[a, b], [c, d]]``."""
    if len(group.values) != 2:
        return None
    pairs = [numbers_of(value) for value in group.values]
    numbers = [number for pair in pairs if pair is not None and len(pair) == 2 for number in pair]
    return tuple(numbers) if len(numbers) == 4 else None


def four_numbers(group: Group) -> tuple[float, ...] | None:
    """Return the numbers of a flat list, of two points, or of either inside one more list.

    Four or not: a list of numbers of another length comes back as it is.
    """
    numbers = numbers_of(group) or two_points(group)
    if numbers is None and len(group.values) == 1 and isinstance(group.values[0], Group):
        inner = group.values[0]
        return numbers_of(inner) or two_points(inner)
    return numbers


def is_whole_inside(group: Group) -> bool:
    """Whether a group and everything in it was closed and understood."""
    return group.is_whole and all(
        is_whole_inside(value) for value in group.values if isinstance(value, Group)
    )


def named_box(values: Mapping[str, Node]) -> FoundBox | None:
    """Return the box whose coordinates are named one by one; without numbers where they make none.

    Corners count, and a corner with a width and height. ``x, y, width, height`` does not: some mean the
    corner by it, others the centre.

    Args:
        values: folded name -> value, only names of coordinates.
    """
    if len(values) < 2 or set(values) == {"x", "y"}:
        return None
    fitting = [names for names in box_keys.CORNER_NAMES if values.keys() >= set(names)]
    if len(values) == 4 and fitting:
        numbers = [number_of(values[name]) for name in fitting[0]]
        return FoundBox(None, 0, tuple(number for number in numbers if number is not None), is_named=True)
    sized = [names for names in box_keys.SIZE_NAMES if values.keys() == set(names)]
    if sized:
        left, top, width, height = (number_of(values[name]) for name in sized[0])
        if left is None or top is None or width is None or height is None or min(width, height) < 0:
            return FoundBox(None, 0)
        return FoundBox(None, 0, (left, top, left + width, top + height), is_named=True)
    return _corner_points(values) or (FoundBox(None, 0) if len(values) > 2 else None)


def _corner_points(values: Mapping[str, Node]) -> FoundBox | None:
    for names in box_keys.CORNER_POINT_NAMES:
        if values.keys() == set(names):
            plain = [numbers_of(values[name]) for name in names]
            if all(pair is not None and len(pair) == 2 for pair in plain):
                return FoundBox(None, 0, tuple(number for pair in plain if pair for number in pair))
            points = [_named_point(values[name]) for name in names]
            if all(points):
                return FoundBox(None, 0, tuple(n for point in points if point for n in point), is_named=True)
            return FoundBox(None, 0)
    return None


def _named_point(node: Node) -> tuple[float, float] | None:
    if not isinstance(node, Group) or not node.is_object or len(node.keys) != 2:
        return None
    values = {folded(key): number_of(value) for key, value in zip(node.keys, node.values, strict=True)}
    x, y = values.get("x"), values.get("y")
    return None if x is None or y is None else (x, y)


def two_named_points(group: Group) -> tuple[float, ...] | None:
    """Return left, top, right, bottom of ``[{"x": a, "y": b}, {"x": c, "y": d}]``."""
    points = [_named_point(value) for value in group.values] if len(group.values) == 2 else []
    numbers = tuple(number for point in points if point is not None for number in point)
    return numbers if len(numbers) == 4 else None
