"""Sends long texts as downloads, piece by piece (``StreamingMiddleware`` does the same under ASGI)."""

from collections.abc import Iterator
from itertools import islice

from django.http import StreamingHttpResponse

LINES = 200  # pieces joined to one chunk


def stream_file(pieces: Iterator[str], *, name: str, media_type: str) -> StreamingHttpResponse:
    """Return a download of UTF-8 text that is never held in memory as a whole."""
    return _download(_chunks(pieces), name=name, content_type=f"{media_type}; charset=utf-8")


def stream_zip(pieces: Iterator[bytes], *, name: str) -> StreamingHttpResponse:
    """Return a download of an archive that is written while it is sent."""
    return _download(pieces, name=name, content_type="application/zip")


def _download(pieces: Iterator[bytes], *, name: str, content_type: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(pieces, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "no-store"
    return response


def _chunks(pieces: Iterator[str]) -> Iterator[bytes]:
    while text := "".join(islice(pieces, LINES)):
        yield text.encode()
