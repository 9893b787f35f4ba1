"""Reads the arrays at the top of a large JSON file entry by entry, in bounded memory."""

import codecs
import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from vlmlab.core.seed_images.faults import FaultError

CHUNK = 1 << 18
BLANKS = " \t\n\r"
NUMBER_SIGNS = frozenset("0123456789+-.eE")


def top_entries(stream: BinaryIO, *, max_bytes: int, max_characters: int) -> Iterator[tuple[str, int, Any]]:
    """Give the entries of every array that stands directly in the top object.

    What else stands there is passed over. An array is told before its entries, with the number 0 and None, so
    that empty ones are seen too.

    Args:
        stream: UTF-8 text.
        max_bytes: of the whole text.
        max_characters: of one entry, and of one value that is passed over.

    Yields:
        The key of the array, the number of the entry from 1, the entry.

    Raises:
        FaultError: it is no JSON, no object, too large, or too deep.
    """
    text = _Window(stream, max_bytes=max_bytes, max_characters=max_characters)
    text.take("{")
    is_first = True
    while not (is_first and text.peek() == "}"):
        is_first = False
        key = text.value()
        if not isinstance(key, str):
            raise _no_json()
        text.take(":")
        if text.peek() == "[":
            yield key, 0, None
            yield from _entries(text, key)
        else:
            text.value()
        if text.peek() != ",":
            break
        text.take(",")
    text.take("}")
    if text.peek():
        raise FaultError("file", "has something behind its end")


def _entries(text: "_Window", key: str) -> Iterator[tuple[str, int, Any]]:
    text.take("[")
    number = 0
    if text.peek() == "]":
        text.take("]")
        return
    while True:
        number += 1
        yield key, number, text.value()
        if text.peek() != ",":
            break
        text.take(",")
    text.take("]")


class _Window:
    """A piece of the text that moves forward; it holds one value at a time."""

    def __init__(self, stream: BinaryIO, *, max_bytes: int, max_characters: int) -> None:
        self._stream, self._left, self._max_bytes = stream, max_bytes, max_bytes
        self._most = max_characters
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._scan = json.JSONDecoder().raw_decode
        self._text, self._at, self._is_end = "", 0, False

    def peek(self) -> str:
        """Return the next sign that is no blank, "" at the end."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in BLANKS:
                    return self._text[self._at]
                self._at += 1
            if not self._more(CHUNK):
                return ""

    def take(self, sign: str) -> None:
        """Pass a sign that must come next."""
        if self.peek() != sign:
            raise _no_json()
        self._at += 1

    def value(self) -> Any:
        """Return the next value.

        A value that the window cuts cannot be told from a wrong one, so the window is doubled until the value
        is whole, the text ends or the limit is reached; all tries together cost twice the value.
        """
        if not self.peek():
            raise _no_json()
        wanted = CHUNK
        while True:
            try:
                value, end = self._scan(self._text, self._at)
            except RecursionError:
                raise FaultError("file", "is nested too deeply") from None
            except ValueError:
                end = None
            if end is not None and (self._is_end or not self._may_go_on(value, end)):
                self._at = end
                return value
            if len(self._text) - self._at > self._most:
                raise FaultError("file", f"has an entry of more than {self._most:,} characters")
            if not self._more(wanted):
                if end is None:
                    raise _no_json()
                continue  # the text ended just behind the value
            wanted *= 2

    def _may_go_on(self, value: object, end: int) -> bool:
        """Return whether the window may have cut a number, such as 6.75e2 behind 6.75, 6 or the e."""
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number and all(sign in NUMBER_SIGNS for sign in self._text[end:])

    def _more(self, size: int) -> bool:
        if self._is_end:
            return False
        piece = self._stream.read(size)
        self._left -= len(piece)
        if self._left < 0:
            raise FaultError("file", f"holds more than {self._max_bytes / 1e6:,.3g} MB")
        try:
            new = self._decoder.decode(piece, final=not piece)
        except UnicodeDecodeError as error:
            raise FaultError("file", "is not written in UTF-8", hint="Save it again as UTF-8.") from error
        self._is_end = not piece
        self._text = self._text[self._at :] + new
        self._at = 0
        return not self._is_end


def _no_json() -> FaultError:
    return FaultError("file", "is no JSON")
