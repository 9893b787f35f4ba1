"""Boxes, labels and points in scanned lists and objects."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from vlmlab.core.replies import box_keys
from vlmlab.core.replies.box_keys import folded, names_other_form
from vlmlab.core.replies.box_mapping import FoundBox, without_numbers
from vlmlab.core.replies.box_numbers import (
    four_numbers,
    is_whole_inside,
    named_box,
    numbers_of,
    numbers_of_text,
    two_named_points,
    two_points,
)
from vlmlab.core.replies.box_scan import Group, Node
from vlmlab.core.replies.box_text import is_sentinel

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
        points = two_points(node)
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
        self.found.bare.append(FoundBox(label, node.start, numbers, is_whole=is_whole_inside(node)))

    def _visit_object(self, group: Group, label: str | None) -> None:
        if not group.values:
            self.found.n_empty += group.is_closed
            return
        parts = _parts(group)
        own_labels = [_label(part) for part in parts]
        given = [own for own in own_labels if own is not None]
        above = given[0] if len(given) == 1 else label
        before = len(self.found.boxes), len(self.found.bare)
        for number, (part, own) in enumerate(zip(parts, own_labels, strict=True)):
            is_whole = group.is_closed or number < len(parts) - 1
            item = _Item(own or above, group.start, is_whole, has_label=own is not None)
            self._visit_part(part, item)
        entries = [entry for part in parts for entry in part]
        if any(_declares_other_form(one, self._order) or _denies(one) for one in entries):
            for found, start in ((self.found.boxes, before[0]), (self.found.bare, before[1])):
                # Four zeros say the same as the denial: nothing is there.
                found[start:] = [without_numbers(box) if any(box.numbers) else box for box in found[start:]]

    def _visit_part(self, part: Sequence[_Entry], item: "_Item") -> None:
        """Note one item: its boxes, its named coordinates, its points, and what is nested in it."""
        found, before = self.found, len(self.found.boxes)
        box_entries = _without_copies([entry for entry in part if _names_box(entry)])
        labels = _label_list(part)
        for entry in box_entries:
            self._visit_box(entry, item, labels)
        if sum(entry.value is not None for entry in box_entries) > 1:
            found.boxes[before:] = [item.box()]
        if not box_entries:
            coordinates = {one.name: one.value for one in part if one.name in box_keys.COORDINATE_NAMES}
            named = named_box(coordinates)
            if named is not None:
                found.boxes.append(item.box(named.numbers, is_named=named.is_named))
            elif coordinates.keys() == {"x", "y"}:
                found.n_points += 1
            found.boxes += [item.box() for entry in part if entry.name in box_keys.OTHER_FORM_KEYS]
        for entry in part:
            if entry not in box_entries:
                self._visit_other(entry, item)

    def _visit_other(self, entry: _Entry, item: "_Item") -> None:
        """Note what stands under a key that does not name a box."""
        name, value = entry.name, entry.value
        if name in box_keys.POINT_KEYS or (name in box_keys.VAGUE_KEYS and isinstance(value, Group)):
            self.found.n_points += isinstance(value, Group) and bool(value.values)
        elif name in box_keys.SKIPPED_KEYS:
            return
        elif isinstance(value, Group):
            is_wrapper = name in box_keys.WRAPPER_KEYS or name in box_keys.LABEL_KEYS
            before = len(self.found.bare)
            label = item.label if is_wrapper else None if item.has_label else _named_by(entry)
            self.visit(value, label=None if name in box_keys.ARGUMENT_KEYS else label)
            if not is_wrapper and (item.has_label or box_keys.OTHER_QUANTITY.search(name)):
                self.found.bare[before:] = map(without_numbers, self.found.bare[before:])
        elif name in box_keys.WRAPPER_KEYS:
            is_none = is_sentinel(value) if isinstance(value, str) else value in (None, False, 0.0)
            self.found.n_empty += is_none

    def _visit_box(self, entry: _Entry, item: "_Item", labels: Sequence[str]) -> None:
        value = entry.value
        children = value.values if isinstance(value, Group) and not value.is_object else []
        if names_other_form(entry.key, self._order):
            self.found.boxes.append(item.box())
        elif labels and len(labels) == len(children) and numbers_of(value) is None:
            for child, label in zip(children, labels, strict=True):
                self._visit_box_value(child, replace(item, label=label), depth=1)
        else:
            self._visit_box_value(value, item, depth=0)

    def _visit_box_value(self, value: Node, item: "_Item", *, depth: int) -> None:
        """Note the boxes under a box key; ``depth`` counts the lists around the value."""
        if isinstance(value, Group):
            self._visit_box_group(value, item, depth=depth)
        elif (value is None and depth == 0) or (
            isinstance(value, str) and (not value.strip() or is_sentinel(value))
        ):
            self.found.n_empty += 1
        else:
            numbers = numbers_of_text(value) if isinstance(value, str) else None
            self.found.boxes.append(item.box(numbers or ()))

    def _visit_box_group(self, group: Group, item: "_Item", *, depth: int) -> None:
        found = self.found
        item = replace(item, is_whole=item.is_whole and is_whole_inside(group), start=group.start)
        if not group.values:
            found.n_empty += group.is_closed
        elif group.is_object:
            before = len(found.boxes), found.n_empty
            self._visit_object(group, item.label)
            if (len(found.boxes), found.n_empty) == before:
                found.boxes.append(item.box())
        elif (named := two_named_points(group)) is not None:
            found.boxes.append(item.box(named, is_named=True))
        elif (numbers := four_numbers(group)) is not None:
            found.boxes.append(item.box(numbers))
        elif depth == 0 and _holds_boxes(group):
            for value in group.values:
                self._visit_box_value(value, item, depth=1)
        else:
            found.boxes.append(item.box())


@dataclass(frozen=True)
class _Item:
    """What the boxes of one object share."""

    label: str | None
    start: int
    is_whole: bool
    has_label: bool

    def box(self, numbers: tuple[float, ...] = (), *, is_named: bool = False) -> FoundBox:
        """Return a box of this item."""
        return FoundBox(self.label, self.start, numbers, is_named, self.is_whole)


def _names_box(entry: _Entry) -> bool:
    """Whether an entry is a box; a vague key such as "location" only with numbers that are no point."""
    if entry.name in box_keys.BOX_KEYS:
        return True
    if entry.name not in box_keys.VAGUE_KEYS:
        return False
    if isinstance(entry.value, str):
        return len(numbers_of_text(entry.value) or ()) == 4
    return isinstance(entry.value, Group) and len(numbers_of(entry.value) or "none") != 2


def _declares_other_form(entry: _Entry, order: str) -> bool:
    """Whether an entry such as ``"format": "xywh"`` says that the numbers are no corners as declared."""
    return (
        entry.name in box_keys.FORMAT_KEYS
        and isinstance(entry.value, str)
        and names_other_form(entry.value, order)
    )


def _denies(entry: _Entry) -> bool:
    """Whether an entry such as ``"found": false`` says that there is nothing where a box stands."""
    value = entry.value
    said = value.strip().casefold() in ("no", "false") if isinstance(value, str) else value is False
    return said and entry.name in box_keys.PRESENCE_KEYS


def _named_by(entry: _Entry) -> str | None:
    """Return the key as a label, as in ``{"red car": [1, 2, 3, 4]}``, unless it only counts."""
    return None if box_keys.NUMBERED.fullmatch(entry.name) else entry.key.strip()


def _holds_boxes(group: Group) -> bool:
    """Whether every value could be a box of its own."""
    return all(
        isinstance(value, str) or (isinstance(value, Group) and len(numbers_of(value) or "none") != 2)
        for value in group.values
    )


def _holds_object(group: Group) -> bool:
    return group.is_object or any(_holds_object(value) for value in group.values if isinstance(value, Group))


def _parts(group: Group) -> list[list[_Entry]]:
    """Split an object where a label, box or coordinate key repeats: each part is one item."""
    parts: list[list[_Entry]] = [[]]
    seen: set[str] = set()
    for key, value in zip(group.keys, group.values, strict=True):
        name = folded(key)
        if name in seen and name in box_keys.ITEM_KEYS:
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
    """Return the names that stand in a list of their own beside a list of boxes."""
    for entry in part:
        values = entry.value.values if isinstance(entry.value, Group) else []
        names = [value for value in values if isinstance(value, str)]
        if entry.name in box_keys.LABEL_LIST_KEYS and names and len(names) == len(values):
            return names
    return []


def _without_copies(entries: Sequence[_Entry]) -> list[_Entry]:
    """Leave out an entry whose numbers another key of the same item repeats."""
    kept: dict[tuple[float, ...] | str, _Entry] = {}
    for entry in entries:
        kept.setdefault(numbers_of(entry.value) or entry.name, entry)
    return list(kept.values())
