"""Which setting stands in which part of the form of a system, and what people know of conventions."""

from dataclasses import dataclass

from searches.forms.settings_form import SectionPlan

SECTIONS: tuple[SectionPlan, ...] = (
    SectionPlan(
        "where",
        "Where it runs",
        "Which weights, on which machine.",
        ("folder", "hub_id", "base_url", "model", "region", "revision"),
    ),
    SectionPlan("key", "Key", "Stored sealed; nobody sees it again.", ("api_key", "secret", "key_name")),
    SectionPlan(
        "asking",
        "How it is asked",
        "The words that are sent.",
        ("asking.prompt_style", "asking.localization_template", "asking.choice_template", "system_prompt"),
    ),
    SectionPlan(
        "convention",
        "How it writes boxes",
        "Declared, never guessed; the calibration checks it.",
        (
            "asking.convention.space",
            "asking.convention.scale",
            "asking.convention.order",
            "asking.convention.bin_offset",
        ),
    ),
    SectionPlan(
        "decoding",
        "Decoding",
        "The same model with other values is another system.",
        ("temperature", "thinking", "max_output_tokens", "max_new_tokens"),
    ),
    SectionPlan(
        "limits",
        "Limits and money",
        "Prices stand in the provider's price list.",
        (
            "input_price_usd",
            "output_price_usd",
            "spend_cap_usd",
            "concurrency",
            "requests_per_minute",
            "tokens_per_minute",
            "timeout_s",
        ),
    ),
)
ADVANCED = SectionPlan("advanced", "Advanced", "The defaults suit most systems.", (), is_folded=True)


@dataclass(frozen=True)
class KnownConvention:
    """How a family writes boxes."""

    families: str
    space: str
    scale: str
    order: str
    bin_offset: str = "0"


KNOWN_CONVENTIONS: tuple[KnownConvention, ...] = (
    KnownConvention("Qwen3-VL, Qwen2-VL, InternVL, GLM-V, CogVLM, MiniCPM-V", "shares", "1000", "xyxy"),
    KnownConvention("DeepSeek-VL2", "shares", "999", "xyxy"),
    KnownConvention("Kimi-VL, Moondream", "shares", "1", "xyxy"),
    KnownConvention("Gemini", "shares", "1000", "yxyx"),
    KnownConvention("PaliGemma", "shares", "1024", "yxyx"),
    KnownConvention("Florence-2", "shares", "1000", "xyxy", bin_offset="0.5"),
    KnownConvention("Qwen2.5-VL, GPT, Claude", "pixels", "none", "xyxy"),
)
