"""The table of kinds, their settings, and that it stays light."""

import subprocess
import sys

import pytest

from vlmlab.core.errors import ConfigError, VlmLabError
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.kinds import SUT_KINDS, load_sut, parse_params, sut_kind

HEAVY = (
    "torch",
    "transformers",
    "huggingface_hub",
    "numpy",
    "PIL",
    "boto3",
    "botocore",
    "httpx2",
    "httpcore2",
)


def test_table_holds_each_kind_under_its_own_name():
    web = ["transformers_local", "openai_chat", "gemini", "anthropic", "bedrock"]

    assert {name: kind.name for name, kind in SUT_KINDS.items()} == {
        name: name for name in [*web, "scripted"]
    }
    assert [name for name, kind in SUT_KINDS.items() if kind.is_web_registrable] == web
    assert [name for name, kind in SUT_KINDS.items() if kind.is_remote] == web[1:]
    assert [name for name, kind in SUT_KINDS.items() if kind.is_key_required] == ["gemini", "anthropic"]
    assert [name for name, kind in SUT_KINDS.items() if kind.is_heavy] == ["transformers_local"]
    assert {name: kind.params.__name__ for name, kind in SUT_KINDS.items()} == {
        "transformers_local": "TransformersLocalParams",
        "openai_chat": "OpenAIChatParams",
        "gemini": "GeminiParams",
        "anthropic": "AnthropicParams",
        "bedrock": "BedrockParams",
        "scripted": "ScriptedParams",
    }


def test_only_remote_kinds_say_what_their_key_looks_like():
    assert {name: bool(kind.key_words) for name, kind in SUT_KINDS.items()} == {
        name: kind.is_remote for name, kind in SUT_KINDS.items()
    }


def test_sut_kind_names_the_known_kinds_for_an_unknown_one():
    with pytest.raises(ConfigError, match="no kind of system called 'oracle'") as caught:
        sut_kind("oracle")

    assert caught.value.hint == (
        "Known kinds: transformers_local, openai_chat, gemini, anthropic, bedrock, scripted."
    )


@pytest.mark.parametrize(
    ("kind", "values", "field"),
    [
        ("openai_chat", {}, "model"),
        ("openai_chat", {"model": "m", "base_url": "x"}, "base_url"),
        ("openai_chat", {"model": "m; rm"}, "model"),
        ("gemini", {"model": "m", "media_resolution": "huge"}, "media_resolution"),
        ("gemini", {"model": "m", "thinking": "deep"}, "thinking"),
        ("anthropic", {"model": "m", "api_version": "2024-01-01"}, "api_version"),
        ("anthropic", {"model": "m", "base_url": "https://example.org"}, "base_url"),
        ("bedrock", {"model": "m", "region": "mars"}, "region"),
        ("bedrock", {"model": "m", "endpoint_url": "https://example.org"}, "endpoint_url"),
    ],
)
def test_remote_settings_put_the_error_at_its_field(kind, values, field):
    with pytest.raises(ConfigError) as caught:
        parse_params(kind, values)

    assert caught.value.field == field


@pytest.mark.parametrize(
    ("kind", "values", "side"),
    [("openai_chat", {"model": "m"}, 1568), ("gemini", {"model": "m"}, 1568),
     ("anthropic", {"model": "m"}, 1092), ("bedrock", {"model": "m"}, 1092)],
)  # fmt: skip
def test_pictures_for_claude_are_kept_smaller(kind, values, side):
    assert parse_params(kind, values).max_image_side == side


@pytest.mark.parametrize(
    ("kind", "values", "field"),
    [
        ("gemini", {"model": "gemini-3-flash-preview", "thinking": "off"}, "thinking"),
        ("anthropic", {"model": "claude-sonnet-4-6", "temperature": 0.0}, "temperature"),
        ("bedrock", {"model": "amazon.nova-pro-v1:0", "thinking": "low"}, "thinking"),
        ("openai_chat", {"model": "m", "base_url": "http://169.254.169.254/v1"}, "base_url"),
    ],
)
def test_inspection_refuses_what_a_provider_would_refuse_without_connecting(kind, values, field):
    with pytest.raises(VlmLabError) as caught:
        SUT_KINDS[kind].inspect(parse_params(kind, values), SutContext())

    assert caught.value.field == field


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({}, "checkpoint"),
        ({"checkpoint": "a", "batch_size": 0}, "batch_size"),
        ({"checkpoint": "a", "temperature": -1}, "temperature"),
        ({"checkpoint": "a", "trust_remote_code": True}, "trust_remote_code"),
        ({"checkpoint": "a", "dtype": "int3"}, "dtype"),
        ({"checkpoint": "a", "revision": "x; rm"}, "revision"),
    ],
)
def test_parse_params_puts_the_error_at_its_field(values, field):
    with pytest.raises(ConfigError) as caught:
        parse_params("transformers_local", values)

    assert caught.value.field == field


def test_parse_params_survives_a_round_trip_through_json():
    params = parse_params("scripted", {"rules": [{"prompt_contains": ["cone"], "answer": "B"}]})

    assert parse_params("scripted", params.model_dump(mode="json")) == params


def test_load_sut_loads_a_table():
    assert load_sut("scripted", {"default": "C"}).info.kind == "scripted"


def test_the_table_imports_nothing_heavy():
    script = (
        "import sys, vlmlab.core.suts.kinds, vlmlab.core.suts.presets\n"
        f"print([m for m in {HEAVY} if m in sys.modules])"
    )

    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout

    assert loaded.strip() == "[]"
