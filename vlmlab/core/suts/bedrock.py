"""Amazon Bedrock's Converse through boto3: what is sent, what comes back, and what its refusals mean."""

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Generic, Protocol, TypeVar
from urllib.parse import quote

from pydantic import JsonValue

from vlmlab.core.errors import ConfigError, SutError
from vlmlab.core.suts.base import FinishReason
from vlmlab.core.suts.bedrock_failures import failure_of_error
from vlmlab.core.suts.claude import check_claude, check_size, claude_of, thinking_fields
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.failures import unexpected
from vlmlab.core.suts.provider import ProviderCall, ProviderReply, check_bytes
from vlmlab.core.suts.redaction import keep_debug_lines_quiet
from vlmlab.core.suts.remote_params import BedrockParams
from vlmlab.core.suts.reply_fields import count, member, objects, text, total

CONNECT_TIMEOUT_S = 10.0
MOST_PICTURE_BYTES = 3_750_000
"""Of one picture of Converse."""

FINISH: Mapping[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "guardrail_intervened": "safety",
    "content_filtered": "safety",
    "refusal": "refusal",
}
"""Every other reason is "other"."""


class Closable(Protocol):
    """What is used of any client of boto3."""

    def close(self) -> None:
        """Close the connections."""
        ...


class ConverseClient(Closable, Protocol):
    """What is used of boto3's client for questions."""

    def converse(self, **request: Any) -> Mapping[str, object]:
        """Send one conversation."""
        ...


Client = TypeVar("Client", bound=Closable)
Answer = TypeVar("Answer")


