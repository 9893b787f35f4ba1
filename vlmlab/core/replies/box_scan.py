"""A scanner for JSON and Python literals that goes on after mistakes and says which ones it met."""

import re
from dataclasses import dataclass, field
from typing import TypeAlias, Union

MAX_DEPTH = 64
_MOST_NUMERAL_CHARACTERS = 64

_TOKEN = re.compile(
    r"""
    (?P<blank>\s++)
    |(?P<fence>```)
    |(?P<number>[-+]?(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][-+]?[0-9]++)?+(?![\w.%]))
    |(?P<text>"(?:[^"\\]++|\\.)*+"|'(?:[^'\\]++|\\.)*+')
    |(?P<quote>["'])
    |(?P<comment>//[^\n]*+|\#[^\n]*+)
    |(?P<mark>[{}\[\](),:])
    |(?P<row_end>;)
    |(?P<word>[-+]?[^\W\d]\w*+)
    |(?P<junk>[-+]?[0-9][\w.%]*+|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_COLON_NEXT = re.compile(r"\s*+:")
_ENDS_OF_TEXT = {quote: re.compile(rf"{quote}(?=\s*+[,}}\])])") for quote in "\"'"}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_CONSTANTS: dict[str, float | bool | None] = {
    **dict.fromkeys(("null", "None", "undefined"), None),
    **dict.fromkeys(("true", "True"), True),
    **dict.fromkeys(("false", "False"), False),
    **dict.fromkeys(("NaN", "nan", "-nan", "-NaN"), float("nan")),
    **dict.fromkeys(("Infinity", "inf", "Inf", "+Infinity", "+inf"), float("inf")),
    **dict.fromkeys(("-Infinity", "-inf", "-Inf"), float("-inf")),
}
_CLOSERS = {"]": "[", ")": "(", "}": "{"}

Node: TypeAlias = Union["Group", str, float, bool, None]


@dataclass(slots=True)
class Group:
    """A list, tuple or object.

    Attributes:
        opener: "[", "(" or "{".
        start: where it begins in the text.
        values: its values in order, those of repeated keys too.
        keys: of an object, the key of each value ("" where it had none).
        is_closed: its own closing bracket was met.
        is_tainted: something in it could not be read, so its values are not to be trusted.
    """

    opener: str
    start: int
    values: list[Node] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    is_closed: bool = False
    is_tainted: bool = False

    @property
    def is_object(self) -> bool:
        """Whether it was written with braces."""
        return self.opener == "{"

    @property
    def is_whole(self) -> bool:
        """Whether it was closed and every part of it was understood."""
        return self.is_closed and not self.is_tainted


@dataclass(frozen=True)
class Scan:
    """One value at the top of a text.

    Attributes:
        root: the list or object.
        end: where the text after it begins.
        is_cut: the text, or the fence around it, ended before the value did; nothing below ``MAX_DEPTH``
            levels is read.
        is_broken: it is not JSON or a Python literal even with the accepted tolerances.
        n_commas: how many commas it held.
    """

    root: Group
    end: int
    is_cut: bool
    is_broken: bool
    n_commas: int


@dataclass(slots=True)
class _Frame:
    """An open group: what it expects next, and where its last string began."""

    group: Group
    expects: str
    key: str = ""
    text_start: int = -1
    has_rows: bool = False


class _Scanner:
    """One pass over a value; never looks at a character more than a fixed number of times."""

    def __init__(self, text: str, start: int) -> None:
        self.text, self.position = text, start
        self.stack: list[_Frame] = []
        self.root: Group | None = None
        self.is_cut = self.is_broken = self.is_too_deep = False
        self.n_commas = 0
        self._previous_end = start
        self._no_end_of_text: set[str] = set()

    def scan(self) -> Scan:
        """Read until the first group closes, the text ends, or a fence cuts it."""
        while self.position < len(self.text):
            match = _TOKEN.match(self.text, self.position)
            if match is None:  # every character is a token; kept for the type checker
                break
            kind = str(match.lastgroup)
            if kind == "fence":
                break
            self.position = match.end()
            if kind == "blank":
                continue
            if self._is_inside_a_text(match, kind):
                continue
            self._take(match, kind)
            self._previous_end = max(match.end(), self._previous_end)
            if not self.stack:
                break
        self.is_cut = bool(self.stack) and not (self.is_too_deep and self.is_broken)
        root = self.root if self.root is not None else Group("[", self.position)
        return Scan(root, self.position, self.is_cut, self.is_broken, self.n_commas)

    def _take(self, match: re.Match[str], kind: str) -> None:
        token = match.group()
        if kind == "mark":
            self._take_mark(token, match.start())
        elif kind == "number":
            is_long = len(token) > _MOST_NUMERAL_CHARACTERS
            self._put(float("inf") if is_long else float(token), match.start())
        elif kind == "text":
            self._put(_unescaped(token[1:-1]), match.start())
            if self.stack:
                self.stack[-1].text_start = match.start()
        elif kind == "quote":
            self.position = len(self.text)
        elif kind == "word":
            self._take_word(token, match)
        elif kind == "row_end":
            self._take_row_end()
        else:
            self._spoil(is_comment=kind == "comment")

    def _take_mark(self, mark: str, start: int) -> None:
        if mark in "[({":
            self._open(mark, start)
        elif mark in "])}":
            self._close(mark)
        elif mark == ",":
            self._take_comma()
        elif self.stack[-1].expects == "colon":
            self.stack[-1].expects = "value"
        else:
            self._spoil()

    def _open(self, mark: str, start: int) -> None:
        if len(self.stack) >= MAX_DEPTH:
            rest = self.text[start:]
            n_open = len(self.stack) + sum(rest.count(opener) for opener in _CLOSERS.values())
            self.is_too_deep, self.position = True, len(self.text)
            self.is_broken = n_open <= sum(rest.count(closer) for closer in _CLOSERS)
            return
        group = Group(mark, start)
        if self.root is None:
            self.root = group
        else:
            self._put(group, start)
        self.stack.append(_Frame(group, "key" if mark == "{" else "value"))

    def _close(self, mark: str) -> None:
        depth = len(self.stack) - 1
        while depth >= 0 and self.stack[depth].group.opener != _CLOSERS[mark]:
            depth -= 1
        if depth < 0:
            self._spoil()
            return
        if depth < len(self.stack) - 1:
            self.is_broken = True
        frame = self.stack[depth]
        if frame.group.is_object and frame.expects in ("colon", "value"):
            self.is_broken = True
        if frame.has_rows and frame.expects == "after":
            self._end_row(frame)
        frame.group.is_closed = True
        del self.stack[depth:]

    def _take_comma(self) -> None:
        frame = self.stack[-1]
        self.n_commas += 1
        if frame.expects != "after":
            self._spoil()
        frame.expects = "key" if frame.group.is_object else "value"

    def _take_word(self, word: str, match: re.Match[str]) -> None:
        frame = self.stack[-1]
        if word in _CONSTANTS and frame.expects == "value":
            self._put(_CONSTANTS[word], match.start())
        elif frame.group.is_object and frame.expects == "key":
            self.is_broken = True
            frame.key, frame.expects = word, "colon"
        elif frame.group.is_object and frame.expects == "value":
            self.is_broken = True
            self._put(word, match.start())
            frame.text_start = -1
        else:
            self._spoil()

    def _spoil(self, *, is_comment: bool = False) -> None:
        """Note that something stands where it may not; a list with it cannot be trusted."""
        self.is_broken = True
        group = self.stack[-1].group
        if not group.is_object and not is_comment:
            group.is_tainted = True

    def _take_row_end(self) -> None:
        frame = self.stack[-1]
        if frame.group.is_object or frame.expects != "after":
            self._spoil()
            return
        self._end_row(frame)
        frame.expects = "value"

    def _end_row(self, frame: _Frame) -> None:
        """Split a list of numbers at a semicolon, as in ``[[1, 2, 3, 4; 5, 6, 7, 8]]``."""
        values = frame.group.values
        numbers = [value for value in values if isinstance(value, float)]
        rows = [value for value in values if isinstance(value, Group)]
        if not numbers or len(rows) + len(numbers) != len(values):
            self._spoil()
            return
        row = Group("[", frame.group.start, list(numbers), is_closed=True)
        frame.group.values[len(rows) :] = [row]
        frame.has_rows = True

    def _put(self, value: Node, start: int) -> None:
        frame = self.stack[-1]
        if frame.group.is_object:
            self._put_into_object(frame, value)
        else:
            self._put_into_list(frame, value, start)

    def _put_into_object(self, frame: _Frame, value: Node) -> None:
        if frame.expects != "value":
            is_key = isinstance(value, str) or (type(value) is float and frame.expects != "colon")
            self.is_broken |= frame.expects != "key" or not is_key
            if is_key:
                frame.key, frame.expects = str(value), "colon"
                return
            if frame.expects != "colon":
                frame.key = ""
        frame.group.keys.append(frame.key)
        frame.group.values.append(value)
        frame.key, frame.expects = "", "after"

    def _put_into_list(self, frame: _Frame, value: Node, start: int) -> None:
        if frame.expects == "after":
            before = frame.group.values[-1] if frame.group.values else None
            are_groups = isinstance(before, Group) and isinstance(value, Group)
            if not (
                isinstance(before, Group)
                and isinstance(value, Group)
                and before.is_object
                and value.is_object
                and before.is_whole
            ):
                self.is_broken = True
                are_numbers = type(before) is float and type(value) is float and start > self._previous_end
                frame.group.is_tainted |= not (are_groups or are_numbers)
        frame.group.values.append(value)
        frame.expects = "after"

    def _is_inside_a_text(self, match: re.Match[str], kind: str) -> bool:
        """Stretch the last string over quotes that were not escaped, up to one that can end it."""
        frame = self.stack[-1] if self.stack else None
        if frame is None or frame.expects != "after" or frame.text_start < 0:
            return False
        start = frame.text_start
        frame.text_start = -1
        values = frame.group.values
        is_last = bool(values) and isinstance(values[-1], str)
        if not is_last or (kind == "mark" and match.group() in ",]})"):
            return False
        if kind == "text" and _COLON_NEXT.match(self.text, match.end()):
            return False
        quote = self.text[start]
        if quote in self._no_end_of_text:
            return False
        end = _ENDS_OF_TEXT[quote].search(self.text, match.start())
        if end is None:
            self._no_end_of_text.add(quote)
            return False
        self.is_broken = True
        values[-1] = _unescaped(self.text[start + 1 : end.start()])
        self.position = self._previous_end = end.end()
        return True


def _unescaped(text: str) -> str:
    """Return a string's characters; unknown escapes lose their backslash."""
    if "\\" not in text:
        return text

    def plain(match: re.Match[str]) -> str:
        if match.group(1):
            return chr(int(match.group(1), 16))
        return _ESCAPED.get(match.group(2), match.group(2))

    plain_form = _ESCAPE.sub(plain, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return plain_form.replace("\0", "")


def scan_value(text: str, start: int) -> Scan:
    """Read the list or object that begins at ``start``, which must be an opening bracket.

    Accepted as they are: single quotes, Python constants and tuples, trailing commas, leading zeros,
    repeated keys, and a missing comma between complete objects. Everything else that JSON forbids makes the
    scan broken, and what can still be understood goes on being read. Linear in the length of the value.
    """
    return _Scanner(text, start).scan()
