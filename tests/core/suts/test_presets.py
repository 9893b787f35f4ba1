"""Ready-made registrations: each is valid, can be sent, and declares its family's convention."""

import json
from urllib.parse import unquote

import pytest

from tests.peers.calls import picture
from vlmlab.core.suts.base import SutRequest
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.kinds import SUT_KINDS, parse_params
from vlmlab.core.suts.network import policy_of
from vlmlab.core.suts.presets import SUT_PRESETS
from vlmlab.core.suts.preview import preview_request
from vlmlab.core.suts.prompt_styles import PROMPT_STYLES
from vlmlab.core.suts.remote import inspect_remote

LOCAL_SERVERS = SutContext(network=policy_of(["127.0.0.0/8:1-65535"]))
PRESETS = pytest.mark.parametrize("preset", SUT_PRESETS.values(), ids=lambda preset: preset.name)

# Family of the table of conventions -> coordinates, scale, order, bin offset.
CONVENTIONS = {
    "0-1000 xyxy": ("relative", 1000, "xyxy", 0),
    "0-999 xyxy": ("relative", 999, "xyxy", 0),
    "0-1 xyxy": ("relative", 1, "xyxy", 0),
    "0-1000 yxyx": ("relative", 1000, "yxyx", 0),
    "1024 yxyx": ("relative", 1024, "yxyx", 0),
    "1000 bins": ("relative", 1000, "xyxy", 0.5),
    "pixels": ("seen_pixels", None, "xyxy", 0),
}


@PRESETS
def test_preset_is_valid_and_says_what_to_know(preset):
    params = parse_params(preset.kind, preset.params)

    assert SUT_PRESETS[preset.name] is preset
    assert SUT_KINDS[preset.kind].is_web_registrable
    assert params.asking.prompt_style in PROMPT_STYLES
    assert preset.note.endswith(".")
    assert preset.source
    assert preset.family


@pytest.mark.parametrize(
    "preset",
    [preset for preset in SUT_PRESETS.values() if SUT_KINDS[preset.kind].is_remote],
    ids=lambda preset: preset.name,
)
def test_remote_preset_passes_the_check_of_its_provider_and_can_be_shown(preset):
    params = parse_params(preset.kind, preset.params)

    inspect_remote(params, LOCAL_SERVERS)

    shown = json.loads(preview_request(preset.kind, params, SutRequest(picture(), "hi")))
    assert params.model in unquote(json.dumps(shown))
    assert "<PNG picture, 40 x 30, 98 bytes>" in json.dumps(shown["body"])


@pytest.mark.parametrize(
    ("name", "kind", "model", "style", "convention"),
    [
        ("qwen3_vl_4b", "transformers_local", "Qwen/Qwen3-VL-4B-Instruct", "json_0_1000", "0-1000 xyxy"),
        ("internvl3_5_8b", "transformers_local", "OpenGVLab/InternVL3_5-8B-HF", "ref_box", "0-1000 xyxy"),
        ("gemma_3_4b", "transformers_local", "google/gemma-3-4b-it", "gemini", "0-1000 yxyx"),
        ("glm_4_6v_flash", "transformers_local", "zai-org/GLM-4.6V-Flash", "begin_of_box", "0-1000 xyxy"),
        ("kimi_vl_a3b", "openai_chat", "moonshotai/Kimi-VL-A3B-Instruct", "json_0_1", "0-1 xyxy"),
        ("deepseek_vl2_tiny", "openai_chat", "deepseek-ai/deepseek-vl2-tiny", "ref_det", "0-999 xyxy"),
        ("qwen3_vl_235b", "openai_chat", "Qwen/Qwen3-VL-235B-A22B-Instruct", "json_0_1000", "0-1000 xyxy"),
        (
            "nemotron_3_nano_omni_30b",
            "openai_chat",
            "nvidia/Nemotron-3-Nano-Omni-30B-A3B-Reasoning-BF16",
            "json_0_1000",
            "0-1000 xyxy",
        ),
        ("gemini_3_flash_minimal", "gemini", "gemini-3-flash-preview", "gemini", "0-1000 yxyx"),
        ("claude_sonnet_4_6", "anthropic", "claude-sonnet-4-6", "json_pixels", "pixels"),
        ("claude_haiku_4_5", "anthropic", "claude-haiku-4-5-20251001", "json_pixels", "pixels"),
        ("bedrock_claude_sonnet_4_6", "bedrock", "us.anthropic.claude-sonnet-4-6", "json_pixels", "pixels"),
        ("moondream", "openai_chat", "vikhyatk/moondream2", "named", "0-1 xyxy"),
        ("florence_2", "openai_chat", "microsoft/Florence-2-large-ft", "florence", "1000 bins"),
        ("paligemma_2", "openai_chat", "google/paligemma2-3b-mix-448", "paligemma", "1024 yxyx"),
    ],
)
def test_preset_declares_model_words_and_convention(name, kind, model, style, convention):
    params = parse_params(SUT_PRESETS[name].kind, SUT_PRESETS[name].params)
    found = params.asking.convention

    assert SUT_PRESETS[name].kind == kind
    assert (params.checkpoint if kind == "transformers_local" else params.model) == model
    assert params.asking.prompt_style == style
    assert (found.space, found.scale, found.order, found.bin_offset) == CONVENTIONS[convention]


def test_gemini_3_flash_has_one_preset_for_each_thinking_level():
    levels = {
        name: preset.params["thinking"] for name, preset in SUT_PRESETS.items() if preset.kind == "gemini"
    }

    assert levels == {
        "gemini_3_flash_minimal": "minimal",
        "gemini_3_flash_low": "low",
        "gemini_3_flash_medium": "medium",
        "gemini_3_flash_high": "high",
    }


@pytest.mark.parametrize("name", ["gemma_3_4b", "nemotron_3_nano_omni_30b"])
def test_undocumented_convention_is_said_to_need_calibration(name):
    assert "calibrate it before you trust a box" in SUT_PRESETS[name].note


def test_prices_stand_only_where_the_provider_publishes_them():
    priced = {
        name: (preset.params["input_price_usd"], preset.params["output_price_usd"])
        for name, preset in SUT_PRESETS.items()
        if "input_price_usd" in preset.params
    }

    assert priced == {"claude_sonnet_4_6": (3.0, 15.0), "claude_haiku_4_5": (1.0, 5.0)}
    assert all("your contract's price" in SUT_PRESETS[name].note for name in priced)
    assert all("platform.claude.com" in SUT_PRESETS[name].source for name in priced)
