"""Reads the size of a picture from a command line."""

from django.core.management.base import CommandError


def picture_size(text: str) -> tuple[int, int]:
    """Return width and height of ``WIDTHxHEIGHT``.

    Raises:
        CommandError: it is no such text, or a size that nobody draws.
    """
    width, _, height = text.partition("x")
    if not (width.isdigit() and height.isdigit() and 64 <= int(width) <= 2048 and 48 <= int(height) <= 2048):
        raise CommandError(f"--size: expected WIDTHxHEIGHT between 64x48 and 2048x2048, got {text!r}.")
    return int(width), int(height)
