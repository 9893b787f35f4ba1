"""Google's wire format: against a peer that its official client also talks to."""

import pytest
from google import genai
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.peers import gemini as peers
from tests.peers.calls import call, failure_of, picture, strange_json
from tests.peers.server import dropped, page, raw, slow, status
from vlmlab.core.errors import ConfigError, SutError
from vlmlab.core.suts.base import SutRequest
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.gemini import GeminiProvider, check_params, explain, read_reply
from vlmlab.core.suts.kinds import parse_params
from vlmlab.core.suts.provider import CallFailure, ProviderReply
from vlmlab.core.suts.remote import RemoteSut


def settings_of(**values):
    return parse_params("gemini", {"model": peers.MODEL, "timeout_s": 60, **values})


def provider_at(peer, *, key=peers.KEY, **values):
    return GeminiProvider(
        settings_of(**values), SutContext(network=peer.policy, api_key=key), base_url=peer.url
    )


@pytest.fixture(scope="module")
def peer():
    with peers.gemini_peer() as running:
        yield running


@pytest.fixture(scope="module")
def provider(peer):
    return provider_at(peer)


def official(peer, **options):
    client = genai.Client(
        api_key=peers.KEY,
        http_options=types.HttpOptions(
            base_url=peer.url, retry_options=types.HttpRetryOptions(attempts=1), **options
        ),
    )
    return lambda **config: client.models.generate_content(
        model=peers.MODEL,
        contents=[types.Part.from_bytes(data=picture(), mime_type="image/png"), "Where is the cup?"],
        config=types.GenerateContentConfig(**config),
    )


def test_what_is_sent_is_what_the_official_client_sends(peer):
    provider = provider_at(
        peer,
        system_prompt="Be short.",
        temperature=0.5,
        max_output_tokens=2048,
        thinking="low",
        media_resolution="high",
    )

    ours = provider.send(call()), peer.requests[-1]
    official(peer, api_version="v1beta")(
        system_instruction="Be short.",
        temperature=0.5,
        max_output_tokens=2048,
        media_resolution="MEDIA_RESOLUTION_HIGH",
        thinking_config=types.ThinkingConfig(thinking_level="LOW"),
    )
    theirs = peer.requests[-1]

    assert ours[0].text == "Where is the cup?: 40 x 30"
    assert (ours[1].path, ours[1].headers["x-goog-api-key"]) == (theirs.path, peers.KEY)
    sent, wanted = peers.read(ours[1]), peers.read(theirs)
    del wanted["systemInstruction"]["role"]
    assert peers.sent_picture(ours[1]).tobytes() == peers.sent_picture(theirs).tobytes()
    for body in (sent, wanted):
        del body["contents"][0]["parts"][0]["inlineData"]["data"]
    assert sent == wanted


@pytest.mark.parametrize(
    ("behaviour", "code"),
    [
        (peers.WRONG_KEY, 400),
        (peers.WRONG_MODEL, 404),
        (peers.TOO_MANY, 429),
        (peers.BROKEN, 500),
        (peers.OVERLOADED, 503),
    ],
)
def test_official_client_takes_the_peers_errors_for_googles(peer, behaviour, code):
    peer.next(behaviour)

    with pytest.raises(genai.errors.APIError) as caught:
        official(peer)()

    assert caught.value.code == code
    assert caught.value.status is not None


def test_official_client_takes_the_peers_answers_for_googles(peer):
    peer.next(peers.THOUGHT, peers.STOPPED, peers.BLOCKED)

    thought, stopped, blocked = (official(peer)() for _ in range(3))

    assert (thought.text, thought.usage_metadata.thoughts_token_count) == ("B", 40)
    assert stopped.candidates[0].finish_reason == types.FinishReason.SAFETY
    assert blocked.prompt_feedback.block_reason == types.BlockedReason.PROHIBITED_CONTENT