class BedrockProvider:
    """A model behind Amazon Bedrock; its address follows from the region.

    boto3 is imported and its client made at the first call, so that a page may describe a request without it.

    Args:
        params: settings of the registration.
        context: key; without one, the AWS credentials that the worker finds in its own surroundings.
        make_client: makes the client; another one only in tests.
        now: seconds since 1970, for answers that name a date to come back at.

    Raises:
        ConfigError: settings that the model would refuse.
        SutError: the key is not of the form that AWS uses.
    """

    def __init__(
        self,
        params: BedrockParams,
        context: SutContext,
        *,
        make_client: Callable[[BedrockParams, tuple[str, ...]], ConverseClient] | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        check_params(params)
        self._params = params
        self._claude = claude_of(params.model)
        key = key_parts(context.api_key)
        self._client = LazyClient(params, key, make_client=make_client or new_client, now=now)

    def describe(self, call: ProviderCall) -> dict[str, JsonValue]:
        """Return the exact request for people, without key and picture bytes."""
        region = self._params.region
        domain = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
        body: dict[str, JsonValue] = request_of(self._params, call, call.picture_words)
        path = f"/model/{quote(str(body.pop('modelId')), safe='')}/converse"
        return {
            "address": f"POST https://bedrock-runtime.{region}.{domain}{path}",
            "headers": {"Content-Type": "application/json", "Authorization": "<signature>"},
            "body": body,
        }

    def send(self, call: ProviderCall) -> ProviderReply:
        """Send a call once.

        Raises:
            CallFailure: no answer came, or the picture would be scaled down on the way.
        """
        if self._claude is not None:
            check_size(call.sent_size, self._claude)
        check_bytes(call.image_png, most=MOST_PICTURE_BYTES)
        request = request_of(self._params, call, call.image_png)
        answer = self._client.call(lambda client: client.converse(**request))
        return read_reply(answer)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


class LazyClient(Generic[Client]):
    """boto3's client of one system, made at the first call; thread-safe.

    Args:
        params: region, time limit and calls at once.
        key: its parts, kept out of every message; empty for the worker's own credentials.
        make_client: makes the client.
        now: seconds since 1970, for answers that name a date to come back at.
    """

    def __init__(
        self,
        params: BedrockParams,
        key: tuple[str, ...],
        *,
        make_client: Callable[[BedrockParams, tuple[str, ...]], Client],
        now: Callable[[], float],
    ) -> None:
        self._params, self._key = params, key
        self._make_client, self._now = make_client, now
        self._client: Client | None = None
        self._lock = threading.Lock()

    def call(self, use: Callable[[Client], Answer]) -> Answer:
        """Return what a use of the client gives.

        Raises:
            CallFailure: boto3 or AWS refused, in words without the key.
        """
        try:
            return use(self._connected())
        except Exception as error:  # botocore's classes cannot be named before boto3 is imported
            failure = failure_of_error(error, secrets=self._key, now_s=self._now())
            if failure is None:
                raise
            raise failure from None

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            if self._client is not None:
                self._client.close()

    def _connected(self) -> Client:
        with self._lock:
            if self._client is None:
                self._client = self._make_client(self._params, self._key)
            return self._client


def new_client(params: BedrockParams, key: tuple[str, ...]) -> ConverseClient:
    """Return boto3's client, without retries of its own and with a session of its own.

    Args:
        params: region, time limit and calls at once.
        key: access key id, secret and maybe a session token; empty for the worker's own credentials.
    """
    import boto3
    from botocore.config import Config

    # Their finest log writes whole requests, with session tokens and pictures.
    keep_debug_lines_quiet("botocore", "boto3", "urllib3")
    names = ("aws_access_key_id", "aws_secret_access_key", "aws_session_token")
    # A chosen key is the one that signs, and the shown address the one that is asked: boto3 would follow an
    # API key, an endpoint and a proxy that it finds in the worker's surroundings before them.
    signing = {"signature_version": "v4"} if key else {}
    config = Config(
        retries={"total_max_attempts": 1, "mode": "standard"},
        connect_timeout=min(CONNECT_TIMEOUT_S, params.timeout_s),
        read_timeout=params.timeout_s,
        max_pool_connections=params.concurrency,
        ignore_configured_endpoint_urls=True,
        proxies={},
        **signing,
    )
    session = boto3.Session(region_name=params.region, **dict(zip(names, key, strict=False)))
    client: ConverseClient = session.client("bedrock-runtime", config=config)
    return client


def key_parts(key: str) -> tuple[str, ...]:
    """Return access key id, secret and, if there is one, session token; () for no key.

    Raises:
        SutError: the key has another form.
    """
    if not key:
        return ()
    parts = tuple(key.strip().split(":", 2))
    if len(parts) < 2 or not all(part and part.isprintable() and " " not in part for part in parts):
        raise SutError(
            "The key is not of the form that AWS uses.",
            hint="Write ACCESS_KEY_ID:SECRET_ACCESS_KEY, with :SESSION_TOKEN behind it for temporary ones.",
            field="api_key",
        )
    return parts


def check_params(params: BedrockParams) -> None:
    """Refuse settings that Bedrock would refuse, and pictures that Claude would scale down silently.

    Raises:
        ConfigError: what to change, and at which field.
    """
    if not params.model[0].isalnum() or {"", ".", ".."} & set(params.model.split("/")):
        raise ConfigError(
            f"“{params.model}” is no model id of Bedrock.",
            hint="Write the model's id, an inference profile or its ARN as the AWS console shows it.",
            field="model",
        )
    claude = claude_of(params.model)
    if claude is not None:
        check_claude(params, claude)
        doubled = sorted(set(thinking_fields(params, claude)) & set(params.extra_fields))
        if doubled:
            raise ConfigError(
                f"The thinking level already sends {', '.join(doubled)}.",
                hint="Take it out of the further fields, or leave thinking at default.",
                field="extra_fields",
            )
    elif params.thinking != "default":
        raise ConfigError(
            f"How {params.model} is told to think differs from model to model.",
            hint="Leave thinking at default and write the model's own switch into the further fields.",
            field="thinking",
        )


def request_of(params: BedrockParams, call: ProviderCall, picture: bytes | str) -> dict[str, Any]:
    """Return the arguments of Converse.

    Args:
        params: settings of the registration.
        call: the question.
        picture: its bytes, or words in their place.
    """
    config: dict[str, Any] = {"maxTokens": params.max_output_tokens}
    if params.temperature is not None:
        config["temperature"] = params.temperature
    content = [{"image": {"format": "png", "source": {"bytes": picture}}}, {"text": call.prompt}]
    request: dict[str, Any] = {
        "modelId": params.model,
        "messages": [{"role": "user", "content": content}],
        "inferenceConfig": config,
    }
    if params.system_prompt:
        request["system"] = [{"text": params.system_prompt}]
    claude = claude_of(params.model)
    fields = {**(thinking_fields(params, claude) if claude else {}), **params.extra_fields}
    if fields:
        request["additionalModelRequestFields"] = fields
    return request


def read_reply(answer: Mapping[str, object]) -> ProviderReply:
    """Return what an answer says; reasoning is left out of the text.

    Raises:
        CallFailure: it is not an answer of Converse.
    """
    content = member(answer, "output", "message", "content")
    reason = text(answer.get("stopReason"))
    if not isinstance(content, list) and not reason:
        raise unexpected("no message")
    usage = answer.get("usage")
    return ProviderReply(
        "".join(text(block.get("text")) for block in objects(content)),
        FINISH.get(reason, "other"),
        input_tokens=total(
            count(member(usage, "inputTokens")),
            count(member(usage, "cacheReadInputTokens")),
            count(member(usage, "cacheWriteInputTokens")),
        ),
        output_tokens=count(member(usage, "outputTokens")),
        served_model=text(member(answer, "trace", "promptRouter", "invokedModelId"))[:200],
    )
