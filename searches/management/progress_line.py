"""One line about long work in a shell, drawn at most once a second."""

import time
from collections.abc import Callable

from django.core.management.base import BaseCommand

BAR_WIDTH = 30
REPORT_SECONDS = 1.0
LINE_WIDTH = 110


class ProgressLine:
    """Draws a line anew where a person looks, and below the last one in a log.

    Args:
        told: returns the line as it is now.
        command: whose error stream it is written to.
    """

    def __init__(self, told: Callable[[], str], command: BaseCommand) -> None:
        self._told = told
        self._stderr = command.stderr
        self._next = 0.0
        self._drawn = ""

    def draw(self, *, is_last: bool = False) -> bool:
        """Draw it; returns False, so that it can be asked between batches whether to yield."""
        if not is_last and time.monotonic() < self._next:
            return False
        self._next = time.monotonic() + REPORT_SECONDS
        text = self._told()
        if text == self._drawn and not is_last:
            return False
        self._drawn = text
        if self._stderr.isatty():
            self._stderr.write(f"\r{text[:LINE_WIDTH]:<{LINE_WIDTH}}", ending="\n" if is_last else "")
            self._stderr.flush()
        else:
            self._stderr.write(text)
        return False


def bar_of(part: int, whole: int) -> str:
    """Return a bar that is filled as far as a part of a whole."""
    filled = round(BAR_WIDTH * part / max(1, whole))
    return "[" + "#" * filled + "." * (BAR_WIDTH - filled) + "]"
