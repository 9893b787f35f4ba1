"""Pictures from OpenAI's protocol: against a peer that the official client also talks to."""

import base64

import openai
import pytest
from hypothesis import given, settings

from tests.peers import openai_images as peers
from tests.peers.calls import strange_json
from tests.peers.openai_chat import KEY, NO_CREDIT, WRONG_KEY, error
from tests.peers.pictures import drawn
from tests.peers.server import Peer, page, raw, redirect, status
from vlmlab.core.errors import SutError
from vlmlab.core.scenes.prompts_for_pictures import PicturePrompt
from vlmlab.core.scenes.render.backend_kinds import BackendContext
from vlmlab.core.scenes.render.image_api_openai import OpenAIImages, check_openai, read_picture
from vlmlab.core.scenes.render.image_api_params import ImageApiParams
from vlmlab.core.suts.provider import CallFailure

PROMPT = PicturePrompt("A cone on a road.", ("text",))
PNG = drawn("red", (40, 30))


def settings_at(peer, **values):
    return ImageApiParams(
        **{
            "provider": "openai",
            "model": peers.MODEL,
            "base_url": f"{peer.url}/v1",
            "timeout_s": 60,
            **values,
        }
    )


def provider_at(peer, *, key=KEY, **values):
    return OpenAIImages(settings_at(peer, **values), BackendContext(network=peer.policy, api_key=key))


def failure_of(provider):
    with pytest.raises(CallFailure) as caught:
        provider.make(PROMPT, width=448, height=336, seed=7)
    return caught.value


@pytest.fixture(scope="module")
def peer():
    with peers.openai_images_peer() as running:
        yield running


@pytest.fixture(scope="module")
def official(peer):
    return openai.OpenAI(api_key=KEY, base_url=f"{peer.url}/v1", max_retries=0)


def test_what_is_sent_is_what_the_official_client_sends(peer, official):
    made = provider_at(peer, quality="medium").make(PROMPT, width=448, height=336, seed=7)
    ours = peer.requests[-1]
    answer = official.images.generate(
        model=peers.MODEL, prompt=PROMPT.whole, n=1, size="1536x1024", quality="medium"
    )
    theirs = peer.requests[-1]

    assert (ours.path, ours.body) == (theirs.path, theirs.body)
    assert ours.headers["authorization"] == theirs.headers["authorization"]
    assert made.content == base64.b64decode(answer.data[0].b64_json)
    assert (made.input_tokens, made.output_tokens) == (answer.usage.input_tokens, answer.usage.output_tokens)


@pytest.mark.parametrize(
    ("behaviour", "raised"),
    [
        (peers.BLOCKED, openai.BadRequestError),
        (peers.TOO_MANY, openai.RateLimitError),
        (WRONG_KEY, openai.AuthenticationError),
        (peers.BROKEN, openai.InternalServerError),
    ],
)
def test_official_client_takes_the_peers_errors_for_openais(peer, official, behaviour, raised):
    peer.next(behaviour)

    with pytest.raises(raised):
        official.images.generate(model=peers.MODEL, prompt="x")


def test_the_peer_refuses_what_openai_refuses(peer):
    seeded, odd = provider_at(peer, sends_seed=True), provider_at(peer, size="448x336")

    assert "Unknown parameter: 'seed'" in failure_of(seeded).message
    assert "Invalid size '448x336'" in failure_of(odd).message


@pytest.mark.parametrize(
    ("wanted", "size"), [((448, 336), "1536x1024"), ((400, 400), "1024x1024"), ((300, 500), "1024x1536")]
)
def test_the_size_nearest_in_ratio_is_asked_for(peer, wanted, size):
    provider_at(peer).make(PROMPT, width=wanted[0], height=wanted[1], seed=1)

    assert peer.requests[-1].body["size"] == size


def test_a_server_of_ones_own_gets_seed_exact_size_format_and_further_fields_and_no_key():
    with Peer({peers.PATH: peers.drawing_anything}) as own:
        provider = provider_at(
            own, key="", sends_seed=True, size="exact", asks_for_base64=True, extra_body={"steps": 4}
        )
        provider.make(PROMPT, width=450, height=330, seed=9)

    asked = own.requests[0]
    assert asked.body == {
        "model": peers.MODEL, "prompt": PROMPT.whole, "n": 1, "size": "464x336", "seed": 9,
        "response_format": "b64_json", "steps": 4,
    }  # fmt: skip
    assert "authorization" not in asked.headers


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (peers.BLOCKED, "safety_violations=[violence]"),
        (peers.REJECTED, "safety system"),
        (error(403, "Blocked.", name="content_policy_violation"), "Blocked"),
        (status(200, {"error": {"message": "x", "code": "content_filter"}}), "x"),
        (status(200, {"data": [{"error": "The prompt was not drawn."}]}), "The prompt was not drawn"),
    ],
)
def test_a_filters_answer_is_a_refusal_that_says_why(peer, behaviour, words):
    peer.next(behaviour)

    failure = failure_of(provider_at(peer))

    assert (failure.kind, failure.is_retryable, words in failure.message) == ("filtered", False, True)


