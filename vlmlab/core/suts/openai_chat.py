"""The chat completions protocol of OpenAI, vLLM, SGLang, Ollama, llama.cpp and transformers serve."""

import base64
from collections.abc import Mapping
from dataclasses import replace

from pydantic import JsonValue

from vlmlab.core.errors import SutError
from vlmlab.core.suts.base import FinishReason
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.failures import failure_of_status, unexpected
from vlmlab.core.suts.guarded import Connector, Resolver
from vlmlab.core.suts.http_json import JsonEndpoint
from vlmlab.core.suts.provider import CallFailure, ProviderCall, ProviderReply
from vlmlab.core.suts.remote_params import OpenAIChatParams
from vlmlab.core.suts.reply_fields import count, member, objects, output_count, text

_PATH = "/chat/completions"
# What this adapter decides itself; another answer than one whole text could not be read.
_OWN_FIELDS = frozenset(
    {
        "model", "messages", "max_tokens", "max_completion_tokens", "temperature",
        "stream", "stream_options", "n",
    }
)  # fmt: skip
# OpenAI's levels have these names, "none" where thinking is off. Servers of open models switch thinking
# in their chat template instead: leave thinking at its default and give, for example,
# {"chat_template_kwargs": {"enable_thinking": false}} as further fields.
_EFFORTS = {"off": "none", "minimal": "minimal", "low": "low", "medium": "medium", "high": "high"}
_FINISHES: dict[str, FinishReason] = {
    "stop": "stop",
    "eos": "stop",
    "length": "length",
    "model_length": "length",
    "max_tokens": "length",
    "sensitive": "safety",
    "content_filter": "safety",
    "refusal": "refusal",
}
# A server that gave up midway has not let the model answer; what it sent till then is no answer.
_BROKEN_OFF = {
    "error": "The server failed midway through its answer. Try again later.",
    "abort": "The server broke the answer off. Try again later.",
    "network_error": "The server lost its model midway through the answer. Try again later.",
}


class OpenAIChatProvider:
    """One model behind one address; thread-safe.

    Args:
        params: settings of the registration.
        context: key and network policy.
        resolver: name and port to addresses; the system's when None.
        connector: opens a connection to a checked address; a TCP connection when None.

    Raises:
        SutError: the address is not allowed, the key cannot be sent, or further fields contradict.
    """

    def __init__(
        self,
        params: OpenAIChatParams,
        context: SutContext,
        *,
        resolver: Resolver | None = None,
        connector: Connector | None = None,
    ) -> None:
        _check_extra(params)
        self._params = params
        self._endpoint = JsonEndpoint(
            base_url=params.base_url,
            headers={"Authorization": f"Bearer {context.api_key}"} if context.api_key else {},
            timeout_s=params.timeout_s,
            policy=context.network,
            resolver=resolver,
            connector=connector,
        )

    def describe(self, call: ProviderCall) -> dict[str, JsonValue]:
        """Return the exact request for people: address, headers without keys, body without picture bytes."""
        return self._endpoint.describe(_PATH, self._body(call, picture=call.picture_words))

    def send(self, call: ProviderCall) -> ProviderReply:
        """Send a call once.

        Raises:
            CallFailure: no answer came.
        """
        picture = f"data:image/png;base64,{base64.b64encode(call.image_png).decode('ascii')}"
        return read_completion(self._endpoint.post(_PATH, self._body(call, picture=picture)))

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()

    def _body(self, call: ProviderCall, *, picture: str) -> dict[str, JsonValue]:
        params = self._params
        image: dict[str, JsonValue] = {"url": picture}
        if params.image_detail:
            image["detail"] = params.image_detail
        messages: list[JsonValue] = [
            {
                "role": "user",
                "content": [
                    {"type": "image_url", "image_url": image},
                    {"type": "text", "text": call.prompt},
                ],
            }
        ]
        if params.system_prompt:
            messages.insert(0, {"role": "system", "content": params.system_prompt})
        body: dict[str, JsonValue] = {
            "model": params.model,
            "messages": messages,
            params.token_limit_name: params.max_output_tokens,
        }
        if params.temperature is not None:
            body["temperature"] = params.temperature
        if params.thinking != "default":
            body["reasoning_effort"] = _EFFORTS[params.thinking]
        return {**body, **params.extra_body}


def read_completion(body: Mapping[str, JsonValue]) -> ProviderReply:
    """Return what a completion says; thinking that stands beside the answer is left out.

    A completion without a choice is not asked for again: it is a protocol that does not fit, or a paid
    answer that was withheld, and both would come back the same.

    Raises:
        CallFailure: there is an error instead of a choice, or no choice.
    """
    choices = objects(body.get("choices"))
    if body.get("error"):
        raise _failure_inside(body)
    if not choices:
        raise unexpected("no choice")
    # Servers that were told to make several send them in the order in which they end.
    choice = next((one for one in choices if one.get("index") == 0), choices[0])
    said = text(choice.get("finish_reason"))
    if choice.get("error"):
        raise _failure_inside(choice)
    if said in _BROKEN_OFF:
        raise CallFailure("server", _BROKEN_OFF[said], is_retryable=True, max_tries=2)  # each is paid
    message = choice.get("message")
    if not isinstance(message, Mapping):
        raise unexpected("no message in its choice")
    answer = _visible(message.get("content"))
    refusal = text(message.get("refusal")) or _refused(message.get("content"))
    finish = "refusal" if refusal else _FINISHES.get(said, "other")
    reply = ProviderReply(answer or refusal, finish, served_model=text(body.get("model"))[:200])
    return _counted(reply, body.get("usage"))


def _counted(reply: ProviderReply, usage: object) -> ProviderReply:
    """Return a reply with its tokens; xAI and Google's bridge count thinking in the total only."""
    sent, said = count(member(usage, "prompt_tokens")), count(member(usage, "completion_tokens"))
    thinking = count(member(usage, "completion_tokens_details", "reasoning_tokens"))
    if said is not None and thinking is not None and thinking > said:
        said += thinking  # thinking is not part of the reply's tokens
    total_tokens = count(member(usage, "total_tokens"))
    return replace(
        reply,
        input_tokens=sent,
        output_tokens=output_count(input_tokens=sent, said=said, total_tokens=total_tokens),
        reasoning_tokens=thinking,
    )


def _refused(content: object) -> str:
    """Return the words of a refusal that stands among the parts of an answer."""
    return "".join(text(part.get("refusal")) for part in objects(content) if part.get("type") == "refusal")


def _visible(content: object) -> str:
    """Return the answer's text; some servers send it as a list of parts."""
    if isinstance(content, list):
        parts = [part for part in objects(content) if part.get("type", "text") in ("text", "output_text")]
        return "".join(text(part.get("text")) for part in parts)
    return text(content)


def _failure_inside(body: Mapping[str, object]) -> CallFailure:
    """Return the failure of an error that came with a good status, as routers between servers send it."""
    code = member(body, "error", "code")
    return failure_of_status(code if isinstance(code, int) and 400 <= code < 600 else 400, body)


def _check_extra(params: OpenAIChatParams) -> None:
    taken = _OWN_FIELDS | ({"reasoning_effort"} if params.thinking != "default" else set())
    clash = sorted(taken & params.extra_body.keys())
    if clash:
        raise SutError(
            f"Further fields may not hold “{clash[0]}”.",
            hint="Set it in its own field, or leave it out: a reply is always asked for whole and once.",
            field="extra_body",
        )
