"""Bedrock's Converse: boto3's real client, stubbed before a socket is opened."""

import json
import logging
import subprocess
import sys
from types import SimpleNamespace

import pytest
from botocore import exceptions
from botocore.awsrequest import AWSResponse
from botocore.stub import Stubber
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.peers.calls import call, failure_of, picture, strange_json
from vlmlab.core.errors import ConfigError, SutError
from vlmlab.core.suts.base import SutRequest
from vlmlab.core.suts.bedrock import BedrockProvider, check_params, key_parts, new_client, read_reply
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.kinds import parse_params
from vlmlab.core.suts.provider import CallFailure, ProviderReply
from vlmlab.core.suts.remote import RemoteSut

MODEL = "us.anthropic.claude-haiku-4-5-20251001-v1:0"
SECRET = "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"
KEY = f"AKIAIOSFODNN7EXAMPLE:{SECRET}"


def settings_of(**values):
    return parse_params("bedrock", {"model": MODEL, "region": "eu-central-1", **values})


def answer(*blocks, stop="end_turn"):
    return {
        "output": {"message": {"role": "assistant", "content": list(blocks)}},
        "stopReason": stop,
        "usage": {"inputTokens": 300, "outputTokens": 5, "totalTokens": 305},
        "metrics": {"latencyMs": 700},
    }


@pytest.fixture(scope="module")
def client():
    return new_client(settings_of(), key_parts(KEY))


@pytest.fixture
def stub(client):
    with Stubber(client) as active:
        yield active
        active.assert_no_pending_responses()


@pytest.fixture
def provider_of(client):
    def make(**values):
        return BedrockProvider(
            settings_of(**values),
            SutContext(api_key=KEY),
            make_client=lambda _params, _key: client,
            now=lambda: 1_800_000_000.0,
        )

    return make


def test_request_passes_botocores_own_model_of_converse(stub, provider_of):
    wanted = {
        "modelId": MODEL,
        "messages": [
            {
                "role": "user",
                "content": [
                    {"image": {"format": "png", "source": {"bytes": picture()}}},
                    {"text": "Where is the cup?"},
                ],
            }
        ],
        "inferenceConfig": {"maxTokens": 3000},
        "system": [{"text": "Be short."}],
        "additionalModelRequestFields": {
            "thinking": {"type": "enabled", "budget_tokens": 2048},
            "top_k": 1,
        },
    }
    stub.add_response("converse", answer({"text": "A"}), wanted)
    provider = provider_of(
        system_prompt="Be short.", max_output_tokens=3000, thinking="low", extra_fields={"top_k": 1}
    )

    reply = provider.send(call())

    assert reply == ProviderReply("A", "stop", 300, 5)


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (
            answer(
                {"reasoningContent": {"reasoningText": {"text": "It is red.", "signature": "s"}}},
                {"text": "B"},
            ),
            ProviderReply("B", "stop", 300, 5),
        ),
        (answer({"text": "[{"}, stop="max_tokens"), ProviderReply("[{", "length", 300, 5)),
        (answer(stop="guardrail_intervened"), ProviderReply("", "safety", 300, 5)),
        (answer(stop="content_filtered"), ProviderReply("", "safety", 300, 5)),
        (answer(stop="model_context_window_exceeded"), ProviderReply("", "length", 300, 5)),
        (answer(stop="malformed_model_output"), ProviderReply("", "other", 300, 5)),
        (answer(stop="refusal"), ProviderReply("", "refusal", 300, 5)),
    ],
)
def test_answers_and_stops_are_outcomes(stub, provider_of, response, expected):
    stub.add_response("converse", response)

    assert provider_of().send(call()) == expected


def test_a_bug_is_no_failure_of_the_call():
    provider = BedrockProvider(
        settings_of(), SutContext(), make_client=lambda _params, _key: None
    )  # has no converse

    with pytest.raises(AttributeError):
        provider.send(call())


def answering(client, *answers):
    """Answer in place of the network; return what was to be sent."""
    sent, left = [], list(answers)

    def before_send(request, **_rest):
        sent.append(request)
        status, headers, body = left.pop(0)
        response = AWSResponse(request.url, status, headers, None)
        response._content = body
        return response

    client.meta.events.register("before-send.bedrock-runtime.Converse", before_send)
    return sent


