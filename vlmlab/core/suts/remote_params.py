"""Settings of systems that answer over a network: what all of them have, and what each provider adds."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator

from vlmlab.core.suts.asking import AskingParams

Thinking = Literal["default", "off", "minimal", "low", "medium", "high"]

SAFE_CLAUDE_SIDE = 1092
"""Largest side in pixels of a square picture that no Claude scales down (39 x 39 patches of 28 pixels)."""

ROOM_FOR_THINKING = 4096
"""Longest reply of models that think unless they are told not to; a cut-off answer is malformed."""

UNIDENTIFYING = frozenset(
    {
        "asking",
        "concurrency",
        "requests_per_minute",
        "tokens_per_minute",
        "timeout_s",
        "input_price_usd",
        "output_price_usd",
        "spend_cap_usd",
    }
)
"""Settings that change no answer to a given prompt, and so are not part of a fingerprint."""


class RemoteParams(BaseModel):
    """What every remote system declares."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    model: str = Field(
        min_length=1,
        max_length=200,
        pattern=r"^[A-Za-z0-9/.][A-Za-z0-9._:/@+-]*$",
        title="Model",
        description="The provider's name of the model, as its documentation writes it.",
    )
    revision: str = Field(
        default="",
        max_length=100,
        title="Revision",
        description="Dated snapshot or note that tells this version from others; part of the identity.",
    )
    asking: AskingParams = Field(default_factory=AskingParams, title="How it is asked")
    system_prompt: str = Field(
        default="", max_length=10_000, title="System turn", description="Text of a system turn; empty: none."
    )
    temperature: float | None = Field(
        default=None, ge=0, le=2, title="Temperature", description="Empty: not sent; some models refuse it."
    )
    max_output_tokens: int = Field(
        default=1024,
        ge=1,
        le=65_536,
        title="Longest reply",
        description="Most tokens of a reply, thinking included.",
    )
    thinking: Thinking = Field(
        default="default",
        title="Thinking",
        description="How long it thinks before it answers; default sends nothing.",
    )
    max_image_side: int = Field(
        default=1568,
        ge=64,
        le=8192,
        title="Longest side",
        description="Pictures with a longer side are scaled down here before they are sent, in pixels.",
    )
    concurrency: int = Field(
        default=4, ge=1, le=64, title="Calls at once", description="Most calls in flight; fewer after a 429."
    )
    requests_per_minute: float | None = Field(
        default=None, ge=0.01, le=100_000, title="Calls a minute", description="Empty: no limit of ours."
    )
    tokens_per_minute: float | None = Field(
        default=None, ge=1, le=1e9, title="Tokens a minute", description="Empty: no limit of ours."
    )
    timeout_s: float = Field(
        default=120.0, ge=1, le=600, title="Time limit", description="Seconds one try of a call may take."
    )
    input_price_usd: float | None = Field(
        default=None,
        ge=0,
        le=10_000,
        title="Price of a million input tokens",
        description="US dollars; empty: unknown, nothing is counted.",
    )
    output_price_usd: float | None = Field(
        default=None,
        ge=0,
        le=10_000,
        title="Price of a million output tokens",
        description="US dollars; thinking counts as output.",
    )
    spend_cap_usd: float | None = Field(
        default=None,
        gt=0,
        le=1_000_000,
        title="Spending limit of the system",
        description="US dollars that all work with this registration may cost together; needs both prices.",
    )


class OpenAIChatParams(RemoteParams):
    """A server that speaks the chat completions protocol, from llama.cpp to OpenAI."""

    base_url: str = Field(
        default="https://api.openai.com/v1",
        min_length=8,
        max_length=300,
        title="Address",
        description="Everything before /chat/completions, such as http://127.0.0.1:8000/v1.",
    )
    token_limit_name: Literal["max_tokens", "max_completion_tokens"] = Field(
        default="max_tokens",
        title="Name of the token limit",
        description="max_completion_tokens for OpenAI's reasoning models, max_tokens for everybody else.",
    )
    image_detail: Literal["", "low", "high", "auto"] = Field(
        default="", title="Picture detail", description="Empty: not sent; OpenAI takes low, high or auto."
    )
    extra_body: dict[str, JsonValue] = Field(
        default_factory=dict,
        title="Further fields",
        description="JSON object merged into the request, such as a server's own switches.",
    )

    @field_validator("base_url")
    @classmethod
    def _ends_before_the_operation(cls, address: str) -> str:
        if address.rstrip("/").endswith("/chat/completions"):
            raise ValueError("leave /chat/completions out: the lab adds it")
        return address


class GeminiParams(RemoteParams):
    """Google's generateContent."""

    max_output_tokens: int = Field(
        default=ROOM_FOR_THINKING,
        ge=1,
        le=65_536,
        title="Longest reply",
        description="Most tokens of a reply, thinking included; Gemini thinks unless it is told otherwise.",
    )
    media_resolution: Literal["", "low", "medium", "high"] = Field(
        default="", title="Picture resolution", description="Tokens spent on the picture; empty: not sent."
    )


class ClaudeSizedParams(RemoteParams):
    """What providers of Claude share: pictures small enough that none is scaled down on their side."""

    max_output_tokens: int = Field(
        default=ROOM_FOR_THINKING,
        ge=1,
        le=65_536,
        title="Longest reply",
        description="Most tokens of a reply, thinking included; Claude 5 thinks unless it is told otherwise.",
    )
    max_image_side: int = Field(
        default=SAFE_CLAUDE_SIDE,
        ge=64,
        le=8192,
        title="Longest side",
        description=(
            "Pictures with a longer side are scaled down here before they are sent, in pixels. Claude scales "
            "larger pictures itself without saying so, which moves boxes."
        ),
    )


class AnthropicParams(ClaudeSizedParams):
    """Anthropic's messages."""

    api_version: Literal["2026-10-21", "2023-06-01"] = Field(
        default="2026-10-21",
        title="Version of the API",
        description="2023-06-01 still takes a temperature, with models up to Claude 4.6.",
    )


class BedrockParams(ClaudeSizedParams):
    """Amazon Bedrock's Converse through boto3."""

    region: str = Field(
        default="us-east-1",
        pattern=r"^[a-z]{2}(-[a-z]+)+-\d$",
        title="Region",
        description="AWS region that serves the model.",
    )
    extra_fields: dict[str, JsonValue] = Field(
        default_factory=dict,
        title="Further fields",
        description="JSON object sent as additionalModelRequestFields.",
    )
