"""Reads small foreign XML files as plain trees; a file that declares a document type is refused.

Entities are only declared in document types, so none can grow, and nothing outside is ever read.
"""

import re
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from vlmlab.core.seed_images.faults import FaultError

MOST_ELEMENTS = 50_000
MOST_DEPTH = 30
MOST_TEXT = 10_000
DECLARED = re.compile(
    rb"""^\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["'][^>]{0,200}\?>"""
)
FOREIGN_ENCODINGS = frozenset(
    {"gb2312", "gbk", "gb18030", "big5", "shift_jis", "shift-jis", "euc-jp", "euc-kr", "windows-1251",
     "windows-1252", "iso-8859-2", "iso-8859-15"}
)  # fmt: skip
"""Encodings that tools of some countries write and the parser does not know."""


@dataclass
class Element:
    """One element: its name, the text directly in it, and its children in order."""

    name: str
    text: str = ""
    children: list["Element"] = field(default_factory=list)

    def all(self, name: str) -> list["Element"]:
        """Return the children of a name."""
        return [child for child in self.children if child.name == name]

    def first(self, name: str) -> "Element | None":
        """Return the first child of a name."""
        return next((child for child in self.children if child.name == name), None)

    def text_of(self, name: str) -> str | None:
        """Return the text of the first child of a name, without blanks around; None without such a child."""
        child = self.first(name)
        return None if child is None else child.text.strip()


def read_xml(content: bytes) -> Element:
    """Return the root of an XML file.

    Raises:
        FaultError: it is no XML, declares a document type, or is too large or too deep.
    """
    builder = _Builder()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    parser.StartDoctypeDeclHandler = _no_doctype
    try:
        parser.Parse(_decoded(content), True)
    except expat.ExpatError as error:
        raise FaultError(
            "file", f"is no XML: {expat.ErrorString(error.code)}, line {error.lineno}"
        ) from error
    except FaultError:  # which is a ValueError, as what the parser says of an encoding is
        raise
    except (ValueError, LookupError) as error:
        raise FaultError(
            "file", "is written in an unknown encoding", hint="Save it again as UTF-8."
        ) from error
    if builder.root is None:
        raise FaultError("file", "is an empty XML file")
    return builder.root


class _Builder:
    """Builds the tree; what is too much ends the reading."""

    def __init__(self) -> None:
        self.root: Element | None = None
        self._open: list[Element] = []
        self._count = 0

    def start(self, name: str, _attributes: dict[str, str]) -> None:
        """Open an element."""
        self._count += 1
        if self._count > MOST_ELEMENTS or len(self._open) >= MOST_DEPTH:
            raise FaultError("file", "has too many elements, or they are nested too deeply")
        element = Element(name)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def end(self, _name: str) -> None:
        """Close the innermost element."""
        self._open.pop()

    def text(self, text: str) -> None:
        """Add text to the innermost element."""
        element = self._open[-1]
        if len(element.text) + len(text) > MOST_TEXT:
            raise FaultError("file", f"has a text of more than {MOST_TEXT:,} characters")
        element.text += text


def _no_doctype(*_declared: object) -> NoReturn:
    raise FaultError(
        "file",
        "declares a document type, which could make it grow without end",
        hint="Take the DOCTYPE out; annotations need none.",
    )


def _decoded(content: bytes) -> str | bytes:
    found = DECLARED.match(content)
    name = found[1].decode("ascii").lower() if found else ""
    if found is None or name not in FOREIGN_ENCODINGS:
        return content
    try:
        return content[found.end() :].decode(name)
    except UnicodeDecodeError as error:
        raise FaultError("file", f"is not written in {name}, as it says") from error
