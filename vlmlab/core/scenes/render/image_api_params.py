"""Settings of image-generating models: which provider, what is asked for, what it may cost."""

import re
from typing import Literal

from pydantic import Field, JsonValue, ValidationInfo, field_validator

from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.render.backend_kinds import BackendContext, BackendKind, BackendParams
from vlmlab.core.scenes.scene import SceneSource
from vlmlab.core.suts.origins import origin_of_address

IMAGE_API = "image_api"
ImageProviderName = Literal["gemini", "openai", "bedrock", "diffusers"]

UNIDENTIFYING = frozenset(
    {
        "timeout_s", "requests_per_minute", "max_concurrency", "price_usd_per_picture", "input_price_usd",
        "output_price_usd",
    }
)  # fmt: skip
"""Settings that change no picture, and so are not part of an identity."""

_KEY_KINDS: dict[str, str] = {"gemini": "gemini", "openai": "openai_chat", "bedrock": "bedrock"}
_OWN_FIELDS = frozenset({"model", "prompt", "n", "size", "quality", "stream", "seed", "response_format"})
_FOLDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+=-]*(?:/[A-Za-z0-9][A-Za-z0-9._+=-]*){0,7}")


class ImageApiParams(BackendParams):
    """An image-generating model; settings of other providers than the chosen one are not read."""

    provider: ImageProviderName = Field(
        title="Provider",
        description=(
            "Google Gemini, a server with OpenAI's /images/generations, Amazon Bedrock, or a diffusers "
            "pipeline in a folder on the worker."
        ),
    )
    model: str = Field(
        min_length=1,
        max_length=200,
        pattern=r"^[A-Za-z0-9/.][A-Za-z0-9._:/@+=-]*$",
        title="Model",
        description="The provider's name of the model; for diffusers the folder below the model directory.",
    )
    base_url: str = Field(
        default="https://api.openai.com/v1",
        min_length=8,
        max_length=300,
        title="Address",
        description="For OpenAI's protocol: everything before /images/generations.",
    )
    region: str = Field(
        default="us-west-2",
        pattern=r"^[a-z]{2}(-[a-z]+)+-\d$",
        title="Region",
        description="For Bedrock: the AWS region that serves the model.",
    )
    size: str = Field(
        default="",
        pattern=r"^(|exact|[1-9]\d{1,3}x[1-9]\d{1,3})$",
        title="Size asked for",
        description=(
            "Such as 1024x1024. Empty: the nearest that the model is known to offer. exact: the size of the "
            "run's pictures, rounded up to multiples of 16. What comes back is scaled and cut to the run's."
        ),
    )
    quality: str = Field(
        default="",
        max_length=20,
        pattern=r"^[a-z0-9_-]*$",
        title="Quality",
        description="For OpenAI and Nova Canvas, such as low, medium or high; empty: not sent.",
    )
    resolution: Literal["", "1K", "2K"] = Field(
        default="", title="Resolution", description="For Gemini 3; empty: not sent, which gives 1K."
    )
    sends_seed: bool = Field(
        default=False,
        title="Send the seed",
        description=(
            "For Gemini and servers with OpenAI's protocol; OpenAI itself refuses it. Bedrock and diffusers "
            "always get it."
        ),
    )
    asks_for_base64: bool = Field(
        default=False,
        title="Ask for the picture itself",
        description=(
            "For servers that answer with a link unless response_format is b64_json; GPT Image refuses the "
            "field. Links are never followed."
        ),
    )
    extra_body: dict[str, JsonValue] = Field(
        default_factory=dict,
        title="Further fields",
        description="For OpenAI's protocol: JSON object merged into the request, such as a server's steps.",
    )
    steps: int = Field(
        default=25, ge=1, le=200, title="Steps", description="For diffusers: denoising steps of a picture."
    )
    guidance: float = Field(
        default=5.0,
        ge=0,
        le=30,
        title="Guidance",
        description="For diffusers and Nova Canvas: how closely the words are followed.",
    )
    device: Literal["auto", "cpu", "cuda"] = Field(
        default="auto", title="Device", description="For diffusers: auto takes a GPU when there is one."
    )
    style: str = Field(
        default="Photorealistic photograph, natural colours, everything in focus.",
        max_length=300,
        title="Style",
        description="First sentence of every prompt.",
    )
    avoid: str = Field(
        default="text, lettering, captions, logos, watermark",
        max_length=300,
        title="Leave out",
        description="What no picture is to show, commas between; the negative prompt where there is one.",
    )
    max_words: int = Field(
        default=200,
        ge=30,
        le=1000,
        title="Most words of a prompt",
        description="Background words and style give way first; concepts never do.",
    )
    max_attempts: int = Field(
        default=3,
        ge=1,
        le=10,
        title="Attempts",
        description="Pictures asked for before a set counts as refused; each may cost money.",
    )
    presence_threshold: float = Field(
        default=1.0,
        ge=0.1,
        le=1.0,
        title="Share that must be seen",
        description="Of a set's concepts, when a second system looks at every picture.",
    )
    timeout_s: float = Field(
        default=180.0, ge=1, le=600, title="Time limit", description="Seconds one try of a call may take."
    )
    requests_per_minute: float | None = Field(
        default=None,
        ge=0.2,
        le=10_000,
        title="Calls a minute",
        description="Of one worker; empty: no limit of ours.",
    )
    max_concurrency: int = Field(
        default=2,
        ge=1,
        le=16,
        title="Calls at once",
        description="Most calls of one worker in flight, fewer after a 429; a run asks for one at a time.",
    )
    price_usd_per_picture: float | None = Field(
        default=None,
        ge=0,
        le=1000,
        title="Price of a picture",
        description="US dollars; empty: counted by tokens when both prices below are given, else not at all.",
    )
    input_price_usd: float | None = Field(
        default=None,
        ge=0,
        le=10_000,
        title="Price of a million input tokens",
        description="US dollars; empty: unknown.",
    )
    output_price_usd: float | None = Field(
        default=None,
        ge=0,
        le=10_000,
        title="Price of a million output tokens",
        description="US dollars; a picture's tokens count as output.",
    )

    @field_validator("base_url")
    @classmethod
    def _ends_before_the_operation(cls, address: str) -> str:
        if address.rstrip("/").endswith("/images/generations"):
            raise ValueError("leave /images/generations out: the lab adds it")
        return address

    @field_validator("extra_body")
    @classmethod
    def _takes_no_field_of_ours(cls, body: dict[str, JsonValue]) -> dict[str, JsonValue]:
        clash = sorted(_OWN_FIELDS & body.keys())
        if clash:
            raise ValueError(
                f"leave {clash[0]} out: it has a setting of its own, or one picture is asked for"
            )
        return body

    @field_validator("model")
    @classmethod
    def _names_a_folder(cls, model: str, info: ValidationInfo) -> str:
        is_plain = _FOLDER.fullmatch(model) and ".." not in model.split("/")
        if info.data.get("provider") == "diffusers" and not is_plain:
            raise ValueError("write the pipeline's folder as a plain path below the model directory")
        return model

    @property
    def named_size(self) -> tuple[int, int] | None:
        """Width and height in pixels that the setting names, None when it leaves them to be found."""
        if not self.size[:1].isdigit():
            return None
        width, height = self.size.split("x")
        return int(width), int(height)

    @property
    def most_usd_of_a_scene(self) -> float | None:
        """The most in US dollars that one scene can cost, all attempts together; None when it is unknown.

        Prices by the token say nothing before a picture is there, so only a price of a picture does.
        """
        if self.provider == "diffusers":
            return 0.0
        if self.price_usd_per_picture is None:
            return None
        return self.price_usd_per_picture * self.max_attempts


