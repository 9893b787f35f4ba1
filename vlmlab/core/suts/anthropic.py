"""Anthropic's messages: what is sent, what comes back, and what its refusals mean."""

import base64
from collections.abc import Mapping

from pydantic import JsonValue

from vlmlab.core.errors import ConfigError
from vlmlab.core.suts.base import FinishReason
from vlmlab.core.suts.claude import Claude, check_claude, check_size, claude_of, thinking_fields
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.failures import unexpected, words_of
from vlmlab.core.suts.http_json import JsonEndpoint
from vlmlab.core.suts.origins import ANTHROPIC
from vlmlab.core.suts.provider import CallFailure, ProviderCall, ProviderReply, check_bytes
from vlmlab.core.suts.remote_params import AnthropicParams
from vlmlab.core.suts.reply_fields import count, member, objects, text, total

PATH = "/v1/messages"
NEWEST_VERSION = "2026-10-21"

FINISH: Mapping[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}
"""Every other reason is "other"."""

MOST_PICTURE_BYTES = 5 * 2**20 * 3 // 4
"""Of one picture: its base64 may have 5 MiB."""

_SPENT = frozenset({"contract_spend_limit_reached", "enforced_spend_limit_reached"})


class AnthropicProvider:
    """Claude behind Anthropic's API; the address is fixed.

    Args:
        params: settings of the registration.
        context: key and network.
        base_url: where the API lies; another one only in tests.

    Raises:
        ConfigError: settings that the model would refuse.
        SutError: the key cannot stand in a header.
    """

    def __init__(self, params: AnthropicParams, context: SutContext, *, base_url: str = ANTHROPIC) -> None:
        check_params(params)
        self._params = params
        self._claude = _claude(params)
        self._has_key = bool(context.api_key)
        self._endpoint = JsonEndpoint(
            base_url=base_url,
            headers={"x-api-key": context.api_key, "anthropic-version": params.api_version},
            timeout_s=params.timeout_s,
            policy=context.network,
            explain=explain,
        )

    def describe(self, call: ProviderCall) -> dict[str, JsonValue]:
        """Return the exact request for people, without key and picture bytes."""
        return self._endpoint.describe(PATH, self._body(call, call.picture_words))

    def send(self, call: ProviderCall) -> ProviderReply:
        """Send a call once.

        Raises:
            CallFailure: no answer came, or the picture would be scaled down on the way.
        """
        if not self._has_key:
            raise CallFailure("key", "This system has no Anthropic API key. Choose one.", is_retryable=False)
        check_size(call.sent_size, self._claude)
        check_bytes(call.image_png, most=MOST_PICTURE_BYTES)
        picture = base64.b64encode(call.image_png).decode("ascii")
        return read_reply(self._endpoint.post(PATH, self._body(call, picture)))

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()

    def _body(self, call: ProviderCall, picture: str) -> dict[str, JsonValue]:
        params = self._params
        content: list[JsonValue] = [
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": picture}},
            {"type": "text", "text": call.prompt},
        ]
        body: dict[str, JsonValue] = {
            "model": params.model,
            "max_tokens": params.max_output_tokens,
            "messages": [{"role": "user", "content": content}],
        }
        if params.system_prompt:
            body["system"] = params.system_prompt
        if params.temperature is not None:
            body["temperature"] = params.temperature
        return {**body, **thinking_fields(params, self._claude)}


def check_params(params: AnthropicParams) -> None:
    """Refuse settings that Anthropic would refuse, and pictures that it would scale down silently.

    Raises:
        ConfigError: what to change, and at which field.
    """
    check_claude(params, _claude(params))
    if params.temperature is not None and params.api_version == NEWEST_VERSION:
        raise ConfigError(
            f"Version {NEWEST_VERSION} of the API takes no temperature.",
            hint="Leave it empty, or choose version 2023-06-01.",
            field="temperature",
        )


def read_reply(answer: Mapping[str, object]) -> ProviderReply:
    """Return what an answer says; thinking is left out of the text and counted as output.

    Raises:
        CallFailure: it is not an answer of the messages API.
    """
    if answer.get("type") != "message" or not isinstance(answer.get("content"), list):
        raise unexpected("no message")
    usage = answer.get("usage")
    blocks = objects(answer.get("content"))
    return ProviderReply(
        "".join(text(block.get("text")) for block in blocks if block.get("type") == "text"),
        FINISH.get(text(answer.get("stop_reason")), "other"),
        input_tokens=total(
            count(member(usage, "input_tokens")),
            count(member(usage, "cache_creation_input_tokens")),
            count(member(usage, "cache_read_input_tokens")),
        ),
        output_tokens=count(member(usage, "output_tokens")),
        reasoning_tokens=count(member(usage, "output_tokens_details", "thinking_tokens")),
        served_model=text(answer.get("model"))[:200],
    )


def explain(status: int, body: JsonValue, failure: CallFailure) -> CallFailure:
    """Return what an error answer of Anthropic means beyond its status."""
    kind = text(member(body, "error", "type"))
    if status == 404 and kind == "not_found_error":
        return CallFailure(
            "model",
            f"Anthropic does not know this model (“{words_of(body)}”). Check its name; it may be retired.",
            is_retryable=False,
        )
    is_spent = text(member(body, "error", "details", "error_code")) in _SPENT
    if kind == "billing_error" or is_spent:
        return CallFailure(
            "quota",
            f"The spending limit of this Anthropic account is reached (“{words_of(body)}”). Raise it there.",
            is_retryable=False,
        )
    return failure


def _claude(params: AnthropicParams) -> Claude:
    claude = claude_of(params.model)
    if claude is None:
        raise ConfigError(
            f"“{params.model}” is not the name of a Claude model.",
            hint="Write it as Anthropic does, such as claude-sonnet-4-6.",
            field="model",
        )
    return claude