def test_description_is_what_goes_over_the_wire():
    client = new_client(settings_of(), key_parts(KEY))
    sent = answering(client, (200, {}, json.dumps(answer({"text": "A"})).encode()))
    provider = BedrockProvider(
        settings_of(temperature=0.0), SutContext(api_key=KEY), make_client=lambda _params, _key: client
    )

    shown = provider.describe(call())
    provider.send(call())

    body = json.loads(sent[0].body)
    body["messages"][0]["content"][0]["image"]["source"]["bytes"] = call().picture_words
    assert shown["body"] == body
    assert shown["address"] == f"POST {sent[0].url}"
    assert KEY.partition(":")[0] in str(sent[0].headers["Authorization"])
    assert "AKIA" not in json.dumps(shown)


def test_boto3_never_tries_again_by_itself_and_reads_retry_after():
    client = new_client(settings_of(), key_parts(KEY))
    error = json.dumps({"message": "Too many requests", "__type": "ThrottlingException"}).encode()
    sent = answering(client, (429, {"x-amzn-errortype": "ThrottlingException", "Retry-After": "4"}, error))
    provider = BedrockProvider(
        settings_of(), SutContext(api_key=KEY), make_client=lambda _params, _key: client
    )

    failure = failure_of(provider)

    assert len(sent) == 1
    assert (failure.kind, failure.retry_after_s) == ("rate_limit", 4.0)


def test_key_stays_out_of_the_finest_log(caplog):
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, logger="botocore")
    key = f"{KEY}:FQoGZXIvYXdzEXAMPLETOKEN"
    client = new_client(settings_of(), key_parts(key))
    sent = answering(client, (200, {}, json.dumps(answer({"text": "A"})).encode()))
    provider = BedrockProvider(
        settings_of(), SutContext(api_key=key), make_client=lambda _params, _key: client
    )

    provider.send(call())

    assert sent[0].headers["X-Amz-Security-Token"] == b"FQoGZXIvYXdzEXAMPLETOKEN"
    assert [part for part in key_parts(key) if part in caplog.text] == []


def test_web_page_in_place_of_an_answer_is_a_failure():
    client = new_client(settings_of(), key_parts(KEY))
    answering(client, (200, {"Content-Type": "text/html"}, b"<html><title>Proxy</title></html>"))
    provider = BedrockProvider(
        settings_of(), SutContext(api_key=KEY), make_client=lambda _params, _key: client
    )

    assert failure_of(provider).kind == "not_json"


def test_model_timeout_is_tried_twice_at_most(stub, provider_of):
    for _ in range(2):
        stub.add_client_error("converse", "ModelTimeoutException", "slow", http_status_code=408)
    sut = RemoteSut(provider_of(), settings_of(), context=SutContext(), sleep=lambda _seconds: None)

    (reply,) = sut.generate([SutRequest(picture(), "hi")])

    assert reply.n_attempts == 2
    assert reply.call_error.startswith("The model did not answer Bedrock in time.")


def test_client_is_bound_to_region_time_limit_and_one_try():
    config = new_client(settings_of(timeout_s=30, concurrency=7), key_parts(KEY)).meta.config

    assert config.region_name == "eu-central-1"
    assert (config.read_timeout, config.connect_timeout, config.max_pool_connections) == (30, 10, 7)
    assert config.retries == {"total_max_attempts": 1, "mode": "standard"}


@pytest.mark.parametrize(
    ("key", "expected"),
    [("", ()), ("AKIA:secret", ("AKIA", "secret")), ("ASIA:secret:token==", ("ASIA", "secret", "token=="))],
)
def test_key_has_two_or_three_parts(key, expected):
    assert key_parts(key) == expected


