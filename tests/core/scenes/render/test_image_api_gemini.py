"""Pictures from Gemini: against a peer that Google's official client also talks to."""

import pytest
from google import genai
from google.genai import types
from hypothesis import given, settings

from tests.peers import gemini_images as peers
from tests.peers.calls import strange_json
from tests.peers.gemini import KEY, TOO_MANY, WRONG_KEY, content, read
from tests.peers.pictures import drawn
from tests.peers.server import dropped, raw, redirect, slow, status
from vlmlab.core.errors import ConfigError
from vlmlab.core.scenes.prompts_for_pictures import PicturePrompt
from vlmlab.core.scenes.render.backend_kinds import BackendContext
from vlmlab.core.scenes.render.image_api_gemini import GeminiImages, check_gemini, read_picture
from vlmlab.core.scenes.render.image_api_params import ImageApiParams
from vlmlab.core.suts.provider import CallFailure

PROMPT = PicturePrompt("A cone on a road.", ("text",))
PNG = drawn("red", (40, 30))


def settings_of(**values):
    return ImageApiParams(**{"provider": "gemini", "model": peers.MODEL, "timeout_s": 60, **values})


def provider_at(peer, *, key=KEY, **values):
    return GeminiImages(
        settings_of(**values), BackendContext(network=peer.policy, api_key=key), base_url=peer.url
    )


def failure_of(provider):
    with pytest.raises(CallFailure) as caught:
        provider.make(PROMPT, width=448, height=336, seed=7)
    return caught.value


@pytest.fixture(scope="module")
def peer():
    with peers.gemini_images_peer() as running:
        yield running


def test_what_is_sent_is_what_the_official_client_sends(peer):
    provider = provider_at(peer, sends_seed=True, resolution="1K")

    made = provider.make(PROMPT, width=448, height=336, seed=2**31 + 7)
    ours = peer.requests[-1]
    client = genai.Client(
        api_key=KEY,
        http_options=types.HttpOptions(
            base_url=peer.url, api_version="v1beta", retry_options=types.HttpRetryOptions(attempts=1)
        ),
    )
    answer = client.models.generate_content(
        model=peers.MODEL,
        contents=PROMPT.whole,
        config=types.GenerateContentConfig(
            response_modalities=["IMAGE"],
            seed=7,
            image_config=types.ImageConfig(aspect_ratio="4:3", image_size="1K"),
        ),
    )
    theirs = peer.requests[-1]

    assert (ours.path, read(ours)) == (theirs.path, read(theirs))
    assert made.content == answer.candidates[0].content.parts[0].inline_data.data
    assert (made.model, made.input_tokens, made.output_tokens) == (peers.MODEL, 300, 5)


def test_official_client_takes_the_peers_refusals_for_googles(peer):
    client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=peer.url))
    peer.next(peers.PROMPT_BLOCKED, peers.PICTURE_BLOCKED)

    blocked, stopped = (
        client.models.generate_content(model=peers.MODEL, contents="A child near a fire.") for _ in range(2)
    )

    assert blocked.prompt_feedback.block_reason == types.BlockedReason.PROHIBITED_CONTENT
    assert stopped.candidates[0].finish_reason == types.FinishReason.IMAGE_SAFETY


def test_the_seed_is_left_out_unless_it_is_wanted(peer):
    provider_at(peer).make(PROMPT, width=640, height=360, seed=7)

    config = peer.requests[-1].body["generationConfig"]
    assert config == {"responseModalities": ["IMAGE"], "imageConfig": {"aspectRatio": "16:9"}}


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (peers.PROMPT_BLOCKED, "PROHIBITED_CONTENT"),
        (peers.PICTURE_BLOCKED, "IMAGE_SAFETY"),
        (peers.NO_IMAGE, "NO_IMAGE"),
        (peers.ONLY_WORDS, "I cannot draw a child near a stove"),
    ],
)
def test_a_blocked_prompt_or_picture_is_a_refusal_that_says_why(peer, behaviour, words):
    peer.next(behaviour)

    failure = failure_of(provider_at(peer))

    assert (failure.kind, failure.is_retryable, words in failure.message) == ("filtered", False, True)


