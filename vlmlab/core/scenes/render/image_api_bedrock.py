"""Pictures from Amazon Bedrock's InvokeModel: the bodies of each family of models, and their refusals."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast

from pydantic import JsonValue

from vlmlab.core.complaints import checked_settings
from vlmlab.core.errors import ConfigError
from vlmlab.core.scenes.prompts_for_pictures import PicturePrompt
from vlmlab.core.scenes.render.backend_kinds import BackendContext
from vlmlab.core.scenes.render.image_api_params import ImageApiParams
from vlmlab.core.scenes.render.image_providers import (
    MadePicture,
    asked_size,
    bytes_of_base64,
    nearest_ratio,
    nearest_size,
    refused,
)
from vlmlab.core.suts.bedrock import Closable, LazyClient, key_parts, new_client
from vlmlab.core.suts.failures import is_filtered, plain_words, unexpected
from vlmlab.core.suts.provider import CallFailure
from vlmlab.core.suts.redaction import Redactor
from vlmlab.core.suts.remote_params import BedrockParams
from vlmlab.core.suts.reply_fields import text

TITAN_SIZES = (
    "1024x1024", "1152x768", "768x1152", "1280x768", "768x1280", "1152x896", "896x1152", "1408x768",
    "768x1408",
)  # fmt: skip
STABILITY_RATIOS = ("1:1", "16:9", "21:9", "2:3", "3:2", "4:5", "5:4", "9:16", "9:21")
MOST_ANSWER_BYTES = 16_000_000
_NOVA_PIXELS = 1024 * 1024
_INFERENCE_ERROR = "inference error"


class InvokeClient(Closable, Protocol):
    """What is used of boto3's client for pictures."""

    def invoke_model(self, **request: Any) -> Mapping[str, Any]:
        """Run a model on a body of its own format."""
        ...


@dataclass(frozen=True)
class _Family:
    """How the models of a family are asked: prompt, settings, width, height and seed make the body."""

    most_characters: int
    body: Callable[[PicturePrompt, ImageApiParams, int, int, int], dict[str, JsonValue]]


def _nova(prompt: PicturePrompt, params: ImageApiParams, width: int, height: int, seed: int) -> Any:
    size = asked_size(params, width=width, height=height, pixels=_NOVA_PIXELS)
    return _amazon(prompt, params, size, seed % 858_993_460)


def _titan(prompt: PicturePrompt, params: ImageApiParams, width: int, height: int, seed: int) -> Any:
    wide, high = nearest_size(TITAN_SIZES, width=width, height=height).split("x")
    size = params.named_size or (int(wide), int(high))
    return _amazon(prompt, params, size, seed % 2_147_483_647)


def _amazon(
    prompt: PicturePrompt, params: ImageApiParams, size: tuple[int, int], seed: int
) -> dict[str, JsonValue]:
    words: dict[str, JsonValue] = {"text": prompt.text}
    if prompt.avoid:
        words["negativeText"] = ", ".join(prompt.avoid)[:512]
    config: dict[str, JsonValue] = {
        "numberOfImages": 1,
        "width": size[0],
        "height": size[1],
        "cfgScale": min(10.0, max(1.1, params.guidance)),
        "seed": seed,
    }
    if params.quality:
        config["quality"] = params.quality
    return {"taskType": "TEXT_IMAGE", "textToImageParams": words, "imageGenerationConfig": config}


def _stability(
    prompt: PicturePrompt, params: ImageApiParams, width: int, height: int, seed: int
) -> dict[str, JsonValue]:
    body: dict[str, JsonValue] = {
        "prompt": prompt.whole,
        "aspect_ratio": nearest_ratio(STABILITY_RATIOS, width=width, height=height),
        "output_format": "png",
        "seed": seed % 4_294_967_295,
    }
    if "sd3" in params.model:  # Core and Ultra are asked without: they draw from text only
        body |= {"mode": "text-to-image", "prompt": prompt.text}
        if prompt.avoid:
            body["negative_prompt"] = ", ".join(prompt.avoid)
    return body


FAMILIES: Mapping[str, _Family] = {
    "amazon.nova-canvas": _Family(1024, _nova),
    "amazon.titan-image": _Family(512, _titan),
    "stability.": _Family(10_000, _stability),
}
"""How a model's id goes on after a region's prefix -> how it is asked."""