@pytest.mark.parametrize("key", ["AKIA", ":secret", "AKIA:", "AKIA:sec ret", "AKIA:secret:"])
def test_key_of_another_form_is_refused_without_repeating_it(key):
    with pytest.raises(SutError) as caught:
        BedrockProvider(settings_of(), SutContext(api_key=key))

    assert caught.value.field == "api_key"
    assert str(caught.value) == (
        "The key is not of the form that AWS uses. Write ACCESS_KEY_ID:SECRET_ACCESS_KEY, with "
        ":SESSION_TOKEN behind it for temporary ones."
    )


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"model": "amazon.nova-pro-v1:0", "thinking": "low"}, "thinking"),
        ({"thinking": "low", "max_output_tokens": 2048}, "max_output_tokens"),
        ({"thinking": "off", "extra_fields": {"thinking": {"type": "enabled"}}}, "extra_fields"),
        ({"max_image_side": 2000}, "max_image_side"),
        ({"model": "us.anthropic.claude-opus-4-7", "temperature": 0.0}, "temperature"),
    ],
)
def test_settings_that_bedrock_refuses_are_refused_at_registration(values, field):
    with pytest.raises(ConfigError) as caught:
        check_params(settings_of(**values))

    assert caught.value.field == field


def test_picture_that_claude_would_scale_down_is_not_sent(provider_of):
    with pytest.raises(CallFailure) as caught:
        provider_of().send(call(size=(1120, 1120)))

    assert caught.value.kind == "too_large"


def test_other_models_take_larger_pictures_and_their_own_switches(stub, provider_of):
    stub.add_response("converse", answer({"text": "A"}))
    provider = provider_of(
        model="amazon.nova-pro-v1:0", max_image_side=2000, extra_fields={"inferenceConfig": {"topK": 1}}
    )

    assert provider.send(call(size=(1120, 1120))).text == "A"


def test_describing_a_request_does_not_import_boto3():
    script = (
        "import sys; from tests.peers.calls import call\n"
        "from vlmlab.core.suts.bedrock import BedrockProvider\n"
        "from vlmlab.core.suts.context import SutContext\n"
        "from vlmlab.core.suts.kinds import parse_params\n"
        f"provider = BedrockProvider(parse_params('bedrock', {{'model': '{MODEL}'}}), SutContext())\n"
        "assert provider.describe(call())['address'].startswith('POST https://bedrock-runtime.us-east-1.')\n"
        "print([name for name in ('boto3', 'botocore') if name in sys.modules])"
    )

    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout

    assert loaded.strip() == "[]"


NAMES = (
    "output",
    "message",
    "content",
    "text",
    "stopReason",
    "usage",
    "inputTokens",
    "outputTokens",
    "trace",
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(NAMES), strange_json(*NAMES), max_size=6))
def test_reader_takes_any_json_and_raises_call_failures_only(reply):
    try:
        read = read_reply(reply)
    except CallFailure:
        return
    assert isinstance(read.text, str)
    assert read.output_tokens is None or read.output_tokens >= 0


@pytest.mark.parametrize("model", ["..", "./x", "/x", "a/../b", "a//b", "a/"])
def test_a_model_id_that_leads_elsewhere_is_refused(model):
    with pytest.raises(ConfigError) as refusal:
        check_params(settings_of(model=model))

    assert refusal.value.field == "model"


def sent_by(client) -> dict:
    """Return the address and the Authorization of a call, which is not sent."""
    sent = {}

    def answer_for(request, **_values):
        sent.update(url=request.url, authorization=request.headers["Authorization"])
        return AWSResponse(request.url, 503, {}, SimpleNamespace(stream=lambda *_a, **_k: iter([b"{}"])))

    client.meta.events.register("before-send.bedrock-runtime.Converse", answer_for)
    with pytest.raises(exceptions.ClientError):
        client.converse(modelId="m", messages=[{"role": "user", "content": [{"text": "x"}]}])
    return sent


def test_the_chosen_key_and_the_shown_address_stand_above_the_workers_surroundings(monkeypatch):
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "another-accounts-key")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "https://elsewhere.example.com")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")

    client = new_client(settings_of(), key_parts(KEY))
    sent = sent_by(client)

    assert sent["url"] == "https://bedrock-runtime.eu-central-1.amazonaws.com/model/m/converse"
    assert b"Credential=AKIAIOSFODNN7EXAMPLE/" in bytes(str(sent["authorization"]), "ascii")
    assert client._endpoint.http_session._proxy_config._proxies == {}


def test_without_a_key_the_workers_own_credentials_are_used(monkeypatch):
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "the-workers-own-key")

    assert "the-workers-own-key" in str(sent_by(new_client(settings_of(), ()))["authorization"])
