"""Anthropic's wire format: against a peer that its official client also talks to."""

import base64

import anthropic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.peers import anthropic as peers
from tests.peers.calls import call, failure_of, picture, strange_json
from tests.peers.server import dropped, page, raw, slow, status
from vlmlab.core.errors import ConfigError, SutError
from vlmlab.core.suts.anthropic import AnthropicProvider, check_params, explain, read_reply
from vlmlab.core.suts.base import SutRequest
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.kinds import parse_params
from vlmlab.core.suts.provider import CallFailure, ProviderReply
from vlmlab.core.suts.remote import RemoteSut

SERVED = f"{peers.MODEL}-20260217"


def settings_of(**values):
    return parse_params("anthropic", {"model": peers.MODEL, "timeout_s": 60, **values})


def provider_at(peer, *, key=peers.KEY, **values):
    return AnthropicProvider(
        settings_of(**values), SutContext(network=peer.policy, api_key=key), base_url=peer.url
    )


@pytest.fixture(scope="module")
def peer():
    with peers.anthropic_peer() as running:
        yield running


@pytest.fixture(scope="module")
def provider(peer):
    return provider_at(peer)


def ask_officially(peer, **values):
    client = anthropic.Anthropic(api_key=peers.KEY, base_url=peer.url, max_retries=0)
    data = base64.b64encode(picture()).decode()
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    return client.messages.create(
        model=peers.MODEL,
        messages=[{"role": "user", "content": [image, {"type": "text", "text": "Where is the cup?"}]}],
        **values,
    )


def test_what_is_sent_is_what_the_official_client_sends(peer):
    provider = provider_at(peer, system_prompt="Be short.", thinking="low", max_output_tokens=4096)

    reply = provider.send(call())
    ours = peer.requests[-1]
    ask_officially(
        peer,
        system="Be short.",
        max_tokens=4096,
        thinking={"type": "adaptive"},
        output_config={"effort": "low"},
    )
    theirs = peer.requests[-1]

    assert reply == ProviderReply("Where is the cup?: 40 x 30", "stop", 300, 5, None, SERVED)
    assert ours.body == theirs.body
    assert (ours.path, ours.headers["anthropic-version"]) == (theirs.path, "2026-10-21")
    assert theirs.headers["anthropic-version"] == "2026-10-21"
    assert ours.headers["x-api-key"] == peers.KEY


def test_temperature_goes_with_the_version_that_takes_it(peer):
    provider = provider_at(peer, temperature=0.0, api_version="2023-06-01", thinking="off")

    provider.send(call())

    asked = peer.requests[-1]
    assert asked.headers["anthropic-version"] == "2023-06-01"
    assert (asked.body["temperature"], asked.body["thinking"]) == (0.0, {"type": "disabled"})


@pytest.mark.parametrize(
    ("behaviour", "error"),
    [
        (peers.WRONG_KEY, anthropic.AuthenticationError),
        (peers.NO_RIGHT, anthropic.PermissionDeniedError),
        (peers.WRONG_MODEL, anthropic.NotFoundError),
        (peers.TOO_MANY, anthropic.RateLimitError),
        (peers.BROKEN, anthropic.InternalServerError),
        (peers.OVERLOADED, anthropic.InternalServerError),
    ],
)
def test_official_client_takes_the_peers_errors_for_anthropics(peer, behaviour, error):
    peer.next(behaviour)

    with pytest.raises(error):
        ask_officially(peer, max_tokens=10)


def test_official_client_takes_the_peers_answers_for_anthropics(peer):
    peer.next(peers.THOUGHT, peers.REFUSED)

    thought, refused = (ask_officially(peer, max_tokens=10) for _ in range(2))

    assert [block.type for block in thought.content] == ["thinking", "redacted_thinking", "text"]
    assert thought.usage.output_tokens_details.thinking_tokens == 40
    assert refused.stop_reason == "refusal"


@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        (peers.THOUGHT, ProviderReply("B", "stop", 300, 45, 40, SERVED)),
        (peers.TRUNCATED, ProviderReply('[{"bbox_2d": [1, 2', "length", 300, 5, None, SERVED)),
        (peers.REFUSED, ProviderReply("", "refusal", 300, 5, None, SERVED)),
        (
            status(200, peers.message(peers.text("a"), peers.text("b"), stop="pause_turn")),
            ProviderReply("ab", "other", 300, 5, None, SERVED),
        ),
    ],
)
def test_answers_and_stops_are_outcomes(peer, behaviour, expected):
    peer.next(behaviour)

    assert provider_at(peer).send(call()) == expected


@pytest.mark.parametrize(
    ("behaviour", "kind", "is_retryable", "wait", "message"),
    [
        (peers.WRONG_KEY, "key", False, None, "The server refused the API key."),
        (peers.NO_RIGHT, "key", False, None, "This key may not use this model"),
        (
            peers.WRONG_MODEL,
            "model",
            False,
            None,
            "Anthropic does not know this model (“model: claude-nobody”)",
        ),
        (peers.TOO_LARGE, "too_large", False, None, "The request is too large"),
        (peers.TOO_MANY, "rate_limit", True, 3.0, "The server is asked too often"),
        (peers.MONTH_IS_SPENT, "quota", False, None, "The spending limit of this Anthropic account"),
        (peers.NO_CREDIT, "quota", False, None, "The account has no credit left"),
        (peers.BROKEN, "server", True, None, "The server failed"),
        (peers.OVERLOADED, "overloaded", True, None, "The provider is overloaded"),
        (page(), "not_json", False, None, "The address answered with a web page"),
        (raw(b"{}"), "not_json", False, None, "The server's answer has no message."),
        (dropped(20, peers.THOUGHT), "connection", True, None, "The connection to 127.0.0.1"),
    ],
)
def test_failures_say_what_happened_and_whether_to_try_again(
    peer, behaviour, kind, is_retryable, wait, message
):
    peer.next(behaviour)

    failure = failure_of(provider_at(peer))

    assert (failure.kind, failure.is_retryable, failure.retry_after_s) == (kind, is_retryable, wait)
    assert failure.message.startswith(message)
    assert peers.KEY not in f"{failure} {failure.message} {failure!r}"


