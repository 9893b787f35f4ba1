"""The chat completions protocol against a real server, also asked by OpenAI's own client."""

import base64
import json
import logging
import threading
import time
import traceback

import openai
import pytest

from tests.doubles import paint_png
from tests.patience import PATIENCE_SECONDS
from tests.peers import openai_chat as wire
from tests.peers.server import dropped, page, redirect, slow, status
from vlmlab.core.errors import SutError
from vlmlab.core.suts.base import SutRequest
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.openai_chat import OpenAIChatProvider
from vlmlab.core.suts.provider import CallFailure, ProviderCall
from vlmlab.core.suts.remote import RemoteSut
from vlmlab.core.suts.remote_params import OpenAIChatParams
from vlmlab.core.suts.retry import RetryPolicy

PICTURE = paint_png((200, 10, 10), width=64, height=48)
CALL = ProviderCall(PICTURE, (64, 48), "What is red?")
QUICK = RetryPolicy(most_tries=3, first_delay_s=0.0, longest_delay_s=0.0)


@pytest.fixture
def peer():
    with wire.openai_peer() as server:
        yield server


@pytest.fixture
def make(peer):
    """Make systems that talk to the peer; waits are skipped and remembered."""
    made = []

    def build(*, key=wire.KEY, retries=QUICK, **values) -> RemoteSut:
        params = OpenAIChatParams.model_validate(
            {"model": wire.MODEL, "base_url": f"{peer.url}/v1", **values}
        )
        context = SutContext(network=peer.policy, api_key=key)
        waits: list[float] = []
        sut = RemoteSut(
            OpenAIChatProvider(params, context), params, context=context, sleep=waits.append, retries=retries
        )
        sut.waits = waits
        made.append(sut)
        return sut

    yield build
    for sut in made:
        sut.close()


def ask(sut: RemoteSut, prompt: str = "What is red?"):
    return sut.generate([SutRequest(PICTURE, prompt)])[0]


def test_the_request_has_only_what_was_declared(peer, make):
    ask(make())

    assert peer.requests[0].body == {
        "model": wire.MODEL,
        "messages": [
            {
                "role": "user",
                "content": [
                    {
                        "type": "image_url",
                        "image_url": {"url": "data:image/png;base64," + base64.b64encode(PICTURE).decode()},
                    },
                    {"type": "text", "text": "What is red?"},
                ],
            }
        ],
        "max_tokens": 1024,
    }
    assert peer.requests[0].path == "/v1/chat/completions"
    assert peer.requests[0].headers["authorization"] == f"Bearer {wire.KEY}"


def test_everything_that_was_declared_is_sent(peer, make):
    sut = make(
        system_prompt="Be brief.", temperature=0, thinking="high", token_limit_name="max_completion_tokens",
        max_output_tokens=77, image_detail="high", max_image_side=64,
        extra_body={"seed": 3, "chat_template_kwargs": {"enable_thinking": False}},
    )  # fmt: skip

    ask(sut)

    body = peer.requests[0].body
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert body["messages"][1]["content"][0]["image_url"]["detail"] == "high"
    assert {name: value for name, value in body.items() if name != "messages"} == {
        "model": wire.MODEL, "temperature": 0.0, "reasoning_effort": "high", "max_completion_tokens": 77,
        "seed": 3, "chat_template_kwargs": {"enable_thinking": False},
    }  # fmt: skip


def test_thinking_that_is_off_is_said_so(peer, make):
    ask(make(thinking="off"))

    assert peer.requests[0].body["reasoning_effort"] == "none"


def test_without_a_key_no_header_is_sent(peer, make):
    reply = ask(make(key=""))

    assert "authorization" not in peer.requests[0].headers
    assert reply.call_error.startswith("The server refused the API key.")


def test_a_picture_arrives_as_it_was_scaled(peer, make):
    reply = ask(make(max_image_side=64))

    small = make(max_image_side=64).generate(
        [SutRequest(paint_png((1, 1, 1), width=640, height=480), "Size")]
    )[0]

    assert (reply.text, reply.seen_size) == ("What is red?: 64 x 48", (64, 48))
    assert (small.text, small.seen_size) == ("Size: 64 x 48", (64, 48))


def test_an_answer_comes_with_its_tokens_and_model(make):
    reply = ask(make(input_price_usd=1, output_price_usd=10))

    assert (reply.input_tokens, reply.output_tokens, reply.reasoning_tokens) == (100, 5, None)
    assert reply.cost_usd == pytest.approx(0.00015)
    assert (reply.served_model, reply.finish_reason) == ("peer-vl-1-2026-11-01", "stop")


