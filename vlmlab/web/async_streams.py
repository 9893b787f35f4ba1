"""Sends static files and pictures piece by piece under ASGI, where Django would collect them first."""

from collections.abc import AsyncIterator, Callable, Iterator

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase

PIECE_BYTES = 256 * 1024


class StreamingMiddleware:
    """Turns the synchronous iterator of a streaming answer into an asynchronous one."""

    sync_capable = True
    async_capable = False

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass the request on and adapt a streaming answer."""
        response = self.get_response(request)
        if (
            isinstance(request, ASGIRequest)
            and isinstance(response, StreamingHttpResponse)
            and not response.is_async
        ):
            response.streaming_content = pieces_of(iter(response.streaming_content))  # type: ignore[arg-type]
        return response


async def pieces_of(chunks: Iterator[bytes], piece_bytes: int = PIECE_BYTES) -> AsyncIterator[bytes]:
    """Yield the bytes of ``chunks`` in pieces, made in the thread that holds the request's database."""
    make = sync_to_async(next_piece, thread_sensitive=True)
    while piece := await make(chunks, piece_bytes):
        yield piece


def next_piece(chunks: Iterator[bytes], piece_bytes: int) -> bytes:
    """Return the next chunks joined, at least ``piece_bytes`` of them unless they end; empty at the end."""
    collected: list[bytes] = []
    size = 0
    for chunk in chunks:
        collected.append(chunk)
        size += len(chunk)
        if size >= piece_bytes:
            break
    return b"".join(collected)