@pytest.mark.parametrize(
    ("behaviour", "kind", "is_retryable"),
    [
        (peers.NO_CANDIDATE, "not_json", False),
        (peers.LIMITED, "key", False),
        (WRONG_KEY, "key", False),
        (peers.WRONG_MODEL, "model", False),
        (TOO_MANY, "rate_limit", True),
        (raw(b"<html>"), "not_json", False),
        (raw(b"[" * 100_000), "not_json", False),
        (redirect("https://elsewhere.example.com/"), "address", False),
        (dropped(20, peers.picture_of(PNG)), "connection", True),
        (status(200, content({"inlineData": {"mimeType": "image/png", "data": "!!"}})), "not_json", False),
        (status(200, content({"inlineData": {"data": "QUJD" * 30 + "Q"}})), "not_json", False),
        (raw(b"x" * 16_100_000), "too_large", False),
    ],
)
def test_every_other_answer_without_a_picture_has_its_kind_and_no_key(peer, behaviour, kind, is_retryable):
    peer.next(behaviour)

    failure = failure_of(provider_at(peer))

    assert (failure.kind, failure.is_retryable, KEY in failure.message) == (kind, is_retryable, False)


def test_a_picture_that_comes_too_late_is_a_timeout(peer):
    peer.next(slow(600, peers.picture_of(PNG)))

    failure = failure_of(provider_at(peer, timeout_s=1.0))

    assert (failure.kind, failure.is_retryable, KEY in failure.message) == ("timeout", True, False)


def test_a_draft_of_a_thinking_model_is_no_answer(peer):
    draft = {**peers.picture_part(drawn("draft", (8, 8))), "thought": True}
    peer.next(status(200, content(draft, {"text": "Here."}, peers.picture_part(PNG))))

    made = provider_at(peer).make(PROMPT, width=40, height=30, seed=1)

    assert made.content == PNG


def test_without_a_key_nothing_is_sent(peer):
    before = len(peer.requests)

    assert failure_of(provider_at(peer, key="")).kind == "key"
    assert len(peer.requests) == before


def test_a_name_that_is_no_gemini_model_is_refused():
    with pytest.raises(ConfigError) as error:
        GeminiImages(settings_of(model="../v1/other"), BackendContext(api_key=KEY))

    assert error.value.field == "model"


def test_check_asks_for_the_model_only_and_says_what_is_wrong(peer):
    good = BackendContext(network=peer.policy, api_key=KEY)
    bad = BackendContext(network=peer.policy, api_key="AIza" + "x" * 35)
    before = len(peer.requests)

    check_gemini(settings_of(), good, base_url=peer.url)
    with pytest.raises(CallFailure) as wrong_key:
        check_gemini(settings_of(), bad, base_url=peer.url)
    with pytest.raises(CallFailure) as wrong_model:
        check_gemini(settings_of(model="nobody"), good, base_url=peer.url)

    asked = [(one.method, one.path) for one in peer.requests[before:]]
    assert asked[0] == ("GET", peers.MODEL_PATH)
    assert {method for method, _ in asked} == {"GET"}
    assert (wrong_key.value.kind, wrong_model.value.kind) == ("key", "model")


def outcome(body):
    try:
        return "picture" if isinstance(read_picture(body).content, bytes) else "nothing"
    except CallFailure as failure:
        return failure.kind


@given(strange_json("candidates", "content", "parts", "inlineData", "data", "promptFeedback", "finishReason"))
@settings(max_examples=80, deadline=None)
def test_any_answer_gives_a_picture_or_a_failure(answer):
    body = answer if isinstance(answer, dict) else {"candidates": answer}

    assert outcome(body) in {"picture", "not_json", "filtered", "key"}
