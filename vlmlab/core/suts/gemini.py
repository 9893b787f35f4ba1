"""Google's generateContent: what is sent, what comes back, and what its refusals mean."""

import base64
import re
from collections.abc import Mapping
from dataclasses import replace

from pydantic import JsonValue

from vlmlab.core.errors import ConfigError
from vlmlab.core.suts.base import FinishReason
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.failures import unexpected, words_of
from vlmlab.core.suts.http_json import JsonEndpoint
from vlmlab.core.suts.network import NetworkPolicy
from vlmlab.core.suts.origins import GOOGLE
from vlmlab.core.suts.provider import CallFailure, ProviderCall, ProviderReply, check_bytes
from vlmlab.core.suts.remote_params import GeminiParams
from vlmlab.core.suts.reply_fields import count, member, objects, output_count, text, total
from vlmlab.core.suts.thinking import LEAST_TOKENS, check_room, level_refused

LEVELS = {"minimal": "MINIMAL", "low": "LOW", "medium": "MEDIUM", "high": "HIGH"}
"""What Gemini 3 and later are sent for a level."""
BUDGETS = {"off": 0, "minimal": 512, "low": 1024, "medium": 8192, "high": 24_576}
"""Thinking tokens that Gemini 2.5 is sent for a level; 512 is the least that all of them take."""

FINISH: Mapping[str, FinishReason] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",
    "SAFETY": "safety",
    "BLOCKLIST": "safety",
    "PROHIBITED_CONTENT": "safety",
    "SPII": "safety",
    "RECITATION": "safety",
    "IMAGE_RECITATION": "safety",
    "IMAGE_SAFETY": "safety",
    "IMAGE_PROHIBITED_CONTENT": "safety",
    "MODEL_ARMOR": "safety",
    "ESCALATION": "safety",
}
"""Every other reason, such as LANGUAGE, is "other"."""
MOST_REQUEST_BYTES = 100_000_000
"""Of a whole request with its picture inside."""

EXAMPLE = "gemini-3-flash-preview"
_NAME = re.compile(r"(?:models/)?([A-Za-z0-9][A-Za-z0-9._-]*)")
_GENERATION = re.compile(r"gemini-(\d{1,2})(?:\.(\d{1,2}))?(?![0-9])")
_NEWEST = (99, 0)
_DELAY = re.compile(r"(\d{1,6}(?:\.\d{1,9})?)s")


