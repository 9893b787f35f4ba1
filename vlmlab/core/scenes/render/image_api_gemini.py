"""Pictures from Google's generateContent: what is sent, what comes back, and what a refusal looks like."""

from collections.abc import Mapping

from pydantic import JsonValue

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
from vlmlab.core.suts.gemini import check_account, google_endpoint, model_path
from vlmlab.core.suts.origins import GOOGLE
from vlmlab.core.suts.reply_fields import count, member, objects, text, total

RATIOS = ("1:1", "2:3", "3:2", "3:4", "4:3", "9:16", "16:9", "21:9")
EXAMPLE = "gemini-3.1-flash-image"
_MOST_SEED = 2**31


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
        self._path = f"{model_path(params.model, example=EXAMPLE)}:generateContent"
        self._endpoint = google_endpoint(
            base_url, api_key=context.api_key, timeout_s=params.timeout_s, policy=context.network
        )

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
    check_account(reason)
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
    path = model_path(params.model, example=EXAMPLE)
    if not context.api_key:
        raise no_key()
    endpoint = google_endpoint(
        base_url, api_key=context.api_key, timeout_s=CHECK_TIMEOUT_S, policy=context.network
    )
    try:
        endpoint.get(path)
    finally:
        endpoint.close()


def _blob(part: Mapping[str, object]) -> Mapping[str, object]:
    inline = part.get("inlineData")
    return inline if isinstance(inline, Mapping) else {}
