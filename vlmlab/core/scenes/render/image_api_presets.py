"""Ready-made settings of image-generating models, so that nobody looks up a name or a switch."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

OWN_PRICE = "Enter your contract's price."
_LEAVES = "Models of this provider are switched off at short notice: see that it is still offered."


@dataclass(frozen=True)
class ImagePreset:
    """Filled-in settings.

    Attributes:
        name: key in ``IMAGE_PRESETS``.
        title: for people.
        params: valid settings of an image-generating model.
        note: what a person should know before using it.
        source: where its name and switches stand, and when that was read; nothing was tried live.
    """

    name: str
    title: str
    params: Mapping[str, JsonValue] = field(default_factory=dict)
    note: str = ""
    source: str = ""


_GOOGLE = "ai.google.dev, deprecations and image generation, as of documentation, read November 2026"
_OPENAI = "developers.openai.com, images, as of documentation, read November 2026"
_AWS = "docs.aws.amazon.com, Bedrock and Nova, as of documentation, read November 2026"
_DIFFUSERS = "huggingface.co/docs/diffusers, as of documentation, read November 2026"

IMAGE_PRESETS: Mapping[str, ImagePreset] = {
    preset.name: preset
    for preset in (
        ImagePreset(
            "gemini_flash_image",
            "Gemini 3.1 Flash Image",
            {"provider": "gemini", "model": "gemini-3.1-flash-image"},
            f"{OWN_PRICE} {_LEAVES}",
            _GOOGLE,
        ),
        ImagePreset(
            "gemini_pro_image",
            "Gemini 3 Pro Image",
            {"provider": "gemini", "model": "gemini-3-pro-image", "resolution": "1K", "timeout_s": 300},
            f"Thinks before it draws: slower and dearer. {OWN_PRICE} {_LEAVES}",
            _GOOGLE,
        ),
        ImagePreset(
            "gpt_image_flare",
            "GPT Image 2.5 Flare",
            {"provider": "openai", "model": "gpt-image-2.5-flare", "quality": "medium", "timeout_s": 300},
            f"Takes no seed: the background words alone tell samples apart. {OWN_PRICE}",
            _OPENAI,
        ),
        ImagePreset(
            "gpt_image_sunburst",
            "GPT Image 2.5 Sunburst",
            {"provider": "openai", "model": "gpt-image-2.5-sunburst", "quality": "high", "timeout_s": 300},
            f"Takes no seed: the background words alone tell samples apart. {OWN_PRICE}",
            _OPENAI,
        ),
        ImagePreset(
            "openai_compatible",
            "Own server with OpenAI's protocol",
            {
                "provider": "openai",
                "model": "model-name",
                "base_url": "http://127.0.0.1:8080/v1",
                "size": "exact",
                "sends_seed": True,
                "asks_for_base64": True,
                "price_usd_per_picture": 0.0,
            },
            "LocalAI and vLLM-Omni speak it, among others. Enter the name that the server gives its model, "
            "and have its address allowed in VLMLAB_ENDPOINT_ALLOW.",
            "The servers' own pages, as of documentation, read November 2026",
        ),
        ImagePreset(
            "stable_image_ultra",
            "Stable Image Ultra on Bedrock",
            {"provider": "bedrock", "model": "stability.stable-image-ultra-v1:1", "region": "us-west-2"},
            f"Ask for access to the model in the AWS console first. {OWN_PRICE}",
            _AWS,
        ),
        ImagePreset(
            "sd35_large_bedrock",
            "Stable Diffusion 3.5 Large on Bedrock",
            {"provider": "bedrock", "model": "stability.sd3-5-large-v1:0", "region": "us-west-2"},
            f"Ask for access to the model in the AWS console first. {OWN_PRICE}",
            _AWS,
        ),
        ImagePreset(
            "nova_canvas",
            "Amazon Nova Canvas",
            {
                "provider": "bedrock",
                "model": "amazon.nova-canvas-v1:0",
                "region": "us-east-1",
                "quality": "standard",
            },
            "AWS ended it on 30 September 2026: it answers only accounts with an arrangement of their own. "
            "A prompt has at most 1,024 characters.",
            _AWS,
        ),
        ImagePreset(
            "diffusers_folder",
            "diffusers pipeline in a folder",
            {"provider": "diffusers", "model": "org/pipeline"},
            "Copy a pipeline with safetensors weights below the model directory and enter its folder. The "
            "workers need the package diffusers; without a GPU a picture takes minutes.",
            _DIFFUSERS,
        ),
    )
}
