"""Registers and changes systems together with the key they use: both are stored, or neither."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from django.db import transaction

from searches.enums import Queue
from searches.models import ApiKey, SutRecord, User
from searches.services.keys import create_key
from searches.services.suts import edit_sut, register_sut
from vlmlab.core.errors import ConfigError
from vlmlab.core.suts.kinds import parse_params, sut_kind
from vlmlab.core.suts.origins import origin_of


class ChangedMeanwhileError(ConfigError):
    """Somebody else changed a system between a person's look at it and their change."""


@dataclass(frozen=True)
class KeyWish:
    """Which key a system shall use: a stored one by its number, a new one, or none."""

    stored: int | None = None
    new_name: str = ""
    secret: str = field(default="", repr=False)


@dataclass(frozen=True)
class Registration:
    """What a person wants a system to be."""

    name: str
    description: str
    params: Mapping[str, Any]
    queue: Queue
    key: KeyWish
    slug: str = ""
    kind: str = ""
    preset: str = ""


@transaction.atomic
def register(wish: Registration, *, by: User) -> SutRecord:
    """Store a system, and its key when it is a new one.

    Raises:
        ConfigError: a value is refused, see ``register_sut`` and ``create_key``.
        SutError: the checkpoint or the address is refused.
    """
    return register_sut(
        slug=wish.slug,
        name=wish.name,
        kind=wish.kind,
        params=wish.params,
        by=by,
        description=wish.description,
        queue=wish.queue,
        api_key=_key(wish, wish.kind, by=by),
        preset=wish.preset,
    )


@transaction.atomic
def change(sut: SutRecord, wish: Registration, *, by: User, seen: str = "") -> None:
    """Change a system, and store its key when it is a new one.

    Args:
        sut: the system; it holds the changes afterwards.
        wish: what it shall be.
        by: who changes it.
        seen: ``mark_of`` the system as the person saw it; "" for whoever takes it as it is.

    Raises:
        ChangedMeanwhileError: somebody else changed it since it was seen.
        ConfigError: the kind cannot be changed here, or a value is refused, see ``edit_sut`` and
            ``create_key``.
        SutError: the checkpoint or the address is refused.
    """
    if not sut_kind(sut.kind).is_web_registrable:
        raise ConfigError(
            f"{sut.name} was registered from the shell and cannot be changed here.", field="kind"
        )
    sut.refresh_from_db(from_queryset=SutRecord.objects.select_for_update())
    if seen and seen != mark_of(sut):
        raise ChangedMeanwhileError(
            f"{sut.name} was changed by somebody else since this page was opened; nothing is saved yet.",
            hint="Its history tells what changed. Save again to put what stands here in place of it.",
        )
    edit_sut(
        sut,
        name=wish.name,
        params=wish.params,
        by=by,
        description=wish.description,
        queue=wish.queue,
        api_key=_key(wish, sut.kind, by=by),
    )


def mark_of(sut: SutRecord) -> str:
    """Return a short mark of everything that an edit replaces."""
    content = [sut.name, sut.description, sut.params, sut.api_key_id]
    return sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()[:16]


def _key(registration: Registration, kind: str, *, by: User) -> ApiKey | None:
    wish = registration.key
    if wish.stored is not None:
        # Held until the system is stored, so that nobody deletes it in between.
        found = ApiKey.objects.select_for_update().filter(pk=wish.stored).first()
        if found is None:
            raise ConfigError("This key is gone.", hint="Choose another or enter a new one.", field="api_key")
        return found
    if not wish.secret:
        return None
    try:
        origin = origin_of(kind, parse_params(kind, registration.params))
        return create_key(name=wish.new_name, kind=kind, secret=wish.secret, by=by, address=origin)
    except ConfigError as error:
        name = "key_name" if error.field == "name" else error.field
        raise ConfigError(error.message, hint=error.hint, field=name) from error
