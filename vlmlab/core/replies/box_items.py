"""Boxes, labels and points in scanned lists and objects."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from vlmlab.core.replies import box_keys
from vlmlab.core.replies.box_keys import folded
from vlmlab.core.replies.box_mapping import FoundBox
from vlmlab.core.replies.box_scan import Group, Node
from vlmlab.core.replies.box_text import is_sentinel

NUMERAL = r"[-+]?(?:[0-9]{1,64}(?:\.[0-9]{0,64})?|\.[0-9]{1,64})(?:[eE][-+]?[0-9]{1,4})?"
_ONLY_NUMERAL = re.compile(rf"\s*({NUMERAL})\s*")
_NUMERAL_OR_OTHER = re.compile(rf"({NUMERAL})(?![\w.%])|[^\s\[\](),;<>]")
_TAG_AROUND = re.compile(r"^\s*<(bbox|box)>(.*)</\1>\s*$", re.DOTALL)
_MOST_NUMBERS = 1_000
_DEEPEST_BARE_LIST = 3


@dataclass
class Found:
    """What a part of a reply holds.

    Attributes:
        boxes: under a box key, in box markup, or with named coordinates.
        bare: lists of numbers that nothing names; they count only where there are no boxes.
        n_points: points of any form.
        n_empty: empty lists and objects, null boxes, words for none.
    """

    boxes: list[FoundBox] = field(default_factory=list)
    bare: list[FoundBox] = field(default_factory=list)
    n_points: int = 0
    n_empty: int = 0

    def add(self, other: "Found") -> None:
        """Take over what another part holds."""
        self.boxes += other.boxes
        self.bare += other.bare
        self.n_points += other.n_points
        self.n_empty += other.n_empty


@dataclass(frozen=True)
class _Entry:
    key: str
    name: str
    value: Node


def numbers_of(node: Node) -> tuple[float, ...] | None:
    """Return the numbers of a list that holds nothing but numbers or numerals in quotes, else None."""
    if not isinstance(node, Group) or node.is_object:
        return None
    numbers = [_number(value) for value in node.values]
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


def _number(node: Node) -> float | None:
    if isinstance(node, float):
        return node
    match = _ONLY_NUMERAL.fullmatch(node) if isinstance(node, str) else None
    return float(match.group(1)) if match else None


def _two_points(group: Group) -> tuple[float, ...] | None:
    """Return the four numbers of ``[[a, b], [c, d]]``."""
    if len(group.values) != 2:
        return None
    pairs = [numbers_of(value) for value in group.values]
    numbers = [number for pair in pairs if pair is not None and len(pair) == 2 for number in pair]
    return tuple(numbers) if len(numbers) == 4 else None


def _is_whole(group: Group) -> bool:
    return group.is_whole and all(_is_whole(value) for value in group.values if isinstance(value, Group))


class Collector:
    """Walks through one scanned value and notes what it holds, in the order of the text."""

    def __init__(self, convention_order: str) -> None:
        self.found = Found()
        self._order = convention_order

    def visit(self, node: Node, *, label: str | None = None) -> None:
        """Note everything in a value; ``label`` is what stands above it."""
        if not isinstance(node, Group):
            self.found.n_empty += node is None
        elif node.is_object:
            self._visit_object(node, label)
        elif not node.values:
            self.found.n_empty += node.is_closed
        elif any(isinstance(value, Group) and _holds_object(value) for value in node.values):
            for value in node.values:
                self.visit(value, label=label)
        else:
            self._visit_bare(node, label, depth=1)

    def _visit_bare(self, node: Group, label: str | None, *, depth: int) -> None:
        numbers = numbers_of(node)
        points = _two_points(node)
        children = [value for value in node.values if isinstance(value, Group)]
        if not node.values:
            self.found.n_empty += node.is_closed
        elif points is not None:
            self._add_bare(node, points, label)
        elif numbers is not None and len(numbers) == 2:
            self.found.n_points += 1
        elif numbers is not None and (len(numbers) > 2 or depth > 1):
            self._add_bare(node, numbers, label)
        elif children and len(children) == len(node.values) and depth <= _DEEPEST_BARE_LIST:
            if len(children) > 2 and all(len(numbers_of(child) or ()) == 2 for child in children):
                self._add_bare(node, (), label)
                return
            for child in children:
                self._visit_bare(child, label, depth=depth + 1)
        elif children or any(isinstance(value, float) for value in node.values[1:]):
            self._add_bare(node, (), label)
        elif all(value is None for value in node.values):
            self.found.n_empty += 1

    def _add_bare(self, node: Group, numbers: tuple[float, ...], label: str | None) -> None:
        self.found.bare.append(FoundBox(label, node.start, numbers, is_whole=_is_whole(node)))

    def _visit_object(self, group: Group, label: str | None) -> None:
        if not group.values:
            self.found.n_empty += group.is_closed
            return
        parts = _parts(group)
        names = [entry.name for part in parts for entry in part]
        only_label = None
        if len(parts) > 1 and sum(name in box_keys.LABEL_KEYS for name in names) == 1:
            only_label = next((own for own in map(_label, parts) if own is not None), None)
        for number, part in enumerate(parts):
            own = _label(part)
            is_whole = group.is_closed or number < len(parts) - 1
            self._visit_part(
                part, group, label=own or only_label or label, has_label=own is not None, is_whole=is_whole
            )

    def _visit_part(
        self, part: Sequence[_Entry], group: Group, *, label: str | None, has_label: bool, is_whole: bool
    ) -> None:
        before = len(self.found.boxes)
        box_entries = [entry for entry in part if entry.name in box_keys.BOX_KEYS]
        labels = _label_list(part)
        for entry in _without_copies(box_entries):
            self._visit_box(entry, group, label=label, labels=labels, is_whole=is_whole)
        named = _named_numbers(part, self._order)
        if named is not None and not box_entries:
            self.found.boxes.append(FoundBox(label, group.start, named.numbers, named.is_named, is_whole))
        if any(entry.name in box_keys.OTHER_FORM_KEYS for entry in part) and not box_entries:
            self.found.boxes.append(FoundBox(label, group.start))
        if len(_without_copies([entry for entry in box_entries if entry.value is not None])) > 1:
            self.found.boxes[before:] = [FoundBox(label, group.start)]
        names = {entry.name for entry in part}
        if not box_entries and named is None and {"x", "y"} <= names:
            self.found.n_points += 1
        for entry in part:
            if entry.name not in box_keys.BOX_KEYS:
                self._visit_other(entry, label=label, has_label=has_label)

    def _visit_other(self, entry: _Entry, *, label: str | None, has_label: bool) -> None:
        """Note what stands under a key that does not name a box."""
        value = entry.value
        if entry.name in box_keys.POINT_KEYS:
            self.found.n_points += isinstance(value, Group) and bool(value.values)
        elif entry.name in box_keys.OTHER_FORM_KEYS or entry.name in box_keys.ATTRIBUTE_KEYS:
            return
        elif isinstance(value, Group):
            is_wrapper = entry.name in box_keys.WRAPPER_KEYS or entry.name in box_keys.LABEL_KEYS
            above = None if is_wrapper or has_label or entry.name in box_keys.COORDINATE_NAMES else entry.key
            before = len(self.found.bare)
            self.visit(value, label=above or (label if is_wrapper else None))
            if has_label and not is_wrapper:
                self.found.bare[before:] = [
                    FoundBox(label, box.start, is_whole=box.is_whole) for box in self.found.bare[before:]
                ]
        elif isinstance(value, str) and entry.name in box_keys.WRAPPER_KEYS:
            self.found.n_empty += is_sentinel(value)
        elif entry.name in box_keys.WRAPPER_KEYS:
            self.found.n_empty += value is None or value is False or value == 0

    def _visit_box(
        self,
        entry: _Entry,
        group: Group,
        *,
        label: str | None,
        labels: Sequence[str],
        is_whole: bool,
    ) -> None:
        value = entry.value
        if box_keys.ORDER_IN_KEY.get(entry.name, self._order) != self._order:
            self.found.boxes.append(FoundBox(label, group.start))
            return
        numbers = numbers_of(value)
        is_point = numbers is not None and len(numbers) == 2
        if is_point and entry.name in box_keys.MAYBE_POINT_KEYS:
            self.found.n_points += 1
            return
        children = value.values if isinstance(value, Group) and not value.is_object else []
        if labels and len(labels) == len(children) and numbers is None:
            for child, own in zip(children, labels, strict=True):
                self._visit_box_value(child, group.start, label=own, is_whole=is_whole, depth=1)
        else:
            self._visit_box_value(value, group.start, label=label, is_whole=is_whole, depth=0)

    def _visit_box_value(
        self, value: Node, start: int, *, label: str | None, is_whole: bool, depth: int
    ) -> None:
        """Note the boxes under a box key; ``depth`` counts the lists around the value."""
        if value is None and depth == 0:
            self.found.n_empty += 1
            return
        if isinstance(value, str) and (not value.strip() or is_sentinel(value)):
            self.found.n_empty += 1
            return
        if isinstance(value, Group):
            self._visit_box_group(value, label=label, is_whole=is_whole, depth=depth)
            return
        numbers = numbers_of_text(value) if isinstance(value, str) else None
        self.found.boxes.append(FoundBox(label, start, numbers or (), is_whole=is_whole))

    def _visit_box_group(self, group: Group, *, label: str | None, is_whole: bool, depth: int) -> None:
        is_whole = is_whole and _is_whole(group)
        if not group.values:
            self.found.n_empty += group.is_closed
            return
        if group.is_object:
            before = len(self.found.boxes), self.found.n_empty
            self._visit_object(group, label)
            if (len(self.found.boxes), self.found.n_empty) == before:
                self.found.boxes.append(FoundBox(label, group.start))
            return
        numbers = numbers_of(group)
        numbers = _two_points(group) if numbers is None else numbers
        numbers = _two_named_points(group) if numbers is None else numbers
        are_boxes = all(
            isinstance(value, (Group, str)) and len(numbers_of(value) or "....") != 2 for value in group.values
        )
        if numbers is None and are_boxes and depth == 0:
            for value in group.values:
                self._visit_box_value(value, group.start, label=label, is_whole=is_whole, depth=1)
            return
        if numbers is None and len(group.values) == 1 and isinstance(group.values[0], Group):
            inner = group.values[0]
            numbers = _two_points(inner) if numbers_of(inner) is None else numbers_of(inner)
        named = numbers is not None and _two_named_points(group) is not None
        self.found.boxes.append(FoundBox(label, group.start, numbers or (), named, is_whole))


def _holds_object(group: Group) -> bool:
    return group.is_object or any(
        _holds_object(value) for value in group.values if isinstance(value, Group)
    )


def _parts(group: Group) -> list[list[_Entry]]:
    """Split an object where a label, box or coordinate key repeats: each part is one item."""
    parts: list[list[_Entry]] = [[]]
    seen: set[str] = set()
    for key, value in zip(group.keys, group.values, strict=True):
        name = folded(key)
        is_start = name in box_keys.BOX_KEYS or name in box_keys.LABEL_KEYS or name in box_keys.COORDINATE_NAMES
        if is_start and name in seen:
            parts.append([])
            seen = set()
        seen.add(name)
        parts[-1].append(_Entry(key, name, value))
    return parts


def _label(part: Sequence[_Entry]) -> str | None:
    by_name = {entry.name: entry.value for entry in reversed(part)}
    for name in box_keys.LABEL_KEYS:
        value = by_name.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if isinstance(value, float) and value == value and abs(value) != float("inf"):
            return f"{value:g}"
    return None


def _label_list(part: Sequence[_Entry]) -> list[str]:
    for entry in part:
        if entry.name in box_keys.LABEL_LIST_KEYS and isinstance(entry.value, Group):
            if all(isinstance(value, str) for value in entry.value.values):
                return [str(value) for value in entry.value.values]
    return []


def _without_copies(entries: Sequence[_Entry]) -> list[_Entry]:
    """Leave out an entry whose numbers another key of the same item repeats."""
    kept: list[_Entry] = []
    for entry in entries:
        numbers = numbers_of(entry.value)
        if numbers is None or all(numbers != numbers_of(other.value) for other in kept):
            kept.append(entry)
    return kept


def _named_numbers(part: Sequence[_Entry], order: str) -> FoundBox | None:
    """Return the box whose coordinates are named one by one; without numbers where they make none."""
    values = {entry.name: entry.value for entry in part if entry.name in box_keys.COORDINATE_NAMES}
    if len(values) < 2 or set(values) == {"x", "y"}:
        return None
    fitting = [names for names in box_keys.CORNER_NAMES if values.keys() >= set(names)]
    if len(values) == 4 and fitting:
        numbers = [_number(values[name]) for name in fitting[0]]
        return FoundBox(None, 0, tuple(number for number in numbers if number is not None), is_named=True)
    sized = [names for names in box_keys.SIZE_NAMES if values.keys() == set(names)]
    if sized:
        left, top, width, height = (_number(values[name]) for name in sized[0])
        if left is None or top is None or width is None or height is None or min(width, height) < 0:
            return FoundBox(None, 0)
        return FoundBox(None, 0, (left, top, left + width, top + height), is_named=True)
    return _corner_points(values) or (FoundBox(None, 0) if len(values) > 2 else None)


def _corner_points(values: dict[str, Node]) -> FoundBox | None:
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
    values = {folded(key): _number(value) for key, value in zip(node.keys, node.values, strict=True)}
    x, y = values.get("x"), values.get("y")
    return None if x is None or y is None else (x, y)


def _two_named_points(group: Group) -> tuple[float, ...] | None:
    points = [_named_point(value) for value in group.values] if len(group.values) == 2 else []
    numbers = tuple(number for point in points if point is not None for number in point)
    return numbers if len(numbers) == 4 else None
