"""Sends long files piece by piece, under WSGI and ASGI alike."""

from collections.abc import AsyncIterator, Iterator
from itertools import islice

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse

LINES = 200  # pieces joined to one chunk


def stream_file(
    request: HttpRequest, pieces: Iterator[str], *, name: str, media_type: str
) -> StreamingHttpResponse:
    """Return a download of UTF-8 text that is never held in memory as a whole.

    Django reads a plain iterator to its end before it sends it under ASGI; an asynchronous one is sent as it
    comes.
    """
    chunks = _chunks(pieces)
    body = _asynchronous(chunks) if isinstance(request, ASGIRequest) else chunks
    response = StreamingHttpResponse(body, content_type=f"{media_type}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "no-store"
    return response


def _chunks(pieces: Iterator[str]) -> Iterator[bytes]:
    while text := "".join(islice(pieces, LINES)):
        yield text.encode()


async def _asynchronous(chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    take = sync_to_async(lambda: next(chunks, b""), thread_sensitive=True)
    while chunk := await take():
        yield chunk
