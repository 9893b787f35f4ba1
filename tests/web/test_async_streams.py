"""Streaming answers under ASGI."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from django.http import HttpResponse, StreamingHttpResponse
from django.test import AsyncRequestFactory, RequestFactory

from vlmlab.web.async_streams import StreamingMiddleware, next_piece, pieces_of


def rows(count, made):
    for number in range(count):
        made.append(number)
        yield b"%d\n" % number


def collect(stream):
    async def read():
        return [piece async for piece in stream]

    with ThreadPoolExecutor(1) as pool:  # a thread of its own: another test may have left a loop in this one
        return pool.submit(asyncio.run, read()).result()


def test_an_answer_is_made_piece_by_piece_as_it_is_read():
    made = []
    request = AsyncRequestFactory().get("/")
    response = StreamingMiddleware(lambda _: StreamingHttpResponse(rows(5, made)))(request)

    before = list(made)
    pieces = collect(response)

    assert (before, b"".join(pieces)) == ([], b"0\n1\n2\n3\n4\n")
    assert response.is_async


def test_pieces_are_joined_up_to_their_size():
    assert collect(pieces_of(rows(5, []), piece_bytes=4)) == [b"0\n1\n", b"2\n3\n", b"4\n"]


def test_an_empty_answer_has_no_piece():
    assert next_piece(iter([]), 10) == b""


def test_a_synchronous_server_keeps_its_iterator():
    response = StreamingMiddleware(lambda _: StreamingHttpResponse([b"a"]))(RequestFactory().get("/"))

    assert not response.is_async


def test_plain_answers_pass_untouched():
    plain = HttpResponse(b"a")

    assert StreamingMiddleware(lambda _: plain)(AsyncRequestFactory().get("/")) is plain