class BedrockImages:
    """A model behind Amazon Bedrock; boto3 is imported and its client made at the first call.

    Args:
        params: settings of the source.
        context: key; without one, the AWS credentials that the worker finds in its own surroundings.
        make_client: makes the client; another one only in tests.
        now: seconds since 1970, for answers that name a date to come back at.

    Raises:
        ConfigError: the model is of no known family, or its name is none of Bedrock's.
        SutError: the key is not of the form that AWS uses.
    """

    def __init__(
        self,
        params: ImageApiParams,
        context: BackendContext,
        *,
        make_client: Callable[[BedrockParams, tuple[str, ...]], InvokeClient] | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._family = _family_of(params.model)
        self.most_characters: int | None = self._family.most_characters
        self._params = params
        self._key = key_parts(context.api_key)
        connection = {
            "model": params.model,
            "region": params.region,
            "timeout_s": params.timeout_s,
            "concurrency": params.max_concurrency,
        }
        settings = checked_settings(BedrockParams, connection)
        self._client = LazyClient(settings, self._key, make_client=make_client or _new_client, now=now)

    def make(self, prompt: PicturePrompt, *, width: int, height: int, seed: int) -> MadePicture:
        """Ask once for a picture; a refusal is a ``CallFailure`` of the kind "filtered"."""
        body = self._family.body(prompt, self._params, width, height, seed)
        raw = self._client.call(lambda client: self._answer(client, body))
        try:
            return read_picture(raw, model=self._params.model)
        except CallFailure as failure:
            failure.reword(Redactor(self._key).words)
            raise

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _answer(self, client: InvokeClient, body: dict[str, JsonValue]) -> bytes:
        """Return the bytes of an answer, as far as one may be read."""
        answer = client.invoke_model(
            modelId=self._params.model,
            body=json.dumps(body),
            contentType="application/json",
            accept="application/json",
        )
        raw: bytes = answer["body"].read(MOST_ANSWER_BYTES + 1)
        return raw


def read_picture(raw: bytes, *, model: str) -> MadePicture:
    """Return the picture of an answer; Amazon's and Stability's models both list pictures as base64.

    Raises:
        CallFailure: there is none: a filter held it back, the model failed, or it is another format.
    """
    if len(raw) > MOST_ANSWER_BYTES:
        raise CallFailure("too_large", "Bedrock's answer is longer than 16 MB.", is_retryable=False)
    try:
        answer = json.loads(raw)
    except (ValueError, RecursionError):
        raise unexpected("no JSON") from None
    if not isinstance(answer, Mapping):
        raise unexpected("no JSON object")
    pictures, reasons = answer.get("images"), answer.get("finish_reasons")
    reason = text(reasons[0]) if isinstance(reasons, list) and reasons else ""
    said = reason or text(answer.get("error"))
    if said:
        raise _not_made(said)
    if not isinstance(pictures, list) or not pictures or not text(pictures[0]):
        raise unexpected("no picture")
    return MadePicture(bytes_of_base64(text(pictures[0])), model=model)


def _not_made(said: str) -> CallFailure:
    """Return why an answer has no picture: Stability's "Inference error" is the model's own failure."""
    if said.strip().lower() == _INFERENCE_ERROR and not is_filtered("", said):
        return CallFailure(
            "server",
            f"The model behind Bedrock failed (“{plain_words(said)}”).",
            is_retryable=True,
            max_tries=2,
        )
    return refused(said)


def _new_client(params: BedrockParams, key: tuple[str, ...]) -> InvokeClient:
    return cast(InvokeClient, new_client(params, key))  # boto3's client has every operation


def _family_of(model: str) -> _Family:
    plain = model.split(".", 1)[1] if model.split(".", 1)[0] in {"us", "eu", "apac", "global"} else model
    for beginning, family in FAMILIES.items():
        if plain.startswith(beginning):
            return family
    raise ConfigError(
        f"How “{model[:80]}” is asked for a picture is not known.",
        hint=f"Choose a model whose id begins with {', '.join(FAMILIES)}.",
        field="model",
    )
