"""Reads the text of a domain file, YAML or JSON, as plain values; nothing in it is ever executed.

YAML is built from its events: no tags, no aliases, and every limit is checked before anything grows.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from vlmlab.core.scenes.domain_problems import DomainFileError, DomainProblem, shown

MAX_BYTES = 1_000_000
MAX_DEPTH = 10
MAX_VALUES = 40_000
MAX_DIGITS = 15
STRING_TAGS = frozenset({"!!str", "tag:yaml.org,2002:str", "!"})
CONTROLS = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff\ud800-\udfff]"
)
INTEGER = re.compile(r"[-+]?[0-9]+")
DECIMAL = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
SPECIAL = re.compile(r"[-+]?\.(inf|nan)", re.IGNORECASE)
WORDS: Mapping[str, object] = {"": None, "~": None, "null": None, "true": True, "false": False}
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class DomainText:
    """The values of a domain file and the line of each.

    Attributes:
        content: the parsed top level.
        lines: path of keys and positions -> line from 1; empty for JSON.
    """

    content: dict[str, Any]
    lines: Mapping[Path, int] = field(default_factory=dict)

    def line_of(self, path: Path) -> int | None:
        """Return the line of a value, or of the nearest value around it."""
        while path:
            if path in self.lines:
                return self.lines[path]
            path = path[:-1]
        return None


def read_text(source: str | bytes) -> DomainText:
    """Return what a YAML or JSON text says.

    Raises:
        DomainFileError: it is no text, too large or too deep, or not YAML or JSON.
    """
    text = _decoded(source)
    if not text.strip():
        raise _refusal("The file is empty.", "Start from a copy of a domain or from the example.")
    for number, line in enumerate(text.split("\n"), start=1):
        found = CONTROLS.search(line)
        if found:
            raise _refusal(
                f"There is a control character (U+{ord(found[0]):04X}).",
                "Take it out; write texts in plain characters.",
                line=number,
            )
    is_json = text.lstrip().startswith("{")
    values = _read_json(text) if is_json else _YamlReader(text).read()
    if not isinstance(values.content, dict):
        raise _refusal(
            "The file has no keys at its top level.", "Write “slug: …”, “title: …”, “concepts:” and so on."
        )
    return values


def _decoded(source: str | bytes) -> str:
    size = len(source) if isinstance(source, bytes) else len(source.encode("utf-8", "replace"))
    if size > MAX_BYTES:
        raise _refusal(
            f"The file has {size:,} bytes; a domain file may have {MAX_BYTES:,}.",
            "Leave out what is not part of a domain.",
        )
    if isinstance(source, str):
        return source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if source.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _refusal("The file is UTF-16 text.", "Save it as UTF-8.")
    if b"\x00" in source:
        raise _refusal("This is not a text file.", "Choose a .yaml or .json file.")
    try:
        return _decoded(source.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = source[: error.start].count(b"\n") + 1
        raise _refusal("The file is not UTF-8 text.", "Save it as UTF-8.", line=line) from error


def _read_json(text: str) -> DomainText:
    try:
        content = json.loads(
            text,
            object_pairs_hook=_without_repeats,
            parse_constant=_no_constant,
            parse_int=_whole,
            parse_float=_finite,
        )
    except json.JSONDecodeError as error:
        message = f"This is not JSON: {error.msg[:1].lower()}{error.msg[1:]}."
        raise _refusal(
            message, "A file that begins with { is read as JSON; write YAML without it.", line=error.lineno
        ) from error
    except RecursionError as error:
        raise _too_deep() from error
    _check_size(content)
    return DomainText(content)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = next(name for name, count in counts.items() if count > 1)
        raise _refusal(f"The key {shown(twice)} stands twice in one place.", "Keep one of them.")
    return found


def _no_constant(name: str) -> float:
    raise _refusal(f"{name} is not a number that a domain can use.", "Write a finite number.")


def _whole(digits: str) -> int:
    if len(digits.lstrip("+-")) > MAX_DIGITS:
        raise _refusal(f"The number {shown(digits)} has too many digits.", f"At most {MAX_DIGITS}.")
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise _refusal(f"The number {shown(digits)} is too large.", "Write a finite number.")
    return number


def _check_size(content: object) -> None:
    waiting, count = [(content, 1)], 0
    while waiting:
        value, depth = waiting.pop()
        count += 1
        if depth > MAX_DEPTH:
            raise _too_deep()
        if isinstance(value, dict):
            waiting += [(one, depth + 1) for pair in value.items() for one in pair]
        elif isinstance(value, list):
            waiting += [(one, depth + 1) for one in value]
        elif isinstance(value, str) and CONTROLS.search(value):
            raise _control_escape(value)
    if count > MAX_VALUES:
        raise _too_many()


class _YamlReader:
    """Builds values from YAML events; depth and number of values are known before they are built."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines: dict[Path, int] = {}
        self._count = 0
        self._events: Iterator[yaml.Event] = iter(())

    def read(self) -> DomainText:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            self._events = yaml.parse(self._text, Loader=loader)
            first = self._next()
            while isinstance(first, (yaml.StreamStartEvent, yaml.DocumentStartEvent)):
                first = self._next()
            if isinstance(first, yaml.StreamEndEvent):
                raise _refusal("The file is empty.", "Start from a copy of a domain or from the example.")
            content = self._value(first, (), depth=1)
            self._expect_end()
        except yaml.YAMLError as error:
            raise self._not_yaml(error) from error
        return DomainText(content, self._lines)

    def _next(self) -> yaml.Event:
        return next(self._events)

    def _expect_end(self) -> None:
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                raise _refusal(
                    "The file holds more than one document.",
                    "Take out the line with “---”.",
                    line=_line(event),
                )

    def _value(self, event: yaml.Event, path: Path, *, depth: int) -> Any:
        line = _line(event)
        self._lines[path] = line
        self._count += 1
        if self._count > MAX_VALUES:
            raise _too_many()
        if depth > MAX_DEPTH:
            raise _too_deep(line)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise _refusal(
                "Anchors (&) and aliases (*) are not read.",
                "Write the value out, or name a group of concepts under “macros”.",
                line=line,
            )
        self._refuse_tag(event, line)
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event, line)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path, depth)
        return self._mapping(path, depth)

    def _refuse_tag(self, event: yaml.Event, line: int) -> None:
        tag = getattr(event, "tag", None)
        if tag and not (isinstance(event, yaml.ScalarEvent) and tag in STRING_TAGS):
            raise _refusal(f"The tag {shown(tag)} is not read.", "Write the plain value.", line=line)

    def _sequence(self, path: Path, depth: int) -> list[Any]:
        values: list[Any] = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            values.append(self._value(event, (*path, len(values)), depth=depth + 1))
        return values

    def _mapping(self, path: Path, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            line = _line(event)
            if not isinstance(event, yaml.ScalarEvent) or not event.value or event.anchor or event.tag:
                raise _refusal("A key must be a plain word.", "Write “name: value”.", line=line)
            key = event.value
            if CONTROLS.search(key):
                raise _control_escape(key, line)
            if key in values:
                first = self._lines[(*path, key)]
                raise _refusal(
                    f"The key {shown(key)} stands twice in one place, first in line {first}.",
                    "Keep one of them.",
                    line=line,
                )
            values[key] = self._value(self._next(), (*path, key), depth=depth + 1)
            self._lines[(*path, key)] = line
        return values

    def _not_yaml(self, error: yaml.YAMLError) -> DomainFileError:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else None
        rows = self._text.split("\n")
        if (
            line
            and line <= len(rows)
            and "\t" in rows[line - 1][: len(rows[line - 1]) - len(rows[line - 1].lstrip())]
        ):
            return _refusal("The line is indented with a tab.", "Indent with spaces only.", line=line)
        words = str(getattr(error, "problem", "") or "the text cannot be read")
        return _refusal(
            f"This is not YAML: {words}.",
            "Look at the indentation, and put texts that hold “: ” or begin with a sign into quotes.",
            line=line,
        )


def _scalar(event: yaml.ScalarEvent, line: int) -> object:
    text: str = event.value
    if CONTROLS.search(text):
        raise _control_escape(text, line)
    if not event.implicit[0]:
        return text
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    try:
        if INTEGER.fullmatch(text):
            return _whole(text)
        if DECIMAL.fullmatch(text):
            return _finite(text)
        return _no_constant(text) if SPECIAL.fullmatch(text) else text
    except DomainFileError as error:
        problem = error.problems[0]
        raise _refusal(problem.message, problem.hint, line=line) from error


def _control_escape(text: str, line: int | None = None) -> DomainFileError:
    found = CONTROLS.search(text)
    sign = f" (U+{ord(found[0]):04X})" if found else ""
    return _refusal(f"A text holds a control character{sign}.", "Take it out.", line=line)


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def _too_deep(line: int | None = None) -> DomainFileError:
    return _refusal(
        f"The values lie more than {MAX_DEPTH} levels deep.", "A domain file needs four.", line=line
    )


def _too_many() -> DomainFileError:
    return _refusal(
        f"The file has more than {MAX_VALUES:,} values.", "Leave out what is not part of a domain."
    )


def _refusal(message: str, hint: str, *, line: int | None = None) -> DomainFileError:
    return DomainFileError([DomainProblem("", "", message, hint, line=line)])
