"""Whether another model answered than the one that was asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.suts.presets import SUT_PRESETS
from vlmlab.core.suts.served import is_other_model


@pytest.mark.parametrize(
    ("asked", "served"),
    [
        ("gpt-4o", "gpt-4o"),
        ("gpt-4o", "gpt-4o-2024-08-06"),
        ("gpt-4", "gpt-4-0613"),
        ("claude-haiku-4-5", "claude-haiku-4-5-20251001"),
        ("claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022"),
        ("claude-3-5-sonnet@20240620", "claude-3-5-sonnet-20240620"),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5-20251001"),
        ("global.anthropic.claude-sonnet-4-6", "anthropic.claude-sonnet-4-6"),
        ("arn:aws:bedrock:us-east-1:1:inference-profile/us.amazon.nova-lite-v1:0", "amazon.nova-lite-v1:0"),
        ("models/gemini-2.5-flash", "gemini-2.5-flash"),
        ("gemini-2.0-flash", "gemini-2.0-flash-001"),
        ("Qwen/Qwen3-VL-4B-Instruct", "/models/Qwen3-VL-4B-Instruct/"),
        ("Qwen/Qwen3-VL-4B-Instruct", "qwen3-vl-4b-instruct"),
        ("google/gemini-3-flash-preview", "gemini-3-flash-preview"),
        ("z-ai/glm-4.6v-flash:free", "z-ai/glm-4.6v-flash"),
        ("gemma3", "gemma3:latest"),
        ("Qwen3-VL-4B-Q4_K_M", "/srv/Qwen3-VL-4B-Q4_K_M.gguf"),
        ("gpt-4o", ""),
        ("", "gpt-4o"),
    ],
)
def test_snapshots_prefixes_and_silence_are_the_same_model(asked, served):
    assert not is_other_model(asked, served)


@pytest.mark.parametrize(
    ("asked", "served"),
    [
        ("gpt-4o", "gpt-4o-mini"),
        ("gpt-4o", "gpt-4o-mini-2024-07-18"),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-08-06"),
        ("gpt-4-0314", "gpt-4-0613"),
        ("gemini-3-pro-preview", "gemini-3.1-pro-preview"),
        ("gemini-2.0-flash", "gemini-2.5-flash"),
        ("gemini-2.5-flash", "gemini-2.5-flash-lite"),
        ("gemini-2.5-flash", "gemini-2.5-flash-preview-05-20"),
        ("gemini-2.0-flash-001", "gemini-2.0-flash-002"),
        ("claude-sonnet-4-5", "claude-sonnet-4-6"),
        ("claude-sonnet-4-6", "claude-haiku-4-5-20251001"),
        ("deepseek-vl2", "deepseek-v3"),
        ("qwen3-vl:4b", "qwen3-vl:8b"),
        ("Qwen/Qwen3-VL-4B-Instruct", "Qwen/Qwen3-VL-4B-Thinking"),
        ("Qwen/Qwen3-VL-4B-Instruct", "Qwen/Qwen2.5-VL-4B-Instruct"),
        ("us.amazon.nova-lite-v1:0", "us.amazon.nova-pro-v1:0"),
    ],
)
def test_another_size_version_or_snapshot_is_another_model(asked, served):
    assert is_other_model(asked, served)


@pytest.mark.parametrize("preset", [one for one in SUT_PRESETS.values() if "model" in one.params])
def test_no_preset_is_another_model_than_itself(preset):
    assert not is_other_model(preset.params["model"], preset.params["model"])


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_names_are_compared_and_the_order_does_not_matter(asked, served):
    assert is_other_model(asked, served) == is_other_model(served, asked)
    assert not is_other_model(asked, asked)