class GeminiProvider:
    """Gemini behind Google's API for developers; the address is fixed.

    Args:
        params: settings of the registration.
        context: key and network.
        base_url: where the API lies; another one only in tests.

    Raises:
        ConfigError: settings that the model would refuse.
        SutError: the key cannot stand in a header.
    """

    def __init__(self, params: GeminiParams, context: SutContext, *, base_url: str = GOOGLE) -> None:
        check_params(params)
        self._params = params
        self._has_key = bool(context.api_key)
        self._path = f"{model_path(params.model, example=EXAMPLE)}:generateContent"
        self._endpoint = google_endpoint(
            base_url, api_key=context.api_key, timeout_s=params.timeout_s, policy=context.network
        )

    def describe(self, call: ProviderCall) -> dict[str, JsonValue]:
        """Return the exact request for people, without key and picture bytes."""
        return self._endpoint.describe(self._path, _body(self._params, call, call.picture_words))

    def send(self, call: ProviderCall) -> ProviderReply:
        """Send a call once.

        Raises:
            CallFailure: no answer came.
        """
        if not self._has_key:
            raise CallFailure("key", "This system has no Gemini API key. Choose one.", is_retryable=False)
        check_bytes(call.image_png, most=MOST_REQUEST_BYTES * 3 // 4 - 200_000)
        picture = base64.b64encode(call.image_png).decode("ascii")
        return read_reply(self._endpoint.post(self._path, _body(self._params, call, picture)))

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()


def google_endpoint(base_url: str, *, api_key: str, timeout_s: float, policy: NetworkPolicy) -> JsonEndpoint:
    """Return Google's API for developers; raises ``SutError`` for a key that cannot stand in a header."""
    return JsonEndpoint(
        base_url=base_url,
        headers={"x-goog-api-key": api_key},
        timeout_s=timeout_s,
        policy=policy,
        explain=explain,
    )


def model_path(model: str, *, example: str) -> str:
    """Return where a model lies below Google's address.

    Raises:
        ConfigError: the name is none; the hint gives the example.
    """
    match = _NAME.fullmatch(model)
    if match is None:
        raise ConfigError(
            f"“{model}” is not the name of a Gemini model.",
            hint=f"Write it as Google does, such as {example}.",
            field="model",
        )
    return f"/v1beta/models/{match[1]}"


def check_account(finish_reason: str) -> None:
    """Raise a ``CallFailure`` where an answer ended because Google has limited the account."""
    if finish_reason == "PUP_LIMITED_DISABLED":
        raise CallFailure(
            "key", "Google has limited this account. See its notice in Google AI Studio.", is_retryable=False
        )


def check_params(params: GeminiParams) -> None:
    """Refuse settings that Google would refuse.

    Raises:
        ConfigError: what to change, and at which field.
    """
    model_path(params.model, example=EXAMPLE)
    _thinking(params)
    if params.temperature is not None and (4, 0) <= _generation(params.model) < _NEWEST:
        raise ConfigError(
            f"{params.model} takes no temperature.", hint="Leave it empty.", field="temperature"
        )


def read_reply(answer: Mapping[str, object]) -> ProviderReply:
    """Return what an answer says; thoughts are left out of the text and counted as output.

    Raises:
        CallFailure: it is not an answer of generateContent, or the account is shut off.
    """
    served = text(answer.get("modelVersion"))[:200]
    candidates = objects(answer.get("candidates"))
    if not candidates:
        if not text(member(answer, "promptFeedback", "blockReason")):
            raise unexpected("no candidate")
        return _counted(ProviderReply("", "safety", served_model=served), answer.get("usageMetadata"))
    reason = text(candidates[0].get("finishReason"))
    check_account(reason)
    parts = objects(member(candidates[0], "content", "parts"))
    said = "".join(text(part.get("text")) for part in parts if part.get("thought") is not True)
    reply = ProviderReply(said, FINISH.get(reason, "other"), served_model=served)
    return _counted(reply, answer.get("usageMetadata"))


def _counted(reply: ProviderReply, usage: object) -> ProviderReply:
    """Return a reply with its tokens."""
    thoughts = count(member(usage, "thoughtsTokenCount"))
    sent = total(count(member(usage, "promptTokenCount")), count(member(usage, "toolUsePromptTokenCount")))
    return replace(
        reply,
        input_tokens=sent,
        output_tokens=output_count(
            input_tokens=sent,
            said=total(count(member(usage, "candidatesTokenCount")), thoughts),
            total_tokens=count(member(usage, "totalTokenCount")),
        ),
        reasoning_tokens=thoughts,
    )


def explain(status: int, body: JsonValue, failure: CallFailure) -> CallFailure:
    """Return what an error answer of Google means beyond its status.

    A wrong key comes as status 400, an unknown model with words of its own, and every 429 speaks of quota
    and billing, whether a minute's or a day's calls are used up.
    """
    details = objects(member(body, "error", "details"))
    if any(detail.get("reason") in {"API_KEY_INVALID", "API_KEY_EXPIRED"} for detail in details):
        return CallFailure(
            "key",
            "Google refused the API key. Check that it is a Gemini API key and still valid.",
            is_retryable=False,
        )
    if status == 404:
        return CallFailure(
            "model",
            f"Google does not know this model (“{words_of(body)}”). Check its name; it may be switched off.",
            is_retryable=False,
        )
    if status != 429:
        return failure
    violations = [one for detail in details for one in objects(detail.get("violations"))]
    if any("PerDay" in text(one.get("quotaId")) for one in violations):
        return CallFailure(
            "quota",
            "Today's quota of this key is used up. Go on tomorrow or raise it in Google AI Studio.",
            is_retryable=False,
        )
    return CallFailure(
        "rate_limit",
        "Google is asked too often with this key. Lower the calls at once or a minute.",
        is_retryable=True,
        retry_after_s=_retry_delay(details) if failure.retry_after_s is None else failure.retry_after_s,
    )


def _body(params: GeminiParams, call: ProviderCall, picture: str) -> dict[str, JsonValue]:
    config: dict[str, JsonValue] = {"maxOutputTokens": params.max_output_tokens}
    if params.temperature is not None:
        config["temperature"] = params.temperature
    if params.media_resolution:
        config["mediaResolution"] = f"MEDIA_RESOLUTION_{params.media_resolution.upper()}"
    thinking = _thinking(params)
    if thinking:
        config["thinkingConfig"] = thinking
    parts: list[JsonValue] = [
        {"inlineData": {"mimeType": "image/png", "data": picture}},
        {"text": call.prompt},
    ]
    body: dict[str, JsonValue] = {"contents": [{"role": "user", "parts": parts}], "generationConfig": config}
    if params.system_prompt:
        body["systemInstruction"] = {"parts": [{"text": params.system_prompt}]}
    return body


def _thinking(params: GeminiParams) -> dict[str, JsonValue]:
    """Return what asks for the thinking level of a registration, {} for nothing.

    Raises:
        ConfigError: the model has no such level, or the longest reply leaves no room for an answer.
    """
    level, model, generation = params.thinking, params.model, _generation(params.model)
    if level == "default":
        return {}
    if generation >= (3, 0):
        return {"thinkingLevel": _level(params, generation)}
    if generation < (2, 5):
        if level == "off":
            return {}
        raise level_refused(f"{model} cannot think.", "Choose off, or leave it at default.")
    if level == "off" and "pro" in model:
        raise level_refused(f"{model} always thinks.", "Choose minimal.")
    check_room(params, BUDGETS[level] + 1)
    return {"thinkingBudget": BUDGETS[level]}


def _level(params: GeminiParams, generation: tuple[int, int]) -> str:
    level, model = params.thinking, params.model
    has_minimal = "flash" in model and generation < (3, 7)
    if level == "off":
        least = "minimal" if has_minimal else "low"
        raise level_refused(f"{model} always thinks.", f"Choose {least}, its least level.")
    if level == "minimal" and not has_minimal:
        raise level_refused(f"{model} has no level below low.", "Choose low.")
    if level == "medium" and generation == (3, 0) and "pro" in model:
        raise level_refused(f"{model} has the levels low and high only.", "Choose low or high.")
    check_room(params, LEAST_TOKENS.get(level, 1))
    return LEVELS[level]


def _generation(model: str) -> tuple[int, int]:
    """Return such as (2, 5); for names without a number the newest, which they lead to."""
    match = _GENERATION.search(model)
    return (int(match[1]), int(match[2] or 0)) if match else _NEWEST


def _retry_delay(details: list[Mapping[str, object]]) -> float | None:
    for detail in details:
        match = _DELAY.fullmatch(text(detail.get("retryDelay")))
        if match:
            return float(match[1])
    return None
