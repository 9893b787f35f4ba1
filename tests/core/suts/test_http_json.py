"""JSON over HTTP against a real server: every way to fail has its sentence, and no word holds the key."""

import io
import ipaddress
import json
import logging
import time
from concurrent.futures import ThreadPoolExecutor

import httpcore2
import pytest

from tests.peers.server import (
    Answer,
    Peer,
    dripping,
    dropped,
    json_answer,
    page,
    raw,
    redirect,
    slow,
    status,
)
from vlmlab.core.errors import SutError
from vlmlab.core.suts import http_json
from vlmlab.core.suts.failures import retry_after_of
from vlmlab.core.suts.http_json import JsonEndpoint
from vlmlab.core.suts.network import AllowedNetwork, NetworkPolicy
from vlmlab.core.suts.provider import CallFailure

KEY = "sk-test-0123456789abcdefghij"
GOOD = status(200, {"answer": 42})


@pytest.fixture
def peer():
    with Peer({"/v1/ask": GOOD}) as server:
        yield server


def endpoint(peer: Peer, **values) -> JsonEndpoint:
    settings = {
        "base_url": f"{peer.url}/v1", "headers": {"Authorization": f"Bearer {KEY}"}, "timeout_s": 5.0,
        "policy": peer.policy, **values,
    }  # fmt: skip
    return JsonEndpoint(**settings)


def failure_of(peer: Peer, behaviour, **values) -> CallFailure:
    peer.next(behaviour)
    with pytest.raises(CallFailure) as failure:
        endpoint(peer, **values).post("/ask", {"q": 1})
    return failure.value


def test_get_asks_once_and_fails_like_post(peer):
    peer.next(GOOD, status(401, {"error": {"message": f"bad key {KEY}"}}))
    asking = endpoint(peer)

    answer = asking.get("/models")
    with pytest.raises(CallFailure) as failure:
        asking.get("/models")

    asked = peer.requests[0]
    assert (asked.method, asked.path, asked.raw, answer) == ("GET", "/v1/models", b"", {"answer": 42})
    assert (failure.value.kind, KEY in failure.value.message) == ("key", False)


def test_post_sends_json_and_returns_the_object_that_came_back(peer):
    answer = endpoint(peer).post("/ask", {"q": "é", "n": [1, None]})

    asked = peer.requests[0]
    assert answer == {"answer": 42}
    assert (asked.method, asked.path, asked.body) == ("POST", "/v1/ask", {"q": "é", "n": [1, None]})
    assert asked.headers == {
        "host": f"127.0.0.1:{peer.port}",
        "content-length": str(len(asked.raw)),
        "content-type": "application/json",
        "accept": "application/json",
        "authorization": f"Bearer {KEY}",
    }


def test_connections_are_kept_and_shared_by_threads(peer):
    shared = endpoint(peer)

    one_by_one = [shared.post("/ask", {"n": number}) for number in range(5)]
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(lambda number: shared.post("/ask", {"n": number}), range(40)))
    shared.close()

    assert one_by_one + together == [{"answer": 42}] * 45
    assert {asked.connection for asked in peer.requests[:5]} == {1}
    assert peer.n_connections <= 8


@pytest.mark.parametrize(
    ("code", "kind", "is_retryable"),
    [
        (400, "request", False), (401, "key", False), (402, "quota", False), (403, "key", False),
        (404, "address", False), (405, "request", False), (408, "timeout", True), (409, "server", True),
        (413, "too_large", False), (418, "request", False), (422, "request", False), (501, "request", False),
        (505, "request", False),
        (429, "rate_limit", True), (500, "server", True), (502, "server", True), (503, "overloaded", True),
        (504, "timeout", True), (529, "overloaded", True), (301, "address", False),
        (302, "address", False), (307, "address", False),
    ],
)  # fmt: skip
def test_a_status_means_one_failure(peer, code, kind, is_retryable):
    failure = failure_of(peer, status(code, {"error": {"message": "It is so."}}))

    assert (failure.kind, failure.is_retryable) == (kind, is_retryable)
    assert failure.message.endswith(".")


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "Your credit balance is too low."}},
        {"error": {"message": "No.", "code": "insufficient_quota"}},
        {"error": {"message": "No.", "type": "insufficient_quota"}},
    ],
)
def test_a_429_without_credit_is_not_tried_again(peer, body):
    failure = failure_of(peer, status(429, body, retry_after="1"))

    assert (failure.kind, failure.is_retryable) == ("quota", False)


def test_a_429_that_only_speaks_of_billing_is_tried_again(peer):
    words = "Limit: 3 / min. Please try again in 20s. Add a payment method at https://example.com/billing."

    failure = failure_of(peer, status(429, {"error": {"message": words, "code": "rate_limit_exceeded"}}))

    assert (failure.kind, failure.is_retryable) == ("rate_limit", True)


def test_a_404_that_speaks_of_a_model_is_about_the_model(peer):
    failure = failure_of(peer, status(404, {"error": {"message": "The model `x` does not exist."}}))

    assert failure.kind == "model"
    assert failure.message == (
        "The server does not know this model (“The model `x` does not exist”). Check the model's name."
    )


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "0.5"}, 0.5),
        ({"retry_after_ms": "250", "retry_after": "7"}, 0.25),
        ({"retry_after": "Sun, 06 Nov 1994 08:49:47 GMT"}, 10.0),
        ({"retry_after": "Sun, 06 Nov 1994 08:49:27 GMT"}, 0.0),
        ({"retry_after": "-3"}, None),
        ({"retry_after": "soon"}, None),
        ({"retry_after": "1e9"}, None),
        ({"retry_after": "٣"}, None),
    ],
)
def test_retry_after_is_read_in_seconds_and_as_a_date(peer, headers, seconds):
    def behaviour(_asked):
        answer = json_answer({}, code=429)
        names = {name.replace("_", "-"): value.encode().decode("latin-1") for name, value in headers.items()}
        return Answer(429, answer.body, names)

    failure = failure_of(peer, behaviour, now=lambda: 784_111_777.0)

    assert failure.retry_after_s == seconds


