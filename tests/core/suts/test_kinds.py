"""The table of kinds, their settings, and that it stays light."""

import subprocess
import sys

import pytest

from vlmlab.core.errors import ConfigError
from vlmlab.core.suts.kinds import SUT_KINDS, load_sut, parse_params, sut_kind


def test_table_holds_each_kind_under_its_own_name():
    assert {name: kind.name for name, kind in SUT_KINDS.items()} == {
        "transformers_local": "transformers_local",
        "scripted": "scripted",
    }
    assert [name for name, kind in SUT_KINDS.items() if kind.is_web_registrable] == ["transformers_local"]


def test_sut_kind_names_the_known_kinds_for_an_unknown_one():
    with pytest.raises(ConfigError, match="no kind of system called 'oracle'") as caught:
        sut_kind("oracle")

    assert caught.value.hint == "Known kinds: transformers_local, scripted."


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
        "import sys, vlmlab.core.suts.kinds\n"
        "print([m for m in ('torch', 'transformers', 'huggingface_hub', 'numpy', 'PIL') if m in sys.modules])"
    )

    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout

    assert loaded.strip() == "[]"
