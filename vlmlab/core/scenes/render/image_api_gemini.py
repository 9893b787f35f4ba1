"""Pictures from Google's generateContent: what is sent, what comes back, and what a refusal looks like."""

import re
from collections.abc import Mapping

from pydantic import JsonValue

from vlmlab.core.errors import ConfigError
from vlmlab.core.scenes.prompts_for_pictures import PicturePrompt
from vlmlab.core.scenes.render.backend_kinds import BackendContext
from vlmlab.core.scenes.render.image_api_params import ImageApiParams
from vlmlab.core.scenes.render.image_providers import (
    CHECK_TIMEOUT_S,
    MadePicture,
    bytes_of_base64,
    nearest_ratio,
    no_key,
    refused,
)
from vlmlab.core.suts.failures import unexpected
from vlmlab.core.suts.gemini import explain
from vlmlab.core.suts.http_json import JsonEndpoint
from vlmlab.core.suts.origins import GOOGLE
from vlmlab.core.suts.provider import CallFailure
from vlmlab.core.suts.reply_fields import count, member, objects, text, total

RATIOS = ("1:1", "2:3", "3:2", "3:4", "4:3", "9:16", "16:9", "21:9")
_NAME = re.compile(r"(?:models/)?([A-Za-z0-9][A-Za-z0-9._-]*)")
_MOST_SEED = 2**31
_LIMITED = "PUP_LIMITED_DISABLED"


class GeminiImages:
    """A Gemini model that draws, behind Google's API for developers.

    Args:
        params: settings of the source.
        context: key and network.
        base_url: where the API lies; another one only in tests.

    Raises:
        ConfigError: the model's name is none.
        SutError: the key cannot stand in a header.
    """

    most_characters: int | None = None

    def __init__(self, params: ImageApiParams, context: BackendContext, *, base_url: str = GOOGLE) -> None:
        self._params = params
        self._has_key = bool(context.api_key)
        self._path = f"{_model_path(params)}:generateContent"
        self._endpoint = _endpoint(params, context, base_url=base_url, timeout_s=params.timeout_s)

    def make(self, prompt: PicturePrompt, *, width: int, height: int, seed: int) -> MadePicture:
        """Ask once for a picture; a refusal is a ``CallFailure`` of the kind "filtered"."""
        if not self._has_key:
            raise no_key()
        config: dict[str, JsonValue] = {
            "responseModalities": ["IMAGE"],
            "imageConfig": {
                "aspectRatio": nearest_ratio(RATIOS, width=width, height=height),
                **({"imageSize": self._params.resolution} if self._params.resolution else {}),
            },
        }
        if self._params.sends_seed:
            config["seed"] = seed % _MOST_SEED
        contents: list[JsonValue] = [{"role": "user", "parts": [{"text": prompt.whole}]}]
        return read_picture(
            self._endpoint.post(self._path, {"contents": contents, "generationConfig": config})
        )

    def close(self) -> None:
        """Close the connections."""
        self._endpoint.close()


def read_picture(answer: Mapping[str, object]) -> MadePicture:
    """Return the picture of an answer; drafts that a thinking model made on the way are left out.

    Raises:
        CallFailure: there is none: the prompt or the picture was blocked, the model answered with words, or
            it is no answer of generateContent.
    """
    candidates = objects(answer.get("candidates"))
    blocked = text(member(answer, "promptFeedback", "blockReason"))
    if not candidates:
        raise refused(f"prompt blocked: {blocked}") if blocked else unexpected("no candidate")
    reason = text(candidates[0].get("finishReason"))
    if reason == _LIMITED:
        raise CallFailure(
            "key", "Google has limited this account. See its notice in Google AI Studio.", is_retryable=False
        )
    parts = [
        part for part in objects(member(candidates[0], "content", "parts")) if part.get("thought") is not True
    ]
    pictures = [data for part in parts if (data := text(_blob(part).get("data")))]
    if not pictures:
        said = " ".join(words for part in parts if (words := text(part.get("text"))))
        why = text(candidates[0].get("finishMessage")) or said
        raise refused(": ".join(word for word in (reason or "no picture", why) if word))
    usage = answer.get("usageMetadata")
    return MadePicture(
        bytes_of_base64(pictures[-1]),
        model=text(answer.get("modelVersion"))[:200],
        input_tokens=count(member(usage, "promptTokenCount")),
        output_tokens=total(
            count(member(usage, "candidatesTokenCount")), count(member(usage, "thoughtsTokenCount"))
        ),
    )


def check_gemini(params: ImageApiParams, context: BackendContext, *, base_url: str = GOOGLE) -> None:
    """Ask whether the model exists and the key is valid, which is free.

    Raises:
        CallFailure: one of them is not, or Google cannot be reached.
        SutError: the settings cannot work.
    """
    path = _model_path(params)
    if not context.api_key:
        raise no_key()
    endpoint = _endpoint(params, context, base_url=base_url, timeout_s=CHECK_TIMEOUT_S)
    try:
        endpoint.get(path)
    finally:
        endpoint.close()


def _endpoint(
    params: ImageApiParams, context: BackendContext, *, base_url: str, timeout_s: float
) -> JsonEndpoint:
    return JsonEndpoint(
        base_url=base_url,
        headers={"x-goog-api-key": context.api_key},
        timeout_s=timeout_s,
        policy=context.network,
        explain=explain,
    )


def _model_path(params: ImageApiParams) -> str:
    match = _NAME.fullmatch(params.model)
    if match is None:
        raise ConfigError(
            f"“{params.model}” is not the name of a Gemini model.",
            hint="Write it as Google does, such as gemini-3.1-flash-image.",
            field="model",
        )
    return f"/v1beta/models/{match[1]}"


def _blob(part: Mapping[str, object]) -> Mapping[str, object]:
    inline = part.get("inlineData")
    return inline if isinstance(inline, Mapping) else {}