def key_kind_of(params: ImageApiParams) -> str:
    """Return the kind of system (key of ``SUT_KINDS``) whose keys this provider takes, "" for none."""
    return _KEY_KINDS.get(params.provider, "")


def key_origin_of(params: ImageApiParams) -> str:
    """Return the server that the key is sent to, "" where none is sent.

    Raises:
        SutError: the address in the settings is none.
    """
    kind = key_kind_of(params)
    return origin_of_address(kind, params.base_url) if kind else ""


def _obstacle(_domain: Domain) -> str:
    return ""


def _check(domain: Domain, params: BackendParams, context: BackendContext) -> None:
    from vlmlab.core.scenes.render.image_api import check_image_api

    assert isinstance(params, ImageApiParams)
    check_image_api(domain, params, context)


def _load(
    domain: Domain, params: BackendParams, context: BackendContext, *, width: int, height: int
) -> SceneSource:
    # Imported here: it brings Pillow and the HTTP client, which a form never needs.
    from vlmlab.core.scenes.render.image_api import load_image_api

    assert isinstance(params, ImageApiParams)
    return load_image_api(domain, params, context, width=width, height=height)


def _key_origin(params: BackendParams) -> str:
    assert isinstance(params, ImageApiParams)
    return key_origin_of(params)


def _scene_usd(params: BackendParams) -> float | None:
    assert isinstance(params, ImageApiParams)
    return params.most_usd_of_a_scene


IMAGE_API_KIND = BackendKind(
    name=IMAGE_API,
    title="Image-generating model",
    description="Asks a model for a picture of the set: Gemini, OpenAI's protocol, Bedrock or diffusers.",
    needs="A key of the provider, or a pipeline in the model directory; a second system to check is advised.",
    params=ImageApiParams,
    obstacle=_obstacle,
    check=_check,
    load=_load,
    is_remote=True,
    has_boxes=False,
    key_words="API key of the provider",
    key_origin=_key_origin,
    takes_presence=True,
    picture_usd=_scene_usd,
)
