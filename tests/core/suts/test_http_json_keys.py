"""JSON over HTTP: no word that is said, kept or logged holds the key."""

import io
import json
import logging

import pytest

from tests.core.suts.json_asking import KEY, endpoint, failure_of
from tests.peers.server import (
    json_answer,
    page,
    status,
)
from vlmlab.core.errors import SutError


@pytest.mark.parametrize(
    "behaviour",
    [
        status(400, {"error": {"message": f"Bad key {KEY} given."}}),
        status(401, {"error": {"message": f"Incorrect API key: {KEY}"}}),
        status(403, {"error": {"message": f"{KEY[:10]}******{KEY[-4:]} may not."}}),
        status(429, {"message": f"Key {KEY}: slow down"}),
        status(500, {"detail": [{"msg": json.dumps({"Authorization": f"Bearer {KEY}"})}]}),
        page(KEY),
        page(KEY, code=502),
    ],
)
def test_no_sentence_repeats_the_key(peer, behaviour):
    failure = failure_of(peer, behaviour)

    for words in (failure.message, str(failure), repr(failure), repr(failure.args)):
        assert KEY not in words
        assert KEY[:10] not in words


def test_an_answer_that_echoes_the_key_comes_without_it(peer):
    peer.next(lambda asked: json_answer({"text": asked.headers["authorization"]}))

    assert endpoint(peer).post("/ask", {}) == {"text": "Bearer [key removed]"}


def test_a_key_that_was_pasted_with_the_word_before_it_is_removed_too(peer):
    headers = {"Authorization": f"Bearer Bearer {KEY}"}
    peer.next(status(200, {"answer": f"your key {KEY}, a bearer token"}))

    assert endpoint(peer, headers=headers).post("/ask", {}) == {
        "answer": "your key [key removed], a bearer token"
    }


def test_describe_leaves_out_the_values_of_secret_headers(peer):
    described = endpoint(peer, headers={"x-any": KEY, "anthropic-version": "2023-06-01"}).describe(
        "/ask", {"q": 1}
    )

    assert described == {
        "address": f"POST {peer.url}/v1/ask",
        "headers": {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "x-any": "<key>",
            "anthropic-version": "2023-06-01",
        },
        "body": {"q": 1},
    }
    assert peer.requests == []


@pytest.mark.parametrize("key", ["sk-1\r\nHost: evil", "schlüssel-123456", "sk-12345678 ", "a\x00b"])
def test_a_key_that_cannot_be_sent_is_refused_at_once(peer, key):
    with pytest.raises(SutError) as refusal:
        endpoint(peer, headers={"x-api-key": key})

    assert refusal.value.field == "api_key"
    assert key not in str(refusal.value)


def test_the_finest_log_holds_no_header_that_a_server_echoes(peer):
    stream = io.StringIO()
    handler, logger = logging.StreamHandler(stream), logging.getLogger("httpcore2")
    before = logger.level
    logger.setLevel(logging.DEBUG)
    logger.addHandler(handler)
    peer.next(lambda _asked: json_answer({"answer": 1}, x_echo=f"Bearer {KEY}"))

    try:
        endpoint(peer).post("/ask", {"q": 1})
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)

    assert KEY not in stream.getvalue()