@pytest.mark.parametrize(
    ("behaviour", "expected"),
    [
        (
            peers.THOUGHT,
            ProviderReply("B", "stop", 300, 41, 40, f"{peers.MODEL}-12-2025"),
        ),
        (
            peers.TRUNCATED,
            ProviderReply('[{"box_2d": [1, 2', "length", 300, 5, None, f"{peers.MODEL}-12-2025"),
        ),
        (peers.STOPPED, ProviderReply("", "safety", 300, 5, None, f"{peers.MODEL}-12-2025")),
        (peers.RECITED, ProviderReply("To be", "safety", 300, 5, None, f"{peers.MODEL}-12-2025")),
        (peers.BLOCKED, ProviderReply("", "safety", 300, 0, None, peers.MODEL)),
        (
            status(200, peers.content({"text": "a"}, {"text": "b"}, finish=None)),
            ProviderReply("ab", "other", 300, 5, None, f"{peers.MODEL}-12-2025"),
        ),
    ],
)
def test_answers_and_stops_are_outcomes(peer, behaviour, expected):
    peer.next(behaviour)

    assert provider_at(peer).send(call()) == expected


@pytest.mark.parametrize(
    ("behaviour", "kind", "is_retryable", "wait", "message"),
    [
        (peers.WRONG_KEY, "key", False, None, "Google refused the API key."),
        (peers.WRONG_MODEL, "model", False, None, "Google does not know this model (“models/nobody is"),
        (peers.TOO_MANY, "rate_limit", True, 17.5, "Google is asked too often"),
        (peers.TOO_MANY_HEADER, "rate_limit", True, 2.0, "Google is asked too often"),
        (peers.DAY_IS_OVER, "quota", False, None, "Today's quota of this key is used up."),
        (peers.WRONG_PLACE, "request", False, None, "The server refused the request (“User location is not"),
        (peers.BROKEN, "server", True, None, "The server failed"),
        (peers.OVERLOADED, "overloaded", True, None, "The server is overloaded"),
        (peers.TOO_SLOW, "timeout", True, None, "The server behind the address"),
        (peers.LIMITED, "key", False, None, "Google has limited this account."),
        (page(), "not_json", False, None, "The address answered with a web page (“Welcome to nginx!”)"),
        (raw(b"{}"), "not_json", False, None, "The server's answer has no candidate."),
        (raw(b"[]"), "not_json", False, None, "The server's answer has no JSON object."),
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


def test_key_that_the_server_repeats_is_taken_out_of_the_message(peer):
    peer.next(peers.error(403, "PERMISSION_DENIED", f"The key {peers.KEY} is suspended."))

    failure = failure_of(provider_at(peer))

    assert failure.kind == "key"
    assert "The key [key removed] is suspended" in failure.message


def test_nothing_is_sent_without_a_key(peer):
    n_before = len(peer.requests)

    failure = failure_of(provider_at(peer, key=""))

    assert (failure.kind, failure.message) == ("key", "This system has no Gemini API key. Choose one.")
    assert len(peer.requests) == n_before


def test_key_with_a_line_break_is_refused_when_the_system_is_loaded(peer):
    with pytest.raises(SutError) as caught:
        provider_at(peer, key="AIza\n12345678")

    assert caught.value.field == "api_key"


def test_description_is_the_request_without_key_and_picture(peer):
    provider = provider_at(peer, thinking="minimal", max_output_tokens=64)

    shown = provider.describe(call())
    provider.send(call())

    sent = peer.requests[-1].body
    sent["contents"][0]["parts"][0]["inlineData"]["data"] = call().picture_words
    assert shown["body"] == sent
    assert shown["address"] == f"POST {peer.url}{peers.PATH}"
    assert shown["headers"]["x-goog-api-key"] == "<key>"


def test_remote_system_tries_again_after_the_time_google_names(peer):
    waits = []
    provider = provider_at(peer)
    sut = RemoteSut(provider, settings_of(), context=SutContext(), sleep=waits.append)
    peer.next(peers.TOO_MANY_HEADER)

    (reply,) = sut.generate([SutRequest(picture(), "hi")])

    assert (reply.text, reply.n_attempts, reply.call_error) == ("hi: 40 x 30", 2, "")
    assert sum(waits) >= 2
    sut.close()


@pytest.mark.parametrize(
    ("model", "level", "expected"),
    [
        ("gemini-3-flash-preview", "minimal", {"thinkingLevel": "MINIMAL"}),
        ("gemini-3-flash-preview", "low", {"thinkingLevel": "LOW"}),
        ("gemini-3-flash-preview", "medium", {"thinkingLevel": "MEDIUM"}),
        ("gemini-3-flash-preview", "high", {"thinkingLevel": "HIGH"}),
        ("gemini-3.1-pro-preview", "medium", {"thinkingLevel": "MEDIUM"}),
        ("gemini-4-argon", "high", {"thinkingLevel": "HIGH"}),
        ("gemini-3.5-flash", "minimal", {"thinkingLevel": "MINIMAL"}),
        ("gemini-flash-latest", "low", {"thinkingLevel": "LOW"}),
        ("gemini-2.5-flash", "off", {"thinkingBudget": 0}),
        ("gemini-2.5-flash", "minimal", {"thinkingBudget": 512}),
        ("gemini-2.5-pro", "high", {"thinkingBudget": 24_576}),
        ("gemini-2.0-flash", "off", None),
        ("gemini-3-flash-preview", "default", None),
    ],
)
def test_thinking_level_is_sent_as_the_model_takes_it(peer, model, level, expected):
    provider = provider_at(peer, model=model, thinking=level, max_output_tokens=30_000)

    config = provider.describe(call())["body"]["generationConfig"]

    assert config.get("thinkingConfig") == expected


@pytest.mark.parametrize(
    ("values", "field", "message"),
    [
        ({"thinking": "off"}, "thinking", "gemini-3-flash-preview always thinks. Choose minimal, its least"),
        (
            {"model": "gemini-4-argon", "thinking": "off"},
            "thinking",
            "gemini-4-argon always thinks. Choose low",
        ),
        (
            {"model": "gemini-3.8-flash", "thinking": "minimal"},
            "thinking",
            "gemini-3.8-flash has no level below",
        ),
        ({"model": "gemini-4-argon", "thinking": "minimal"}, "thinking", "gemini-4-argon has no level below"),
        ({"model": "gemini-3-pro-preview", "thinking": "medium"}, "thinking", "gemini-3-pro-preview has the"),
        ({"model": "gemini-2.5-pro", "thinking": "off"}, "thinking", "gemini-2.5-pro always thinks."),
        ({"model": "gemini-2.0-flash", "thinking": "low"}, "thinking", "gemini-2.0-flash cannot think."),
        (
            {"thinking": "high", "max_output_tokens": 1024},
            "max_output_tokens",
            "Thinking is part of the reply",
        ),
        (
            {"model": "gemini-2.5-flash", "thinking": "medium", "max_output_tokens": 8192},
            "max_output_tokens",
            "Thinking is part of the reply, and 8,192 tokens",
        ),
        (
            {"model": "gemini-4-argon", "temperature": 0.0},
            "temperature",
            "gemini-4-argon takes no temperature.",
        ),
        ({"model": "tuned/../../files"}, "model", "“tuned/../../files” is not the name of a Gemini model."),
    ],
)
def test_settings_that_google_refuses_are_refused_at_registration(values, field, message):
    with pytest.raises(ConfigError) as caught:
        check_params(settings_of(**values))

    assert caught.value.field == field
    assert str(caught.value).startswith(message)


NAMES = (
    "candidates", "content", "parts", "text", "thought", "finishReason", "usageMetadata", "promptFeedback",
    "blockReason", "modelVersion", "thoughtsTokenCount", "error", "details", "reason", "violations",
    "quotaId", "retryDelay",
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(NAMES), strange_json(*NAMES), max_size=6))
def test_reader_takes_any_json_and_raises_call_failures_only(answer):
    try:
        reply = read_reply(answer)
    except CallFailure:
        return
    assert isinstance(reply.text, str)
    assert reply.output_tokens is None or reply.output_tokens >= 0


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
@given(strange_json(*NAMES), st.sampled_from((400, 403, 404, 429, 500)))
def test_any_error_answer_is_explained(body, code):
    failure = explain(code, body, CallFailure("server", "It failed.", is_retryable=True))

    assert failure.message.endswith((".", "”"))
