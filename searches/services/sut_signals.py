"""Signals between a slow system and the worker that waits for it: a sign of life, and an order to stop."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from vlmlab.core.suts.context import never, no_progress

_on_progress: Callable[[], None] = no_progress
_should_stop: Callable[[], bool] = never


def report_progress_to(hook: Callable[[], None]) -> None:
    """Set what is called whenever an answer arrives from a slow system, so that nobody takes it for stuck."""
    global _on_progress
    _on_progress = hook


@contextmanager
def stopping_when(should_stop: Callable[[], bool]) -> Iterator[None]:
    """Let a remote system end its batch early while the block lasts, as soon as this says so."""
    global _should_stop
    _should_stop = should_stop
    try:
        yield
    finally:
        _should_stop = never


def progressed() -> None:
    """Pass a sign of life on."""
    _on_progress()


def is_asked_to_stop() -> bool:
    """Whether the batch in hand is to end."""
    return _should_stop()
