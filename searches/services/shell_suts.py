"""Registering and finding systems from a shell: settings as ``key=value``, the key from the environment."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from searches.enums import Queue
from searches.models import ApiKey, SutRecord
from searches.services.keys import create_key
from searches.services.shell_params import put_param
from searches.services.suts import register_sut
from vlmlab.core.errors import ConfigError
from vlmlab.core.suts.kinds import parse_params, sut_kind
from vlmlab.core.suts.origins import origin_of
from vlmlab.core.suts.presets import SUT_PRESETS


@dataclass(frozen=True)
class ShellRegistration:
    """What somebody at a shell wants to register.

    Attributes:
        params: ``key=value`` texts; dots reach into a setting, such as ``asking.convention.scale=1``.
        key_name: name of a stored key, or of the new one when ``secret_variable`` is given.
        secret_variable: environment variable that holds the secret, "" for none.
    """

    slug: str
    name: str = ""
    kind: str = ""
    preset: str = ""
    description: str = ""
    params: Sequence[str] = ()
    queue: str = Queue.CPU
    key_name: str = ""
    secret_variable: str = ""


def find_sut(slug: str) -> SutRecord:
    """Return a system by its short name.

    Raises:
        ConfigError: there is none.
    """
    sut = SutRecord.objects.select_related("api_key").filter(slug=slug).first()
    if sut is not None:
        return sut
    known = ", ".join(SutRecord.objects.order_by("slug").values_list("slug", flat=True)[:20])
    hint = f"Registered: {known}." if known else "Register one with `manage.py sut register`."
    raise ConfigError(f"There is no system called “{slug}”.", hint=hint, field="slug")


@transaction.atomic
def register_from_shell(wish: ShellRegistration, *, environment: Mapping[str, str]) -> SutRecord:
    """Store a system, and its key when the environment holds a new one.

    Raises:
        ConfigError: an unknown preset, kind or setting, or a key that is missing or taken.
        SutError: the checkpoint or the address is refused.
    """
    kind, params = _base(wish)
    for text in wish.params:
        put_param(params, text, model=sut_kind(kind).params)
    return register_sut(
        slug=wish.slug,
        name=wish.name or wish.slug,
        kind=kind,
        params=params,
        by=None,
        description=wish.description,
        queue=Queue(wish.queue),
        api_key=_key(wish, kind, params, environment),
        preset=wish.preset,
    )


def _base(wish: ShellRegistration) -> tuple[str, dict[str, Any]]:
    if wish.preset and wish.preset not in SUT_PRESETS:
        raise ConfigError(
            f"There is no preset “{wish.preset}”.", hint=f"Known: {', '.join(SUT_PRESETS)}.", field="preset"
        )
    if not wish.preset and not wish.kind:
        raise ConfigError("Give --preset or --kind.", field="kind")
    if not wish.preset:
        sut_kind(wish.kind)  # tells which kinds there are
        return wish.kind, {}
    preset = SUT_PRESETS[wish.preset]
    if wish.kind and wish.kind != preset.kind:
        raise ConfigError(
            f"The preset {wish.preset} is of the kind {preset.kind}, not {wish.kind}.", field="kind"
        )
    params: dict[str, Any] = json.loads(json.dumps(dict(preset.params)))  # a copy that may be changed
    return preset.kind, params


def _key(
    wish: ShellRegistration, kind: str, params: Mapping[str, Any], environment: Mapping[str, str]
) -> ApiKey | None:
    if wish.secret_variable:
        secret = environment.get(wish.secret_variable, "")
        if not secret:
            raise ConfigError(
                f"The environment variable {wish.secret_variable} is empty or not set.",
                hint="Export the key under that name, then register again.",
                field="api_key",
            )
        origin = origin_of(kind, parse_params(kind, params))
        name = wish.key_name or f"{wish.slug} key"
        return create_key(name=name, kind=kind, secret=secret, by=None, address=origin)
    if not wish.key_name:
        return None
    key = ApiKey.objects.filter(name=wish.key_name).first()
    if key is None:
        known = ", ".join(ApiKey.objects.filter(kind=kind).values_list("name", flat=True)[:20])
        hint = f"Stored for this kind: {known}." if known else "None is stored for this kind."
        raise ConfigError(f"There is no stored key “{wish.key_name}”.", hint=hint, field="api_key")
    return key
