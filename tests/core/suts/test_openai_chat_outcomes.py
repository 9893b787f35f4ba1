"""What servers of the chat completions protocol answer instead of an answer, and what it costs."""

import pytest

from tests.core.suts.test_openai_chat import PICTURE, QUICK
from tests.peers import openai_chat as wire
from tests.peers.server import status
from vlmlab.core.suts.base import SutRequest
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.failures import failure_of_status
from vlmlab.core.suts.openai_chat import OpenAIChatProvider, read_completion
from vlmlab.core.suts.provider import CallFailure
from vlmlab.core.suts.remote import RemoteSut
from vlmlab.core.suts.remote_params import OpenAIChatParams


def choice(**values) -> dict:
    return {"index": 0, "finish_reason": "stop", "message": {"content": "A"}, **values}


def with_choices(*choices) -> dict:
    return {"model": "m", "choices": list(choices)}


def test_the_first_choice_is_the_one_with_number_0():
    body = with_choices(choice(index=1, message={"content": "B"}), choice(index=0))

    assert read_completion(body).text == "A"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": None, "refusal": "I will not."}, "I will not."),
        ({"content": [{"type": "refusal", "refusal": "I will not."}]}, "I will not."),
        ({"content": "A", "refusal": "I will not."}, "A"),
        ({"content": [{"type": "text", "text": "A"}, {"type": "refusal", "refusal": "No."}]}, "A"),
    ],
)
def test_a_refusal_is_one_wherever_it_stands(message, text):
    reply = read_completion(with_choices(choice(message=message)))

    assert (reply.text, reply.finish_reason) == (text, "refusal")


@pytest.mark.parametrize("reason", ["length", "max_tokens", "model_length"])
def test_a_cut_answer_is_cut_in_every_servers_words(reason):
    assert read_completion(with_choices(choice(finish_reason=reason))).finish_reason == "length"


@pytest.mark.parametrize("reason", ["error", "abort", "network_error"])
def test_an_answer_that_the_server_broke_off_is_tried_again(reason):
    with pytest.raises(CallFailure) as failure:
        read_completion(with_choices(choice(finish_reason=reason, message={"content": "[[1, 2"})))

    assert (failure.value.kind, failure.value.is_retryable) == ("server", True)


@pytest.mark.parametrize(
    ("code", "kind", "is_retryable"),
    [(502, "server", True), (429, "rate_limit", True), (400, "request", False)],
)
def test_an_error_inside_a_choice_is_the_failure_of_its_code(code, kind, is_retryable):
    body = with_choices(choice(error={"code": code, "message": "Upstream"}, finish_reason="error"))

    with pytest.raises(CallFailure) as failure:
        read_completion(body)

    assert (failure.value.kind, failure.value.is_retryable) == (kind, is_retryable)


def test_an_error_beside_a_choice_is_a_failure_and_no_answer():
    body = {**with_choices(choice(message={"content": "A"})), "error": {"code": 502, "message": "Upstream"}}

    with pytest.raises(CallFailure) as failure:
        read_completion(body)

    assert (failure.value.kind, failure.value.is_retryable) == ("server", True)
    assert read_completion({**body, "error": None}).text == "A"


def test_thinking_and_calls_of_tools_are_no_answer():
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "B?"}]},
        {"type": "text", "text": "A"},
    ]
    tool = {"content": None, "tool_calls": [{"function": {"name": "f", "arguments": "B"}}]}

    assert read_completion(with_choices(choice(message={"content": parts}))).text == "A"
    called = read_completion(with_choices(choice(message=tool, finish_reason="tool_calls")))
    assert (called.text, called.finish_reason) == ("", "other")


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        # OpenAI: thinking is part of the reply.
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 50,
                "total_tokens": 60,
                "completion_tokens_details": {"reasoning_tokens": 40},
            },
            (10, 50, 40),
        ),
        # xAI: thinking is in the total only.
        (
            {
                "prompt_tokens": 13,
                "completion_tokens": 2,
                "total_tokens": 332,
                "completion_tokens_details": {"reasoning_tokens": 317},
            },
            (13, 319, 317),
        ),
        # Google's bridge: thinking is in the total and nowhere else.
        ({"prompt_tokens": 20, "completion_tokens": 424, "total_tokens": 1016}, (20, 996, None)),
        # Thinking apart and no total.
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 1,
                "completion_tokens_details": {"reasoning_tokens": 7},
            },
            (9, 8, 7),
        ),
        # Cached tokens are part of the prompt's.
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 5,
                "total_tokens": 105,
                "prompt_tokens_details": {"cached_tokens": 64},
            },
            (100, 5, None),
        ),
        ({"prompt_tokens": 10.0, "completion_tokens": 5.0, "total_tokens": 15}, (10, 5, None)),
        ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 3}, (10, 5, None)),
        ({"prompt_tokens": 2**53, "completion_tokens": -1}, (None, None, None)),
        (None, (None, None, None)),
    ],
)
def test_what_is_billed_is_counted_once(usage, tokens):
    reply = read_completion({**with_choices(choice()), "usage": usage})

    assert (reply.input_tokens, reply.output_tokens, reply.reasoning_tokens) == tokens


FILTERED = [
    # Azure
    status(
        400,
        {
            "error": {
                "code": "content_filter",
                "message": "The response was filtered.",
                "innererror": {"code": "ResponsibleAIPolicyViolation"},
            }
        },
    ),
    status(
        400, {"error": {"code": "x", "message": "m", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}
    ),
    # OpenAI
    wire.error(400, "Your input was rejected.", name="content_policy_violation"),
    wire.error(400, "Invalid prompt: it was flagged as potentially violating our usage policy.", name="x"),
    # OpenRouter
    status(
        403, {"error": {"code": 403, "message": "m requires moderation on x. Your input was flagged for y"}}
    ),
    status(200, {"error": {"code": 403, "message": "Output blocked by content filtering policy"}}),
    # DashScope and Zhipu
    wire.error(400, "Input data may contain inappropriate content.", name="data_inspection_failed"),
    status(400, {"error": {"code": "1301", "message": "系统检测到输入或生成内容可能包含不安全或敏感内容"}}),
]


@pytest.mark.parametrize("behaviour", FILTERED)
def test_a_safety_filter_is_an_outcome_whatever_its_status(behaviour):
    with wire.openai_peer() as peer:
        params = OpenAIChatParams(model=wire.MODEL, base_url=f"{peer.url}/v1")
        context = SutContext(network=peer.policy, api_key=wire.KEY)
        sut = RemoteSut(OpenAIChatProvider(params, context), params, context=context, retries=QUICK)
        peer.next(behaviour)

        reply = sut.generate([SutRequest(PICTURE, "What is red?")])[0]
        sut.close()

    assert (reply.text, reply.finish_reason, reply.call_error, reply.n_attempts) == ("", "safety", "", 1)
    assert len(peer.requests) == 1


def test_an_error_that_only_mentions_content_is_no_filter():
    body = {"error": {"message": "Invalid content type. image_url is only supported by certain models."}}

    assert failure_of_status(400, body).kind == "request"
    assert failure_of_status(500, {"error": {"code": "content_filter"}}).kind == "server"