@pytest.mark.parametrize(
    ("behaviour", "text", "finish"),
    [
        (wire.TRUNCATED, '[{"bbox_2d": [1, 2', "length"),
        (wire.REFUSED, "I can't help with that.", "refusal"),
        (wire.FILTERED, "", "safety"),
        (wire.THOUGHT, "B", "stop"),
        (status(200, wire.completion(None, finish="tool_calls", tool_calls=[])), "", "other"),
        (status(200, wire.completion("A", finish="something new")), "A", "other"),
        (status(200, wire.completion([{"type": "text", "text": "A"}, {"text": "B"}])), "AB", "stop"),
        (status(200, wire.completion([{"type": "thinking", "text": "hm"}, {"text": "B"}])), "B", "stop"),
        (status(200, wire.completion("\u00e9\ud800 \x00")), "\u00e9\ud800 \x00", "stop"),
    ],
)  # fmt: skip
def test_what_a_model_does_is_an_outcome_and_never_tried_again(peer, make, behaviour, text, finish):
    peer.next(behaviour)

    reply = ask(make())

    assert (reply.text, reply.finish_reason, reply.call_error) == (text, finish, "")
    assert (reply.n_attempts, len(peer.requests)) == (1, 1)


def test_thinking_is_counted_and_not_part_of_the_answer(peer, make):
    peer.next(wire.THOUGHT)

    reply = ask(make())

    assert (reply.text, reply.output_tokens, reply.reasoning_tokens) == ("B", 40, 38)


@pytest.mark.parametrize(
    ("behaviour", "sentence"),
    [
        (wire.WRONG_KEY, "The server refused the API key. Check that the right one is chosen and valid."),
        (
            wire.WRONG_MODEL,
            "The server does not know this model (“The model `nobody-vl` does not exist”). "
            "Check the model's name.",
        ),
        (
            wire.NO_CREDIT,
            "The account has no credit left (“You exceeded your current quota”). Top it up, then resume.",
        ),
        (
            page("Sign in"),
            "The address answered with a web page (“Sign in”) instead of JSON. "
            "Check the address; it often ends in /v1.",
        ),
        (
            redirect("https://example.com/"),
            "The address redirects to another one (status 302), which is not followed. "
            "Write the final address.",
        ),
        (
            status(200, {"choices": []}),
            "The server's answer has no choice. Check that the address speaks the protocol of this kind.",
        ),
        (
            status(422, {"detail": [{"loc": ["body", "top_k"], "msg": "Extra inputs are not permitted"}]}),
            "The server does not take a field (“Extra inputs are not permitted”). "
            "Change the settings it names.",
        ),
        (
            status(200, {"error": {"message": "Model is too old", "code": 400}}),
            "The server refused the request (“Model is too old”). Change the settings it names.",
        ),
        (
            wire.error(413, "Request body too large"),
            "The request is too large for the server (“Request body too large”). Lower the longest side.",
        ),
    ],
)
def test_what_another_try_cannot_mend_is_said_at_once(peer, make, behaviour, sentence):
    peer.next(behaviour)

    reply = ask(make())

    assert reply.call_error == sentence
    assert (reply.n_attempts, len(peer.requests)) == (1, 1)


@pytest.mark.parametrize(
    "behaviour",
    [
        wire.TOO_MANY,
        wire.BROKEN,
        wire.error(503, "Loading model"),
        wire.error(529, "Overloaded"),
        wire.error(408, "Timeout"),
        page("Bad gateway", code=502),
        dropped(10, wire.TRUNCATED),
        dropped(0, wire.TRUNCATED),
        status(200, {"error": {"message": "Upstream is busy", "code": 502}}),
    ],
)
def test_what_another_try_may_mend_is_tried_again(peer, make, behaviour):
    peer.next(behaviour)

    reply = ask(make())

    assert (reply.text, reply.n_attempts, reply.call_error) == ("What is red?: 64 x 48", 2, "")


def test_the_wait_that_the_server_names_is_kept(peer, make):
    peer.next(wire.TOO_MANY)
    sut = make()

    ask(sut)

    assert max(sut.waits) == pytest.approx(2.0, abs=0.1)


def test_a_server_that_is_too_slow_is_given_up_on(peer, make):
    peer.next(slow(600, wire.TRUNCATED))

    reply = ask(make(timeout_s=1, retries=RetryPolicy(most_tries=1)))

    assert reply.call_error.startswith("In 1 seconds no complete answer came from 127.0.0.1:")
    assert reply.n_attempts == 1


def test_close_ends_calls_that_wait_for_an_answer(peer, make):
    peer.next(*[slow(600, wire.TRUNCATED)] * 3)
    sut, replies = make(concurrency=3), []
    asking = threading.Thread(
        target=lambda: replies.extend(sut.generate([SutRequest(PICTURE, "a") for _ in range(3)]))
    )

    asking.start()
    while len(peer.requests) < 3:
        time.sleep(0.005)
    sut.close()
    asking.join(PATIENCE_SECONDS)

    assert not asking.is_alive()
    assert [reply.is_call_error for reply in replies] == [True] * 3