def test_slow_answer_is_a_timeout(peer):
    peer.next(slow(600, peers.THOUGHT))

    failure = failure_of(provider_at(peer, timeout_s=1))

    assert (failure.kind, failure.is_retryable) == ("timeout", True)


def test_wrong_key_is_told_by_the_peer_itself(peer):
    failure = failure_of(provider_at(peer, key="sk-ant-somebody-elses-key"))

    assert failure.kind == "key"
    assert "somebody" not in failure.message


def test_nothing_is_sent_without_a_key(peer):
    n_before = len(peer.requests)

    failure = failure_of(provider_at(peer, key=""))

    assert (failure.kind, failure.message) == ("key", "This system has no Anthropic API key. Choose one.")
    assert len(peer.requests) == n_before


def test_key_with_a_line_break_is_refused_when_the_system_is_loaded(peer):
    with pytest.raises(SutError) as caught:
        provider_at(peer, key="sk-ant\n12345678")

    assert caught.value.field == "api_key"


def test_picture_that_claude_would_scale_down_is_not_sent(peer):
    n_before = len(peer.requests)

    with pytest.raises(CallFailure) as caught:
        provider_at(peer).send(call(size=(1120, 1120)))

    assert (caught.value.kind, caught.value.is_retryable) == ("too_large", False)
    assert "1120 x 1120 pixels is scaled down" in caught.value.message
    assert "at most 1092" in caught.value.message
    assert len(peer.requests) == n_before


def test_description_is_the_request_without_key_and_picture(peer):
    provider = provider_at(peer)

    shown = provider.describe(call())
    provider.send(call())

    sent = peer.requests[-1].body
    sent["messages"][0]["content"][0]["source"]["data"] = call().picture_words
    assert shown["body"] == sent
    assert shown["address"] == f"POST {peer.url}/v1/messages"
    assert (shown["headers"]["x-api-key"], shown["headers"]["anthropic-version"]) == ("<key>", "2026-10-21")


def test_remote_system_tries_an_overloaded_provider_again_and_counts_the_money(peer):
    prices = {"input_price_usd": 3.0, "output_price_usd": 15.0}
    sut = RemoteSut(
        provider_at(peer), settings_of(**prices), context=SutContext(), sleep=lambda _seconds: None
    )
    peer.next(peers.OVERLOADED, peers.BROKEN)

    (reply,) = sut.generate([SutRequest(picture(), "hi")])

    assert (reply.text, reply.n_attempts, reply.served_model) == ("hi: 40 x 30", 3, SERVED)
    assert reply.cost_usd == pytest.approx((300 * 3 + 5 * 15) / 1_000_000)
    sut.close()


@pytest.mark.parametrize(
    ("values", "field", "message"),
    [
        ({"temperature": 0.0}, "temperature", "Version 2026-10-21 of the API takes no temperature. Leave it"),
        (
            {"temperature": 0.0, "api_version": "2023-06-01", "model": "claude-opus-4-7"},
            "temperature",
            "claude-opus-4-7 takes no temperature.",
        ),
        ({"model": "gpt-5"}, "model", "“gpt-5” is not the name of a Claude model."),
        ({"max_image_side": 1568}, "max_image_side", "claude-sonnet-4-6 scales square pictures of more than"),
        ({"thinking": "minimal"}, "thinking", "claude-sonnet-4-6 has no level below low."),
    ],
)
def test_settings_that_anthropic_refuses_are_refused_at_registration(values, field, message):
    with pytest.raises(ConfigError) as caught:
        check_params(settings_of(**values))

    assert caught.value.field == field
    assert str(caught.value).startswith(message)


NAMES = (
    "type", "content", "text", "stop_reason", "usage", "input_tokens", "output_tokens", "model", "error",
    "output_tokens_details", "thinking_tokens", "details", "error_code", "message",
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(NAMES), strange_json(*NAMES), max_size=6))
def test_reader_takes_any_json_and_raises_call_failures_only(answer):
    try:
        reply = read_reply({"type": "message", **answer})
    except CallFailure:
        return
    assert isinstance(reply.text, str)
    assert reply.input_tokens is None or reply.input_tokens >= 0


@settings(max_examples=60, deadline=None)
@given(strange_json(*NAMES), st.sampled_from((200, 201, 400, 429, 500)))
def test_whatever_a_server_answers_is_a_reply_or_a_failure(peer, provider, body, code):
    peer.next(status(code, body))

    try:
        words = provider.send(call()).text
    except CallFailure as failure:
        words = failure.message

    assert isinstance(words, str)


@settings(max_examples=60, deadline=None)
@given(strange_json(*NAMES), st.sampled_from((400, 401, 404, 429, 529)))
def test_any_error_answer_is_explained(body, code):
    failure = explain(code, body, CallFailure("server", "It failed.", is_retryable=True))

    assert failure.message.endswith(".")


def test_a_filter_that_speaks_as_a_bad_request_is_an_outcome(peer, provider):
    peer.next(peers.error(400, "invalid_request_error", "Output blocked by content filtering policy"))

    failure = failure_of(provider)

    assert (failure.kind, failure.is_retryable) == ("filtered", False)
