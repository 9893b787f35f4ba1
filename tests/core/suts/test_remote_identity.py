"""What a remote system is: its identity, its provider, and which addresses it may have."""

import pytest

from vlmlab.core.errors import SutError
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.kinds import SUT_KINDS, load_sut
from vlmlab.core.suts.network import policy_of
from vlmlab.core.suts.providers import PROVIDERS
from vlmlab.core.suts.remote import fingerprint_of, inspect_remote
from vlmlab.core.suts.remote_params import UNIDENTIFYING, OpenAIChatParams

CHANGES = {
    "model": "n", "revision": "2026-01", "system_prompt": "Be brief.", "temperature": 0.0, "thinking": "low",
    "max_output_tokens": 9, "max_image_side": 99, "base_url": "https://other.example.com/v1",
    "token_limit_name": "max_completion_tokens", "image_detail": "high", "extra_body": {"seed": 1},
    "asking": {"choice_template": "Q: {question}"}, "concurrency": 9, "requests_per_minute": 9,
    "tokens_per_minute": 9, "timeout_s": 9, "input_price_usd": 9, "output_price_usd": 9, "spend_cap_usd": 9,
}  # fmt: skip


def params(**values) -> OpenAIChatParams:
    return OpenAIChatParams.model_validate({"model": "m", **values})


@pytest.mark.parametrize("name", OpenAIChatParams.model_fields)
def test_the_fingerprint_changes_with_every_setting_that_may_change_an_answer(name):
    changed = fingerprint_of(params(**{name: CHANGES[name]}))

    assert (changed == fingerprint_of(params())) == (name in UNIDENTIFYING)


def test_the_fingerprint_knows_one_address_in_two_spellings():
    first, second = (
        {"base_url": url} for url in ("https://A.example.com/v1/", "https://a.example.com:443/v1")
    )

    assert fingerprint_of(params(**first)) == fingerprint_of(params(**second))


def test_the_fingerprint_knows_nothing_of_the_key():
    infos = [
        load_sut("openai_chat", {"model": "m"}, SutContext(api_key=key)).info for key in ("", "sk-1234567890")
    ]

    assert infos[0] == infos[1]
    assert infos[0].kind == "openai_chat"


def test_every_remote_kind_has_one_provider():
    kinds = {kind.name: kind.params for kind in SUT_KINDS.values() if kind.is_remote}

    assert {entry.kind: declared for declared, entry in PROVIDERS.items()} == kinds


def test_inspect_refuses_an_address_that_is_not_allowed():
    local = params(base_url="http://127.0.0.1:8000/v1")

    inspect_remote(local, SutContext(network=policy_of(["127.0.0.1:8000"])))
    with pytest.raises(SutError) as refusal:
        inspect_remote(local, SutContext())

    assert refusal.value.field == "base_url"


def test_the_fingerprint_knows_further_fields_in_any_order():
    first = {"a": 1, "b": {"c": [1, 2], "d": None}}
    second = {"b": {"d": None, "c": [1, 2]}, "a": 1}

    assert fingerprint_of(params(extra_body=first)) == fingerprint_of(params(extra_body=second))
    assert fingerprint_of(params(extra_body=first)) != fingerprint_of(params(extra_body={**first, "a": 2}))
