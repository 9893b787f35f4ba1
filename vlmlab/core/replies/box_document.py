"""A reply cut into its structures, its box markup, its location tokens and the words between them."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from vlmlab.core.replies.box_bare import bare_boxes_in_words, label_before
from vlmlab.core.replies.box_items import Collector, Found
from vlmlab.core.replies.box_mapping import FoundBox
from vlmlab.core.replies.box_numbers import numbers_of_text
from vlmlab.core.replies.box_scan import Group, scan_value
from vlmlab.core.replies.box_text import is_sentinel

_BOX_OPEN = (
    r"<\|\s*(?:box_start|bbox_start|begin_of_box|det|box|bbox|quad_start|quad)\s*\|>"
    r"|<(?:box|bbox|bounding_box|bbox_2d|quad)>"
)
_BOX_CLOSE = (
    r"<\|\s*(?:box_d?end|bbox_d?end|end_of_box|/\s*det|/\s*box|/\s*bbox|quad_d?end|/\s*quad)\s*\|>"
    r"|</(?:box|bbox|bounding_box|bbox_2d|quad)>"
)
_REF_OPEN = r"<\|\s*(?:object_(?:ref|def)_start|ref)\s*\|>|<ref>"
_REF_CLOSE = r"<\|\s*(?:object_(?:ref|def)_d?end|/\s*ref)\s*\|>|</ref>"
_LOCATION = r"(?:<loc_?[0-9]{1,6}>\s*+)++"
_POINT = r"<(?:points?|click|tracks)\b[^<>\n]{0,2000}>|<\|\s*point_start\s*\|>"
_LIST = r"""\[(?=\s*+(?:[\[{("'0-9+.\]-]|null\b|None\b|NaN\b|nan\b|true\b|false\b|True\b|False\b|\Z))"""
_OBJECT = r"\{"
_PIECE = re.compile(
    rf"(?P<box>{_BOX_OPEN})|(?P<box_end>{_BOX_CLOSE})|(?P<ref>{_REF_OPEN})|(?P<ref_end>{_REF_CLOSE})"
    rf"|(?P<location>{_LOCATION})|(?P<half>(?:<loc_?[0-9]{{0,6}}|<\|?[a-z_]{{0,15}})\Z)|(?P<point>{_POINT})"
    rf"|(?P<brace>\}})|(?P<boxed>\\boxed\s?\{{)|(?P<structure>{_LIST}|{_OBJECT})",
    re.IGNORECASE,
)
_LOCATION_NUMBER = re.compile(r"<loc(_?)([0-9]+)>")
_LABEL_EDGE = re.compile(r"[;\n<>]")
_ANY_TAG = re.compile(
    rf"(?P<box>{_BOX_OPEN})|(?P<box_end>{_BOX_CLOSE})|(?P<ref>{_REF_OPEN})|(?P<ref_end>{_REF_CLOSE})",
    re.IGNORECASE,
)
_STRUCTURE = re.compile(rf"{_LIST}|{_OBJECT}", re.IGNORECASE)
_KEY_BEFORE = re.compile(r"""["'][^"'\n]{1,40}["']\s{0,8}:\s{0,8}\Z""")
_BETWEEN_BOXES = re.compile(r"[\s,;]*")
_SEGMENTS = re.compile(r"(?:\s*<seg[0-9]+>)*")
_NOTHING_MORE = re.compile(r"[`\s]*+\Z")
_HAS_LETTER = re.compile(r"[^\W\d]")


@dataclass
class Document:
    """Everything that matters in a reply's text.

    Attributes:
        found: boxes, bare lists, points, empty things.
        words: the parts between, each with its start.
        is_cut: something was still open when the text ended.
        is_broken: something is not what JSON, Python or the markup allow.
        is_open_ended: the last box was not inside of anything closed, so more may have followed.
        ends_in_words: a word stands after the last structure.
    """

    found: Found = field(default_factory=Found)
    words: list[tuple[int, str]] = field(default_factory=list)
    is_cut: bool = False
    is_broken: bool = False
    is_open_ended: bool = False
    ends_in_words: bool = False


@dataclass(frozen=True)
class _Mark:
    """One piece of markup: a name, or the places of the boxes between two tags among all that were found."""

    label: str | None
    boxes: range | None = None


class _DocumentReader:
    def __init__(self, text: str, order: str) -> None:
        self.text, self.order = text, order
        self.document = Document()
        self.position = 0
        self._label: str | None = None
        self._labelled_until = -1
        self._n_boxed = 0
        self._has_stray_brace = False
        self._marks: list[_Mark] = []

    def read(self) -> Document:
        """Go through the text once."""
        readers: dict[str, Callable[[re.Match[str]], None]] = {
            "structure": self._read_structure,
            "box": self._read_box,
            "box_end": self._read_stray_end,
            "ref": self._read_ref,
            "ref_end": self._read_stray_end,
            "location": self._read_location,
            "half": self._read_half,
            "point": self._read_point,
            "boxed": self._read_boxed,
            "brace": self._read_stray_brace,
        }
        while self.position < len(self.text):
            match = _PIECE.search(self.text, self.position)
            if match is None:
                break
            self._note_words(self.position, match.start())
            self.position = match.end()
            readers[str(match.lastgroup)](match)
        self.document.ends_in_words = bool(_HAS_LETTER.search(self.text, self.position))
        self._note_words(self.position, len(self.text))
        self._label_from_behind()
        found = self.document.found
        self.document.is_broken |= self._has_stray_brace and bool(found.boxes or found.bare)
        return self.document

    def _note_words(self, start: int, end: int) -> None:
        if end > start:
            words = self.text[start:end]
            self.document.words.append((start, words))
            found = bare_boxes_in_words(words, start)
            self.document.found.add(found)
            self.document.is_open_ended |= bool(found.bare)

    def _read_point(self, match: re.Match[str]) -> None:
        self.document.found.n_points += 1

    def _read_half(self, match: re.Match[str]) -> None:
        self.document.is_cut |= bool(self.document.found.boxes)
        self.document.is_open_ended = True

    def _read_stray_end(self, match: re.Match[str]) -> None:
        self.document.is_broken = True

    def _read_boxed(self, match: re.Match[str]) -> None:
        """Step over the opening of LaTeX's box around a final answer."""
        self._n_boxed += 1

    def _read_stray_brace(self, match: re.Match[str]) -> None:
        if self._n_boxed:
            self._n_boxed -= 1
        else:
            self._has_stray_brace = True

    def _read_ref(self, match: re.Match[str]) -> None:
        closing = _ANY_TAG.search(self.text, match.end())
        if closing is not None and closing.lastgroup == "ref_end":
            self._label = self.text[match.end() : closing.start()].strip() or None
            self._labelled_until = -1
            self.position = closing.end()
            self._marks.append(_Mark(self._label))
        elif closing is None:
            self.document.is_cut = True
            self.position = len(self.text)
        else:
            self.document.is_broken = True
            self._label, self._labelled_until = None, -1

    def _read_box(self, match: re.Match[str]) -> None:
        document, found = self.document, self.document.found
        closing = _ANY_TAG.search(self.text, match.end())
        end = len(self.text) if closing is None else closing.start()
        is_closed = closing is not None and closing.lastgroup == "box_end"
        document.is_cut |= closing is None
        document.is_broken |= closing is not None and not is_closed
        document.is_open_ended = True
        label = self._label
        if self._labelled_until >= 0 and not _BETWEEN_BOXES.fullmatch(
            self.text, self._labelled_until, match.start()
        ):
            label = self._label = None
        before = len(found.boxes)
        is_answer = "begin_of_box" in match.group()
        self._read_content(match.end(), end, label=label, is_answer=is_answer, is_closed=is_closed)
        self.position = closing.end() if closing is not None and is_closed else end
        self._labelled_until = self.position
        self._marks.append(_Mark(None, range(before, len(found.boxes))))

    def _read_content(
        self, start: int, end: int, *, label: str | None, is_answer: bool, is_closed: bool
    ) -> None:
        """Note what stands between the tags of a box; all numbers there count as boxes."""
        content = self.text[start:end]
        found = self.document.found
        if not content.strip() or is_sentinel(content):
            found.n_empty += 1
            return
        inner = Found()
        position = 0
        while (match := _STRUCTURE.search(content, position)) is not None:
            inner.add(bare_boxes_in_words(content[position : match.start()], position))
            position = self._scan(content, match.start(), inner, is_closed=is_closed)
        inner.add(bare_boxes_in_words(content[position:], position))
        boxes = inner.boxes or inner.bare
        has_none = not boxes and not inner.n_empty and not (is_answer and _HAS_LETTER.search(content))
        if has_none:
            boxes = [FoundBox(None, 0, numbers_of_text(content) or (), is_whole=is_closed)]
        elif inner.n_points and not is_answer:
            boxes = [*boxes, FoundBox(None, 0)]
        found.n_empty += inner.n_empty
        found.boxes += [replace(box, label=box.label or label, start=start + box.start) for box in boxes]

    def _scan(self, text: str, start: int, found: Found, *, is_closed: bool = False) -> int:
        """Scan one list or object, note what it holds, and return where it ends.

        ``is_closed``: a tag ends the text, so a value that does not end before it is broken, not cut.
        """
        document = self.document
        scan = scan_value(text, start)
        if (scan.is_broken or scan.is_cut) and _is_prose(scan.root, scan.n_commas):
            return scan.end
        is_last = not is_closed and _NOTHING_MORE.match(text, scan.end) is not None
        document.is_cut |= scan.is_cut and is_last
        document.is_broken |= scan.is_broken or (scan.is_cut and not is_last)
        document.is_open_ended = bool(document.found.boxes or document.found.bare) or _may_go_on(scan.root)
        collector = Collector(self.order)
        collector.visit(scan.root)
        found.add(collector.found)
        return scan.end

    def _read_structure(self, match: re.Match[str]) -> None:
        found = Found()
        start = match.start()
        self.position = self._scan(self.text, start, found)
        if found.bare:
            self.document.is_broken |= bool(_KEY_BEFORE.search(self.text[max(0, start - 60) : start]))
            label = label_before(self.text, start)
            found.bare = [replace(box, label=box.label or label) for box in found.bare]
        self.document.found.add(found)

    def _read_location(self, match: re.Match[str]) -> None:
        tokens = _LOCATION_NUMBER.findall(match.group())
        start = match.start()
        if tokens[0][0]:
            words = self.document.words[-1] if self.document.words else (0, "")
            before = words[1] if words[0] + len(words[1]) == start else ""
            label = _LABEL_EDGE.split(before)[-1]
        else:
            label_start = _SEGMENTS.match(self.text, match.end()).end()  # type: ignore[union-attr]  # may be empty
            edge = _LABEL_EDGE.search(self.text, label_start)
            label = self.text[label_start : edge.start() if edge else len(self.text)]
        numbers = tuple(float(number) for _, number in tokens)
        self.document.is_open_ended = True
        self.document.found.boxes.append(FoundBox(label.strip() or None, start, numbers))

    def _label_from_behind(self) -> None:
        """Where every box is followed by its name instead of preceded by it, move the names."""
        hold_boxes = [mark.boxes is not None for mark in self._marks]
        if not hold_boxes or hold_boxes != [True, False] * (len(hold_boxes) // 2):
            return
        boxes = self.document.found.boxes
        for held, name in zip(self._marks[::2], self._marks[1::2], strict=True):
            for index in held.boxes or ():
                boxes[index] = replace(boxes[index], label=name.label)


def _is_prose(root: Group, n_commas: int) -> bool:
    """Whether a bracket that could not be read holds words or a time of day rather than boxes."""
    has_groups = any(isinstance(value, Group) for value in root.values)
    if root.is_object:
        return not root.keys and not has_groups and root.is_closed
    return bool(root.values or root.is_tainted) and not has_groups and not n_commas


def _may_go_on(root: Group) -> bool:
    """Whether another box could follow this value: it is no list of objects, nor has one."""
    lists = (
        [root]
        if not root.is_object
        else [value for value in root.values if isinstance(value, Group) and not value.is_object]
    )
    return bool(root.values) and not any(
        isinstance(value, Group) and (value.is_object or root.is_object)
        for one in lists
        for value in one.values
    )


def read_document(text: str, order: str) -> Document:
    """Return everything in a text that could be a box, in one pass of linear time.

    Args:
        text: the answer without thinking and special tokens.
        order: the declared order of coordinates; only to notice a key that names the other one.
    """
    return _DocumentReader(text, order).read()
