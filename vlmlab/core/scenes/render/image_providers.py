"""The plug point of image-generating models: one picture is asked for once, and comes or does not."""

import base64
import binascii
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from vlmlab.core.scenes.prompts_for_pictures import PicturePrompt
from vlmlab.core.scenes.render.backend_kinds import BackendContext
from vlmlab.core.scenes.render.image_api_params import ImageApiParams
from vlmlab.core.suts.failures import filtered, plain_words, unexpected
from vlmlab.core.suts.provider import CallFailure

CHECK_TIMEOUT_S = 5.0
MOST_PICTURE_BYTES = 12_000_000
_MULTIPLE = 16


@dataclass(frozen=True)
class MadePicture:
    """What a provider sent.

    Attributes:
        content: bytes of a picture file, not yet looked at.
        model: the exact model that made it, as reported; "" when not.
        revised_prompt: what the provider made of the prompt; "" when it says nothing.
        input_tokens, output_tokens: as reported, None when not.
    """

    content: bytes
    model: str = ""
    revised_prompt: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None


class ImageProvider(Protocol):
    """One provider's wire format; thread-safe.

    Attributes:
        most_characters: of a prompt; None for no limit of its own.
    """

    most_characters: int | None

    def make(self, prompt: PicturePrompt, *, width: int, height: int, seed: int) -> MadePicture:
        """Ask once for a picture; its size may be another, nearest to what the model offers.

        Raises:
            CallFailure: none came; kind "filtered" when the provider refused to draw this prompt.
            GenerationError: the model does not read as many words.
        """
        ...

    def close(self) -> None:
        """Close the connections and free memory."""
        ...


@dataclass(frozen=True)
class ImageProviderKind:
    """One provider.

    Attributes:
        name: value of ``ImageApiParams.provider``.
        title: for people.
        adapter_version: part of the identity; raised when what is sent or read changes.
        make: builds it without a connection; raises ``SutError`` for settings that cannot work.
        check: asks for something free that shows whether key and model are right, within seconds; raises
            ``CallFailure`` or ``SutError``.
        digest: what the pictures are made from on this machine, "" for what is served elsewhere.
    """

    name: str
    title: str
    adapter_version: str
    make: Callable[[ImageApiParams, BackendContext], ImageProvider]
    check: Callable[[ImageApiParams, BackendContext], None]
    digest: Callable[[ImageApiParams, BackendContext], str] = lambda _params, _context: ""


def _gemini(params: ImageApiParams, context: BackendContext) -> ImageProvider:
    from vlmlab.core.scenes.render.image_api_gemini import GeminiImages

    return GeminiImages(params, context)


def _check_gemini(params: ImageApiParams, context: BackendContext) -> None:
    from vlmlab.core.scenes.render.image_api_gemini import check_gemini

    check_gemini(params, context)


def _openai(params: ImageApiParams, context: BackendContext) -> ImageProvider:
    from vlmlab.core.scenes.render.image_api_openai import OpenAIImages

    return OpenAIImages(params, context)


def _check_openai(params: ImageApiParams, context: BackendContext) -> None:
    from vlmlab.core.scenes.render.image_api_openai import check_openai

    check_openai(params, context)


def _bedrock(params: ImageApiParams, context: BackendContext) -> ImageProvider:
    from vlmlab.core.scenes.render.image_api_bedrock import BedrockImages

    return BedrockImages(params, context)


def _check_bedrock(params: ImageApiParams, context: BackendContext) -> None:
    _bedrock(params, context).close()  # nothing that InvokeModel offers is free


def _diffusers(params: ImageApiParams, context: BackendContext) -> ImageProvider:
    from vlmlab.core.scenes.render.image_api_diffusers import DiffusersImages

    return DiffusersImages(params, context)


def _check_diffusers(params: ImageApiParams, context: BackendContext) -> None:
    from vlmlab.core.scenes.render.image_api_diffusers import check_diffusers

    check_diffusers(params, context)


def _digest_of_pipeline(params: ImageApiParams, context: BackendContext) -> str:
    from vlmlab.core.scenes.render.image_api_diffusers import pipeline_digest

    return pipeline_digest(params, context)


IMAGE_PROVIDERS: Mapping[str, ImageProviderKind] = {
    kind.name: kind
    for kind in (
        ImageProviderKind("gemini", "Google Gemini", "1", _gemini, _check_gemini),
        ImageProviderKind("openai", "OpenAI protocol", "1", _openai, _check_openai),
        ImageProviderKind("bedrock", "Amazon Bedrock", "1", _bedrock, _check_bedrock),
        ImageProviderKind(
            "diffusers", "Local diffusers pipeline", "1", _diffusers, _check_diffusers, _digest_of_pipeline
        ),
    )
}


def provider_of(params: ImageApiParams) -> ImageProviderKind:
    """Return the table's entry for settings."""
    return IMAGE_PROVIDERS[params.provider]


def refused(reason: str) -> CallFailure:
    """Return the failure of a prompt that the provider does not draw.

    Args:
        reason: its code or words.
    """
    return filtered(plain_words(reason))


def no_key() -> CallFailure:
    """Return the failure of a source without the key that its provider wants."""
    return CallFailure(
        "key", "This picture source has no API key. Choose one on its page.", is_retryable=False
    )


def bytes_of_base64(encoded: str) -> bytes:
    """Return the bytes of a picture written as base64, as RFC 4648 has it, also without its end signs.

    Raises:
        CallFailure: it is none, or too long for a picture.
    """
    if len(encoded) > MOST_PICTURE_BYTES * 4 // 3 + 4:
        raise CallFailure(
            "too_large",
            f"The picture has more than {MOST_PICTURE_BYTES // 1_000_000} MB. Ask for a smaller one.",
            is_retryable=False,
        )
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise unexpected("a picture that is cut or not base64") from None


def nearest_ratio(ratios: Sequence[str], *, width: int, height: int) -> str:
    """Return the ratio such as ``4:3`` that is nearest to a size; the first of equals."""
    return min(ratios, key=lambda ratio: _distance(*_numbers(ratio, ":"), width=width, height=height))


def nearest_size(sizes: Sequence[str], *, width: int, height: int) -> str:
    """Return the size such as ``1536x1024`` whose sides are nearest in ratio to a size."""
    return min(sizes, key=lambda size: _distance(*_numbers(size, "x"), width=width, height=height))


def asked_size(params: ImageApiParams, *, width: int, height: int, pixels: int) -> tuple[int, int]:
    """Return the size to ask a model for that takes any: sides are multiples of 16, at least 64.

    Args:
        params: ``size`` may name one, or say that it is to be the pictures' own.
        width: of the pictures that are wanted.
        height: of the pictures that are wanted.
        pixels: about how many pixels the model makes best.
    """
    if params.named_size is not None:
        return params.named_size
    scale = 1.0 if params.size == "exact" else math.sqrt(pixels / (width * height))
    return _rounded(width * scale), _rounded(height * scale)


def _rounded(side: float) -> int:
    return max(64, math.ceil(round(side, 6) / _MULTIPLE) * _MULTIPLE)


def _numbers(pair: str, sign: str) -> tuple[int, int]:
    first, second = pair.split(sign)
    return int(first), int(second)


def _distance(first: int, second: int, *, width: int, height: int) -> float:
    return abs(math.log(first / second) - math.log(width / height))
