"""Words and units for values of settings: one table for the form and for the page of a system."""

# Words for values of a choice; a value without one stands as it is.
CHOICE_WORDS: dict[str, dict[str, str]] = {
    "device": {"auto": "Automatic", "cpu": "CPU", "cuda": "GPU"},
    "thinking": {"default": "Not sent", "off": "Off"},
    "asking.convention.space": {
        "relative": "Shares of the picture",
        "seen_pixels": "Pixels of the picture it saw",
    },
    "asking.convention.order": {
        "xyxy": "x first (xyxy)",
        "yxyx": "y first (yxyx)",
    },
    "asking.convention.syntax": {
        "json": "JSON",
        "json_named": "JSON, corners by name",
        "qwen_markup": "Qwen's markup",
        "ref_box": "<ref> and <box>",
        "ref_det": "<|ref|> and <|det|>",
        "begin_of_box": "<|begin_of_box|>",
        "loc": "<loc_123>",
        "loc4": "<loc0123>",
        "double_bracket": "[[123, …]]",
        "bbox_tag": "<bbox>",
        "list": "A plain list",
    },
    "token_limit_name": {
        "max_tokens": "max_tokens",
        "max_completion_tokens": "max_completion_tokens",
    },
    "image_detail": {"": "Not sent"},
    "match": {
        "contains": "Show all of the set",
        "same_answer": "Show all of the set, with the same answer",
        "exact": "Show exactly the set",
    },
    "fit": {"contain": "Grey bars", "cover": "Cut to fill"},
    "provider": {"openai": "OpenAI's protocol", "gemini": "Google Gemini", "bedrock": "Amazon Bedrock"},
    "resolution": {"": "Not sent", "1K": "1K", "2K": "2K"},
    "media_resolution": {"": "Not sent"},
}
UNITS = {
    "max_new_tokens": "tokens",
    "max_output_tokens": "tokens",
    "max_image_side": "pixels",
    "timeout_s": "seconds",
}


def choice_word(path: str, value: str) -> str:
    """Return a value of a choice in words."""
    return CHOICE_WORDS.get(path, {}).get(value, value.capitalize())


def setting_word(path: str, value: str) -> str:
    """Return a value of a choice as it stands beside others: a small letter first, but not in names."""
    word = choice_word(path, value)
    return word[:1].lower() + word[1:] if word[1:].islower() else word


def with_unit(path: str, value: float) -> str:
    """Return a number with its unit, where the setting has one."""
    if path.endswith("_usd"):
        return f"${value:,.2f}" if round(value, 2) == value else f"${value:,.10g}"
    if path == "port":
        return str(value)
    number = f"{value:,.10g}"
    return f"{number} {UNITS[path]}" if path in UNITS else number