def test_many_questions_keep_their_order_over_real_connections(peer, make):
    peer.next(wire.BROKEN, wire.TOO_MANY)  # fewer than tries, so no question can meet only failures
    sut = make(concurrency=8)

    replies = sut.generate([SutRequest(PICTURE, f"q{number}") for number in range(60)])

    assert [reply.text for reply in replies] == [f"q{number}: 64 x 48" for number in range(60)]


@pytest.mark.parametrize(
    "name", ["model", "messages", "stream", "stream_options", "n", "max_tokens", "temperature"]
)
def test_further_fields_may_not_replace_what_is_sent(name):
    params = OpenAIChatParams(model="m", extra_body={name: 1})

    with pytest.raises(SutError) as refusal:
        OpenAIChatProvider(params, SutContext())

    assert refusal.value.field == "extra_body"


def test_further_fields_may_name_an_effort_only_where_no_thinking_is_declared():
    OpenAIChatProvider(OpenAIChatParams(model="m", extra_body={"reasoning_effort": "xhigh"}), SutContext())

    with pytest.raises(SutError):
        OpenAIChatProvider(
            OpenAIChatParams(model="m", thinking="low", extra_body={"reasoning_effort": "xhigh"}),
            SutContext(),
        )


def test_the_described_request_is_the_sent_one_without_key_and_picture(peer, make):
    sut = make(system_prompt="Be brief.", extra_body={"seed": 1})

    described = json.loads(sut.describe_request(SutRequest(PICTURE, "What is red?")))
    ask(sut)

    sent = peer.requests[0].body
    picture = described["body"]["messages"][1]["content"][0]["image_url"]
    assert picture["url"] == f"<PNG picture, 64 x 48, {len(PICTURE)} bytes>"
    picture["url"] = sent["messages"][1]["content"][0]["image_url"]["url"]
    assert described["body"] == sent
    assert described["address"] == f"POST {peer.url}/v1/chat/completions"
    assert described["headers"]["Authorization"] == "<key>"


def test_the_key_stands_in_no_reply_no_description_and_no_log(peer, make, caplog):
    peer.next(
        wire.error(400, f"Bad key {wire.KEY}"),
        lambda asked: status(200, wire.completion(asked.headers["authorization"]))(asked),
        page(wire.KEY),
    )
    sut = make()

    with caplog.at_level(logging.DEBUG):
        words = [repr(ask(sut)) for _ in range(4)] + [sut.describe_request(SutRequest(PICTURE, "a"))]

    assert wire.KEY not in "".join([*words, repr(sut.info), repr(sut), caplog.text])


def test_openais_own_client_understands_the_peer(peer):
    client = openai.OpenAI(base_url=f"{peer.url}/v1", api_key=wire.KEY, max_retries=0)
    url = f"data:image/png;base64,{base64.b64encode(PICTURE).decode()}"
    content = [{"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": "Size"}]

    def create(**values):
        return client.chat.completions.create(
            model=wire.MODEL, messages=[{"role": "user", "content": content}], max_tokens=9, **values
        )

    good = create()
    peer.next(wire.THOUGHT, wire.REFUSED, wire.FILTERED)
    thought, refused, filtered = create(), create(), create()
    peer.next(wire.TOO_MANY, wire.WRONG_KEY, wire.WRONG_MODEL, wire.NO_CREDIT, wire.BROKEN)
    errors = []
    for _ in range(5):
        with pytest.raises(openai.APIStatusError) as error:
            create()
        errors.append((type(error.value), error.value.code))
    client.close()

    assert good.choices[0].message.content == "Size: 64 x 48"
    assert (good.usage.prompt_tokens, good.model) == (100, "peer-vl-1-2026-11-01")
    assert thought.usage.completion_tokens_details.reasoning_tokens == 38
    assert refused.choices[0].message.refusal == "I can't help with that."
    assert filtered.choices[0].finish_reason == "content_filter"
    assert errors == [
        (openai.RateLimitError, "rate_limit_exceeded"),
        (openai.AuthenticationError, "invalid_api_key"),
        (openai.NotFoundError, "model_not_found"),
        (openai.RateLimitError, "insufficient_quota"),
        (openai.InternalServerError, None),
    ]


def test_the_key_stands_in_no_traceback_of_a_failure(peer, make):
    echo = f"bad key {wire.KEY} " + base64.b64encode(f"Bearer {wire.KEY}".encode()).decode()
    sut = make(retries=RetryPolicy(most_tries=1))
    for behaviour in (
        wire.error(401, echo),
        wire.error(500, echo),
        page(echo),
        page(echo, code=404),
        redirect(f"https://example.com/?key={wire.KEY}"),
        dropped(3, status(200, {"echo": echo})),
    ):
        peer.next(behaviour)
        with pytest.raises(CallFailure) as failure:
            sut._provider.send(CALL)
        printed = "".join(traceback.format_exception(failure.value))
        assert wire.KEY not in printed
        assert "".join(traceback.format_exception(failure.value, chain=False)) in printed
        assert base64.b64encode(wire.KEY.encode()).decode()[:16] not in printed
