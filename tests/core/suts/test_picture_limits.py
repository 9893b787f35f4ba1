"""Pictures that a provider would refuse for their bytes are named before they are sent."""

import base64

import pytest

from tests.peers.calls import picture
from vlmlab.core.suts.anthropic import MOST_PICTURE_BYTES as ANTHROPIC_BYTES
from vlmlab.core.suts.anthropic import AnthropicProvider
from vlmlab.core.suts.bedrock import MOST_PICTURE_BYTES as BEDROCK_BYTES
from vlmlab.core.suts.bedrock import BedrockProvider
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.gemini import MOST_REQUEST_BYTES, GeminiProvider
from vlmlab.core.suts.kinds import parse_params
from vlmlab.core.suts.provider import CallFailure, ProviderCall, check_bytes

NO_CLIENT = lambda _params, _key: pytest.fail("a client was made")  # noqa: E731
PROVIDERS = {
    "anthropic": (AnthropicProvider, "claude-sonnet-4-6", {}, ANTHROPIC_BYTES),
    "gemini": (GeminiProvider, "gemini-3-flash-preview", {}, MOST_REQUEST_BYTES * 3 // 4),
    "bedrock": (BedrockProvider, "amazon.nova-lite-v1:0", {"make_client": NO_CLIENT}, BEDROCK_BYTES),
}


def padded(n_bytes: int) -> bytes:
    small = picture()
    return small + bytes(n_bytes - len(small))


@pytest.mark.parametrize("kind", PROVIDERS)
def test_a_picture_with_too_many_bytes_is_refused_without_a_connection(kind):
    make, model, values, most = PROVIDERS[kind]
    provider = make(
        parse_params(kind, {"model": model}), SutContext(api_key="k" * 8 + ":" + "k" * 20), **values
    )

    with pytest.raises(CallFailure) as failure:
        provider.send(ProviderCall(padded(most + 1), (40, 30), "Where?"))

    assert (failure.value.kind, failure.value.is_retryable) == ("too_large", False)
    assert "Lower the longest side." in failure.value.message


def test_the_limits_are_those_of_the_providers():
    assert len(base64.b64encode(bytes(ANTHROPIC_BYTES))) == 5 * 2**20
    assert BEDROCK_BYTES == 3_750_000


def test_the_largest_picture_that_fits_passes():
    check_bytes(bytes(1000), most=1000)

    with pytest.raises(CallFailure, match=r"^A picture has 3\.75 MB as PNG, and the provider takes 3\.00 MB"):
        check_bytes(bytes(3_750_000), most=3_000_000)
