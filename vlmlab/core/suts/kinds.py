"""The one table of kinds of systems under test; heavy libraries are imported when a kind is loaded."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from vlmlab.core.complaints import config_error
from vlmlab.core.errors import ConfigError
from vlmlab.core.suts.base import Sut
from vlmlab.core.suts.checkpoint import CheckpointReport, CheckpointRoots, inspect_checkpoint
from vlmlab.core.suts.families import check_can_be_asked
from vlmlab.core.suts.local_params import TransformersLocalParams, locate_checkpoint
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
        inspect: checks the settings without loading anything; None when there is nothing to check.
        is_web_registrable: whether a person may register it in the browser.
        is_heavy: whether loading takes seconds and hundreds of megabytes.
    """

    name: str
    title: str
    description: str
    params: type[BaseModel]
    load: Callable[[BaseModel, CheckpointRoots], Sut]
    inspect: Callable[[BaseModel, CheckpointRoots], CheckpointReport] | None = None
    is_web_registrable: bool = True
    is_heavy: bool = True


def _load_scripted(params: BaseModel, _roots: CheckpointRoots) -> Sut:
    if not isinstance(params, ScriptedParams):
        raise TypeError(f"params must be ScriptedParams, got {type(params).__name__}")
    return load_scripted(params)


def _load_transformers_local(params: BaseModel, roots: CheckpointRoots) -> Sut:
    report = _inspect_transformers_local(params, roots)
    # Only now: the import takes seconds and 300 MB, and a refused folder should cost neither.
    from vlmlab.core.suts.transformers_local import load_transformers_local

    return load_transformers_local(_local(params), report)


def _inspect_transformers_local(params: BaseModel, roots: CheckpointRoots) -> CheckpointReport:
    located = locate_checkpoint(_local(params), roots)
    report = inspect_checkpoint(located.folder, links_may_reach=located.links_may_reach)
    check_can_be_asked(report)
    return report


def _local(params: BaseModel) -> TransformersLocalParams:
    if not isinstance(params, TransformersLocalParams):
        raise TypeError(f"params must be TransformersLocalParams, got {type(params).__name__}")
    return params


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
    try:
        return sut_kind(name).params.model_validate(dict(values))
    except ValidationError as error:
        raise config_error(error, sut_kind(name).params) from error


def load_sut(name: str, values: Mapping[str, object], roots: CheckpointRoots | None = None) -> Sut:
    """Check the settings and load the system.

    Args:
        name: key of ``SUT_KINDS``.
        values: stored settings.
        roots: where checkpoints may lie; the default reaches only the shipped ones.

    Raises:
        ConfigError: the settings are not valid.
        SutError: the system cannot be loaded.
    """
    params = parse_params(name, values)
    return sut_kind(name).load(params, roots or CheckpointRoots())
