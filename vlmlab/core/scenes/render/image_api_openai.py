"""Pictures from /images/generations of OpenAI and of servers that speak its protocol."""

from collections.abc import Mapping

from pydantic import JsonValue

from vlmlab.core.scenes.prompts_for_pictures import PicturePrompt
from vlmlab.core.scenes.render.backend_kinds import BackendContext
from vlmlab.core.scenes.render.image_api_params import ImageApiParams
from vlmlab.core.scenes.render.image_providers import (
    CHECK_TIMEOUT_S,
    MadePicture,
    asked_size,
    bytes_of_base64,
    nearest_size,
    no_key,
    refused,
)
from vlmlab.core.suts.failures import codes_of, failure_of_status, is_filtered, unexpected, words_of
from vlmlab.core.suts.http_json import Explain, JsonEndpoint
from vlmlab.core.suts.network import endpoint_of
from vlmlab.core.suts.provider import CallFailure
from vlmlab.core.suts.reply_fields import count, member, objects, text

SIZES = ("1024x1024", "1536x1024", "1024x1536")
"""What every GPT Image model takes."""
MOST_CHARACTERS = 32_000
_PATH = "/images/generations"
_OPENAI = "api.openai.com"
_MOST_SEED = 2**31
_SAFETY = "safety system"
# A server without a list of models is no wrong server: only these say that no picture will come.
_TELLING = frozenset({"key", "quota", "connection", "timeout", "address"})


class OpenAIImages:
    """A model behind one address.

    Args:
        params: settings of the source.
        context: key and network.

    Raises:
        SutError: the address is not allowed, or the key cannot stand in a header.
    """

    most_characters: int | None = MOST_CHARACTERS

    def __init__(self, params: ImageApiParams, context: BackendContext) -> None:
        self._params = params
        self._lacks_key = _lacks_key(params, context)
        self._endpoint = _endpoint(params, context, timeout_s=params.timeout_s)

    def make(self, prompt: PicturePrompt, *, width: int, height: int, seed: int) -> MadePicture:
        """Ask once for a picture; a refusal is a ``CallFailure`` of the kind "filtered"."""
        if self._lacks_key:
            raise no_key()
        params = self._params
        body: dict[str, JsonValue] = {
            "model": params.model,
            "prompt": prompt.whole,
            "n": 1,
            "size": _size(params, width=width, height=height),
        }
        if params.quality:
            body["quality"] = params.quality
        if params.sends_seed:
            body["seed"] = seed % _MOST_SEED
        if params.asks_for_base64:
            body["response_format"] = "b64_json"
        return read_picture(self._endpoint.post(_PATH, {**body, **params.extra_body}))

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()


def read_picture(answer: Mapping[str, object]) -> MadePicture:
    """Return the picture of an answer.

    Raises:
        CallFailure: there is none, only a link to it, or an error in its place.
    """
    if answer.get("error"):
        raise _failure_inside(answer)
    pictures = objects(answer.get("data"))
    if not pictures:
        raise unexpected("no picture")
    first = pictures[0]
    encoded = text(first.get("b64_json"))
    if not encoded and text(first.get("url")):
        raise CallFailure(
            "request",
            "The server answered with a link, which is not followed. Turn on “Ask for the picture itself”.",
            is_retryable=False,
        )
    if not encoded:
        raise refused(words_of(first)) if words_of(first) else unexpected("no picture in its data")
    usage = answer.get("usage")
    return MadePicture(
        bytes_of_base64(encoded),
        model=text(answer.get("model"))[:200],
        revised_prompt=text(first.get("revised_prompt"))[:4000],
        input_tokens=count(member(usage, "input_tokens")),
        output_tokens=count(member(usage, "output_tokens")),
    )


def explain(status: int, body: JsonValue, failure: CallFailure) -> CallFailure:
    """Return what an error answer means beyond its status: the words of image filters differ from chats'."""
    said = words_of(body)
    is_refusal = is_filtered(codes_of(body), said) or _SAFETY in said.lower()
    return refused(said) if is_refusal and 400 <= status < 500 and status != 429 else failure


def check_openai(params: ImageApiParams, context: BackendContext) -> None:
    """Ask for the list of models, which is free, to see whether the key is taken.

    Raises:
        CallFailure: it is not, or the server cannot be reached.
        SutError: the settings cannot work.
    """
    if _lacks_key(params, context):
        raise no_key()
    endpoint = _endpoint(params, context, timeout_s=CHECK_TIMEOUT_S, explain_errors=_explain_check)
    try:
        endpoint.get("/models")
    except CallFailure as failure:
        if failure.kind in _TELLING:
            raise
    finally:
        endpoint.close()


def _explain_check(status: int, body: JsonValue, failure: CallFailure) -> CallFailure:
    """Return what keeps a check from telling anything where a server has no list of models."""
    if status in (404, 405, 501):
        return CallFailure("request", "The server has no list of models.", is_retryable=False)
    return explain(status, body, failure)


def _lacks_key(params: ImageApiParams, context: BackendContext) -> bool:
    return endpoint_of(params.base_url).host == _OPENAI and not context.api_key


def _size(params: ImageApiParams, *, width: int, height: int) -> str:
    if not params.size:
        return nearest_size(SIZES, width=width, height=height)
    asked = asked_size(params, width=width, height=height, pixels=0)
    return f"{asked[0]}x{asked[1]}"


def _failure_inside(answer: Mapping[str, object]) -> CallFailure:
    """Return the failure of an error that came with a good status, as routers between servers send it."""
    code = member(answer, "error", "code")
    status = code if isinstance(code, int) and 400 <= code < 600 else 400
    body: JsonValue = {"error": _plain(answer.get("error"))}
    return explain(status, body, failure_of_status(status, body))


def _plain(error: object) -> JsonValue:
    """Return the fields of an error that are words."""
    if isinstance(error, Mapping):
        return {str(name): value for name, value in error.items() if isinstance(value, str | int)}
    return error if isinstance(error, str) else ""


def _endpoint(
    params: ImageApiParams,
    context: BackendContext,
    *,
    timeout_s: float,
    explain_errors: Explain = explain,
) -> JsonEndpoint:
    return JsonEndpoint(
        base_url=params.base_url,
        headers={"Authorization": f"Bearer {context.api_key}"} if context.api_key else {},
        timeout_s=timeout_s,
        policy=context.network,
        explain=explain_errors,
    )