def test_a_web_page_is_named_by_its_title(peer):
    failure = failure_of(peer, page("Welcome to\n nginx!"))

    assert (failure.kind, failure.is_retryable) == ("not_json", False)
    assert failure.message == (
        "The address answered with a web page (“Welcome to nginx!”) instead of JSON. "
        "Check the address; it often ends in /v1."
    )


@pytest.mark.parametrize(
    "body",
    [
        b"", b"hello", b'{"a": 1', b"[1, 2]", b"null", b"3", b'"text"', b'{"a": NaN}', b'{"a": Infinity}',
        b"\xff\xfe",
        b"[" * 300_000, b'{"a":' * 300_000, b"9" * 5_000, b'{"a": %s}' % (b"9" * 5_000),
    ],
    ids=lambda body: f"{body[:8]!r}x{len(body)}",
)  # fmt: skip
def test_what_is_no_json_object_is_a_failure(peer, body):
    failure = failure_of(peer, raw(body))

    assert (failure.kind, failure.is_retryable) == ("not_json", False)


def test_a_redirect_is_not_followed(peer):
    failure = failure_of(peer, redirect(f"{peer.url}/elsewhere"))

    assert failure.message == (
        "The address redirects to another one (status 302), which is not followed. Write the final address."
    )
    assert [asked.path for asked in peer.requests] == ["/v1/ask"]


def test_a_long_answer_is_cut_off(peer, monkeypatch):
    monkeypatch.setattr(http_json, "MOST_REPLY_BYTES", 1_000_000)

    failure = failure_of(peer, raw(b" " * 3_000_000))

    assert (failure.kind, failure.is_retryable) == ("too_large", False)


def test_a_compressed_bomb_is_not_unpacked(peer):
    import gzip

    body = gzip.compress(b'{"a": "' + b"x" * 10_000_000 + b'"}')

    failure = failure_of(peer, lambda _asked: Answer(200, body, {"Content-Encoding": "gzip"}))

    assert failure.kind == "not_json"
    assert "accept-encoding" not in peer.requests[0].headers


@pytest.mark.parametrize(
    "behaviour",
    [slow(5, GOOD), dripping(0.05, status(200, {"answer": "x" * 200}))],
    ids=["silent", "a byte now and then"],
)
def test_a_call_ends_when_its_time_is_over(peer, behaviour):
    failure = failure_of(peer, behaviour, timeout_s=0.3)

    assert (failure.kind, failure.is_retryable) == ("timeout", True)
    assert "0.3 seconds" in failure.message


def test_a_connection_that_breaks_is_tried_again(peer):
    failure = failure_of(peer, dropped(4, GOOD))

    assert (failure.kind, failure.is_retryable) == ("connection", True)


def test_a_server_that_is_down_cannot_be_reached(peer):
    down = endpoint(peer)
    peer.__exit__()

    with pytest.raises(CallFailure) as failure:
        down.post("/ask", {})

    assert (failure.value.kind, failure.value.is_retryable) == ("connection", True)
    assert failure.value.message == (
        f"127.0.0.1:{peer.port} cannot be reached: no server listens there. "
        "Check the address and that the server runs."
    )
    peer._thread.join()


def test_a_proxy_of_the_environment_is_not_used(peer, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    assert endpoint(peer).post("/ask", {}) == {"answer": 42}


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


def test_https_to_a_server_without_it_says_so(peer):
    with pytest.raises(CallFailure) as failure:
        endpoint(peer, base_url=f"https://127.0.0.1:{peer.port}").post("/ask", {})

    assert (failure.value.kind, failure.value.is_retryable) == ("connection", False)
    assert failure.value.message == (
        f"127.0.0.1:{peer.port} does not speak https. Write http:// for a local server without it."
    )


def test_an_ipv6_endpoint_is_written_in_brackets_for_the_host_header():
    sent = []

    class Stream(httpcore2.MockStream):
        def write(self, buffer, timeout=None):
            sent.append(buffer)

    reply = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
    remote = JsonEndpoint(
        base_url="http://[fd00::1]:8080", headers={}, timeout_s=5,
        policy=NetworkPolicy((AllowedNetwork(ipaddress.ip_network("fd00::/8"), 8080, 8080),)),
        resolver=lambda host, _port: [host], connector=lambda *_asked: Stream([reply]),
    )  # fmt: skip

    assert remote.post("/ask", {}) == {}
    assert b"Host: [fd00::1]:8080\r\n" in b"".join(sent)


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


@pytest.mark.parametrize(
    "said", ["Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 -0000", "Sun, 06 Nov 1994 08:49:37 GMT"]
)
def test_a_date_without_a_zone_is_gmt(said, monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert retry_after_of({"retry-after": said}, now_s=784_111_777.0 - 60) == 60.0
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("0", 0.0),
        ("-5", None),
        ("nan", None),
        ("inf", None),
        ("1e9", None),
        ("", None),
        ("soon", None),
        ("99999999999", None),
        ("999999999", 999_999_999.0),
        ("2.5", 2.5),
        ("٣", None),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("Fri, 31 Dec 9999 23:59:59 +9999", None),
    ],
)
def test_a_strange_retry_after_is_a_number_or_nothing(said, seconds):
    assert retry_after_of({"retry-after": said}, now_s=1_800_000_000.0) == seconds
