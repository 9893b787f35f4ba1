"""JSON over HTTP against a real server: every way to fail has its sentence."""

import ipaddress
import socket
from concurrent.futures import ThreadPoolExecutor

import httpcore2
import pytest

from tests.core.suts.json_asking import GOOD, KEY, endpoint, failure_of
from tests.peers.server import (
    Answer,
    dripping,
    dropped,
    page,
    raw,
    redirect,
    slow,
    status,
)
from vlmlab.core.suts import http_json
from vlmlab.core.suts.http_json import JsonEndpoint
from vlmlab.core.suts.network import AllowedNetwork, NetworkPolicy
from vlmlab.core.suts.provider import CallFailure


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
    [slow(600, GOOD), dripping(0.05, status(200, {"answer": "x" * 10_000}))],
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
    with socket.socket() as deaf:  # it holds the port, so that nobody else listens there meanwhile
        deaf.bind(("127.0.0.1", 0))
        port = deaf.getsockname()[1]
        policy = NetworkPolicy((AllowedNetwork(ipaddress.ip_network("127.0.0.1"), port, port),))
        down = endpoint(peer, base_url=f"http://127.0.0.1:{port}/v1", policy=policy)

        with pytest.raises(CallFailure) as failure:
            down.post("/ask", {})

    assert (failure.value.kind, failure.value.is_retryable) == ("connection", True)
    assert failure.value.message == (
        f"127.0.0.1:{port} cannot be reached: no server listens there. "
        "Check the address and that the server runs."
    )


def test_a_proxy_of_the_environment_is_not_used(peer, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    assert endpoint(peer).post("/ask", {}) == {"answer": 42}


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
        base_url="http://[fd00::1]:8080", headers={}, timeout_s=60,
        policy=NetworkPolicy((AllowedNetwork(ipaddress.ip_network("fd00::/8"), 8080, 8080),)),
        resolver=lambda host, _port: [host], connector=lambda *_asked: Stream([reply]),
    )  # fmt: skip

    assert remote.post("/ask", {}) == {}
    assert b"Host: [fd00::1]:8080\r\n" in b"".join(sent)
