"""The one table of kinds of systems under test; heavy libraries are imported when a kind is loaded."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic import BaseModel

from vlmlab.core.complaints import checked_settings
from vlmlab.core.errors import ConfigError
from vlmlab.core.suts.base import Sut
from vlmlab.core.suts.checkpoint import CheckpointReport, inspect_checkpoint
from vlmlab.core.suts.context import SutContext
from vlmlab.core.suts.families import check_can_be_asked
from vlmlab.core.suts.local_params import TransformersLocalParams, locate_checkpoint
from vlmlab.core.suts.remote_params import (
    UNIDENTIFYING,
    AnthropicParams,
    BedrockParams,
    GeminiParams,
    OpenAIChatParams,
    RemoteParams,
)
from vlmlab.core.suts.scripted import ScriptedParams, load_scripted


@dataclass(frozen=True)
class SutKind:
    """One kind of system under test.

    Attributes:
        name: key in ``SUT_KINDS``.
        title: short name for people.
        description: what it is for, one sentence.
        params: frozen pydantic model of its settings.
        load: makes the system ready to answer; raises ``SutError`` with what to do.
        inspect: checks the settings without loading or connecting; None when there is nothing to check.
        is_web_registrable: whether a person may register it in the browser.
        is_heavy: whether loading takes seconds and hundreds of megabytes.
        is_remote: whether it answers over a network: it has a price, limits and the queue for remote APIs.
        key_words: what its secret is called and what it looks like; "" when it takes none.
        is_key_required: whether it cannot answer without a secret of its own.
        unidentifying: settings that change no answer to a given prompt; the rest is its identity.
    """

    name: str
    title: str
    description: str
    params: type[BaseModel]
    load: Callable[[BaseModel, SutContext], Sut]
    inspect: Callable[[BaseModel, SutContext], CheckpointReport | None] | None = None
    is_web_registrable: bool = True
    is_heavy: bool = True
    is_remote: bool = False
    key_words: str = ""
    is_key_required: bool = False
    unidentifying: frozenset[str] = frozenset({"asking"})


def _load_scripted(params: BaseModel, _context: SutContext) -> Sut:
    if not isinstance(params, ScriptedParams):
        raise TypeError(f"params must be ScriptedParams, got {type(params).__name__}")
    return load_scripted(params)


def _load_transformers_local(params: BaseModel, context: SutContext) -> Sut:
    report = _inspect_transformers_local(params, context)
    # Only now: the import takes seconds and 300 MB, and a refused folder should cost neither.
    from vlmlab.core.suts.transformers_local import load_transformers_local

    return load_transformers_local(_local(params), report)


def _inspect_transformers_local(params: BaseModel, context: SutContext) -> CheckpointReport:
    located = locate_checkpoint(_local(params), context.roots)
    report = inspect_checkpoint(located.folder, links_may_reach=located.links_may_reach)
    check_can_be_asked(report)
    return report


def _local(params: BaseModel) -> TransformersLocalParams:
    if not isinstance(params, TransformersLocalParams):
        raise TypeError(f"params must be TransformersLocalParams, got {type(params).__name__}")
    return params


def _load_remote(params: BaseModel, context: SutContext) -> Sut:
    from vlmlab.core.suts.remote import load_remote

    return load_remote(_remote(params), context)


def _inspect_remote(params: BaseModel, context: SutContext) -> None:
    from vlmlab.core.suts.remote import inspect_remote

    inspect_remote(_remote(params), context)


def _remote(params: BaseModel) -> RemoteParams:
    if not isinstance(params, RemoteParams):
        raise TypeError(f"params must be RemoteParams, got {type(params).__name__}")
    return params


def _remote_kind(
    name: str, title: str, description: str, *, params: type[RemoteParams], key_words: str, needs_key: bool
) -> SutKind:
    return SutKind(
        name=name,
        title=title,
        description=description,
        params=params,
        load=_load_remote,
        inspect=_inspect_remote,
        is_heavy=False,
        is_remote=True,
        key_words=key_words,
        is_key_required=needs_key,
        unidentifying=UNIDENTIFYING,
    )


SUT_KINDS: dict[str, SutKind] = {
    kind.name: kind
    for kind in (
        SutKind(
            name="transformers_local",
            title="Checkpoint on this machine",
            description="An image-text-to-text checkpoint in Hugging Face format, run by a worker.",
            params=TransformersLocalParams,
            load=_load_transformers_local,
            inspect=_inspect_transformers_local,
        ),
        _remote_kind(
            "openai_chat",
            "Server with the OpenAI protocol",
            "vLLM, SGLang, Ollama, llama.cpp, transformers serve, OpenAI and all who speak its protocol.",
            params=OpenAIChatParams,
            key_words="API key, sent as a bearer token",
            needs_key=False,
        ),
        _remote_kind(
            "gemini",
            "Google Gemini",
            "Google's models through generateContent.",
            params=GeminiParams,
            key_words="Gemini API key",
            needs_key=True,
        ),
        _remote_kind(
            "anthropic",
            "Anthropic",
            "Anthropic's models through its messages API.",
            params=AnthropicParams,
            key_words="Anthropic API key",
            needs_key=True,
        ),
        _remote_kind(
            "bedrock",
            "Amazon Bedrock",
            "Every vision model of Bedrock through Converse.",
            params=BedrockParams,
            key_words="ACCESS_KEY_ID:SECRET_ACCESS_KEY, or nothing to use the worker's own AWS credentials",
            needs_key=False,
        ),
        SutKind(
            name="scripted",
            title="Table of answers",
            description="Answers from a table, for tests of the site itself; says nothing about any model.",
            params=ScriptedParams,
            load=_load_scripted,
            is_web_registrable=False,
            is_heavy=False,
        ),
    )
}


def sut_kind(name: str) -> SutKind:
    """Return a kind by its name.

    Raises:
        ConfigError: there is no such kind.
    """
    if name not in SUT_KINDS:
        raise ConfigError(
            f"There is no kind of system called '{name}'.",
            hint=f"Known kinds: {', '.join(SUT_KINDS)}.",
            field="kind",
        )
    return SUT_KINDS[name]


def parse_params(name: str, values: Mapping[str, object]) -> BaseModel:
    """Return the checked settings of a kind.

    Raises:
        ConfigError: unknown kind, unknown key, or a value out of range; ``field`` names the key.
    """
    return checked_settings(sut_kind(name).params, values)


def load_sut(name: str, values: Mapping[str, object], context: SutContext | None = None) -> Sut:
    """Check the settings and load the system.

    Args:
        name: key of ``SUT_KINDS``.
        values: stored settings.
        context: folders, key and network; the default reaches shipped checkpoints and public addresses.

    Raises:
        ConfigError: the settings are not valid.
        SutError: the system cannot be loaded.
    """
    params = parse_params(name, values)
    return sut_kind(name).load(params, context or SutContext())