@pytest.mark.parametrize(
    ("behaviour", "kind", "is_retryable"),
    [
        (peers.LINK, "request", False),
        (peers.EMPTY, "not_json", False),
        (peers.WRONG_SIZE, "request", False),
        (peers.TOO_MANY, "rate_limit", True),
        (peers.BROKEN, "server", True),
        (NO_CREDIT, "quota", False),
        (WRONG_KEY, "key", False),
        (page(), "not_json", False),
        (redirect("https://elsewhere.example.com/"), "address", False),
        (status(200, {"data": [{"b64_json": "QUJD" * 20 + "Q"}]}), "not_json", False),
        (status(200, {"data": [{"b64_json": 7}]}), "not_json", False),
        (raw(b'{"data": [{"b64_json": "' + b"A" * 16_100_000 + b'"}]}'), "too_large", False),
    ],
)
def test_every_other_answer_without_a_picture_has_its_kind_and_no_key(peer, behaviour, kind, is_retryable):
    peer.next(behaviour)

    failure = failure_of(provider_at(peer))

    assert (failure.kind, failure.is_retryable, KEY in failure.message) == (kind, is_retryable, False)


def test_a_link_says_which_setting_to_change(peer):
    peer.next(peers.LINK)

    assert "Ask for the picture itself" in failure_of(provider_at(peer)).message


def test_the_providers_own_words_for_a_prompt_are_kept(peer):
    peer.next(peers.picture_of(PNG, revised_prompt="A tall cone."))

    made = provider_at(peer).make(PROMPT, width=40, height=30, seed=1)

    assert (made.content, made.revised_prompt) == (PNG, "A tall cone.")


def test_openai_itself_is_not_asked_without_a_key():
    params = ImageApiParams(provider="openai", model=peers.MODEL)

    failure = failure_of(OpenAIImages(params, BackendContext()))

    assert failure.kind == "key"


def test_an_address_that_is_not_allowed_is_refused():
    params = ImageApiParams(provider="openai", model="x", base_url="http://192.168.1.7:8080/v1")

    with pytest.raises(SutError) as refusal:
        OpenAIImages(params, BackendContext())

    assert refusal.value.field == "base_url"


def test_check_asks_for_the_list_of_models_and_a_server_without_one_passes(peer):
    before = len(peer.requests)
    check_openai(settings_at(peer), BackendContext(network=peer.policy, api_key=KEY))
    with Peer({peers.PATH: peers.drawing_anything}) as own:
        check_openai(settings_at(own), BackendContext(network=own.policy))

    with pytest.raises(CallFailure) as wrong_key:
        check_openai(settings_at(peer), BackendContext(network=peer.policy, api_key="sk-wrong-key-123456"))

    asked = [(one.method, one.path) for one in (*peer.requests[before:], *own.requests)]
    assert set(asked) == {("GET", peers.MODELS_PATH)}
    assert wrong_key.value.kind == "key"


def test_check_says_that_no_server_listens(peer):
    with Peer({}) as gone:
        params, policy = settings_at(gone), gone.policy

    with pytest.raises(CallFailure) as failure:
        check_openai(params, BackendContext(network=policy))

    assert failure.value.kind == "connection"


def outcome(body):
    try:
        return "picture" if isinstance(read_picture(body).content, bytes) else "nothing"
    except CallFailure as failure:
        return failure.kind


@given(strange_json("data", "b64_json", "url", "error", "code", "revised_prompt", "usage", "input_tokens"))
@settings(max_examples=80, deadline=None)
def test_any_answer_gives_a_picture_or_a_failure(answer):
    body = answer if isinstance(answer, dict) else {"data": answer}

    assert outcome(body) in {"picture", "not_json", "filtered", "key", "request", "model", "address", "quota",
                             "server", "overloaded", "timeout", "rate_limit", "too_large"}  # fmt: skip
