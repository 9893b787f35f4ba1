"""The one table of providers: which settings lead to which wire format; each is imported when it is used."""

from collections.abc import Callable
from dataclasses import dataclass

from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.provider import Provider
from vlmlab.core.suts.remote_params import (
    AnthropicParams,
    BedrockParams,
    GeminiParams,
    OpenAIChatParams,
    RemoteParams,
)


@dataclass(frozen=True)
class ProviderKind:
    """One wire format.

    Attributes:
        kind: key of ``SUT_KINDS``.
        adapter_version: part of the identity; raised when what is sent or read changes.
        make: builds the provider without a connection; raises ``SutError`` for settings that cannot work.
    """

    kind: str
    adapter_version: str
    make: Callable[[RemoteParams, SutContext], Provider]


def _openai_chat(params: RemoteParams, context: SutContext) -> Provider:
    from vlmlab.core.suts.openai_chat import OpenAIChatProvider

    assert isinstance(params, OpenAIChatParams)
    return OpenAIChatProvider(params, context)


def _gemini(params: RemoteParams, context: SutContext) -> Provider:
    from vlmlab.core.suts.gemini import GeminiProvider

    assert isinstance(params, GeminiParams)
    return GeminiProvider(params, context)


def _anthropic(params: RemoteParams, context: SutContext) -> Provider:
    from vlmlab.core.suts.anthropic import AnthropicProvider

    assert isinstance(params, AnthropicParams)
    return AnthropicProvider(params, context)


def _bedrock(params: RemoteParams, context: SutContext) -> Provider:
    from vlmlab.core.suts.bedrock import BedrockProvider

    assert isinstance(params, BedrockParams)
    return BedrockProvider(params, context)


PROVIDERS: dict[type[RemoteParams], ProviderKind] = {
    OpenAIChatParams: ProviderKind("openai_chat", "1", _openai_chat),
    GeminiParams: ProviderKind("gemini", "1", _gemini),
    AnthropicParams: ProviderKind("anthropic", "1", _anthropic),
    BedrockParams: ProviderKind("bedrock", "1", _bedrock),
}


def provider_kind(params: RemoteParams) -> ProviderKind:
    """Return the table's entry for settings.

    Raises:
        TypeError: no provider takes such settings.
    """
    if type(params) not in PROVIDERS:
        raise TypeError(f"params must be settings of a provider, got {type(params).__name__}")
    return PROVIDERS[type(params)]
