"""Whatever a server of the chat completions protocol answers is a reply or a failure, never a crash."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.doubles import paint_png
from tests.peers import openai_chat as wire
from tests.peers.server import Peer, raw
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.openai_chat import OpenAIChatProvider, read_completion
from vlmlab.core.suts.provider import CallFailure, ProviderCall
from vlmlab.core.suts.remote_params import OpenAIChatParams

CALL = ProviderCall(paint_png((200, 10, 10), width=64, height=48), (64, 48), "What is red?")

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "message", "content", "refusal", "usage", "finish_reason", "text", "type",
                 "error", "code", "model", "prompt_tokens", "completion_tokens_details"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(["choices", "usage", "model", "error", "object"]), JSON))
def test_any_json_is_an_answer_or_a_failure(body):
    try:
        reply = read_completion(body)
    except CallFailure:
        return
    assert isinstance(reply.text, str)
    assert reply.input_tokens is None or reply.input_tokens >= 0


@given(JSON, JSON, JSON)
def test_any_content_of_a_choice_is_an_answer(content, finish, usage):
    reply = read_completion(
        {"choices": [{"message": {"content": content}, "finish_reason": finish}], "usage": usage}
    )

    assert isinstance(reply.text, str)
    assert reply.finish_reason in ("stop", "length", "refusal", "safety", "other")


def test_any_bytes_are_an_answer_or_a_failure():
    with Peer({wire.PATH: raw(b"")}) as server:
        params = OpenAIChatParams(model=wire.MODEL, base_url=f"{server.url}/v1")
        provider = OpenAIChatProvider(params, SutContext(network=server.policy))

        @given(st.binary(max_size=40), st.sampled_from([200, 201, 204, 304, 400, 404, 429, 500, 599]))
        def check(body, code):
            server.next(raw(body, code=code))
            with pytest.raises(CallFailure):
                provider.send(CALL)

        check()
        provider.close()
