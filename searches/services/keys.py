"""Keys of providers: stored sealed, shown by name and last characters, replaced and deleted by people."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import Count, Max, QuerySet
from django.db.models.functions import Now

from searches.models import ApiKey, PictureSource, User
from searches.services.audit import record
from searches.services.key_addresses import key_name_taken
from vlmlab.core.errors import ConfigError, VlmLabError
from vlmlab.core.suts.kinds import SUT_KINDS, sut_kind
from vlmlab.core.suts.origins import origin_of_address
from vlmlab.web.numbers import write_many
from vlmlab.web.roles import ADMINS
from vlmlab.web.sealing import Sealed, last_characters
from vlmlab.web.secrets_seen import note_secret

MOST_SECRET_CHARACTERS = 4_000


@dataclass(frozen=True)
class KeyLine:
    """One row of the list of keys."""

    key: ApiKey
    kind_title: str
    n_suts: int
    n_sources: int
    last_used_at: datetime | None
    may_change: bool


def keys_with_uses() -> QuerySet[ApiKey]:
    """Return every key with how many systems use it, and when one last did; no secret is opened."""
    keys = ApiKey.objects.select_related("created_by").defer("secret")
    users = {"n_suts": Count("suts", distinct=True), "n_sources": Count("sources", distinct=True)}
    return keys.annotate(**users, sut_used_at=Max("suts__last_used_at")).order_by("name")


def key_lines(keys: Sequence[ApiKey], *, by: User) -> list[KeyLine]:
    """Return the rows of the list for a person; ``keys`` come from ``keys_with_uses``."""
    return [
        KeyLine(
            key,
            _kind_title(key),
            n_suts=getattr(key, "n_suts", 0),
            n_sources=getattr(key, "n_sources", 0),
            last_used_at=_last_used(key),
            may_change=may_change(key, by=by),
        )
        for key in keys
    ]


def may_change(key: ApiKey, *, by: User) -> bool:
    """Whether a person may replace or delete a key: whoever stored it, and admins."""
    return by.role in ADMINS or key.created_by_id == by.pk


def keys_for(kind: str) -> list[ApiKey]:
    """Return the keys that a kind of system may use, by name."""
    return list(ApiKey.objects.filter(kind=kind).defer("secret").order_by("name"))


@transaction.atomic
def create_key(*, name: str, kind: str, secret: str, by: User | None, address: str = "") -> ApiKey:
    """Store a key for the one server that it will ever be sent to.

    Args:
        name: for people.
        kind: key of ``SUT_KINDS``.
        secret: what the provider gave.
        by: who enters it.
        address: where it is for, of kinds whose address can be chosen.

    Raises:
        ConfigError: the kind takes none, the name is taken, or the secret is not one line of text.
        SutError: the address is none; ``field`` is ``base_url``.
    """
    if not sut_kind(kind).key_words:
        raise ConfigError(f"{sut_kind(kind).title} takes no key.", field="kind")
    checked, origin = checked_secret(secret), origin_of_address(kind, address.strip())
    try:
        with transaction.atomic():
            key = ApiKey.objects.create(
                name=name,
                kind=kind,
                origin=origin,
                secret=Sealed.of(checked),
                last_characters=last_characters(checked),
                created_by=by,
            )
    except IntegrityError as error:
        raise key_name_taken(name) from error
    record(by, "stored", key, after={"name": name, "kind": kind, "origin": origin})
    return key


@transaction.atomic
def replace_key(key: ApiKey, *, secret: str, by: User | None) -> None:
    """Put a new secret under an old name; systems that use it take it from their next load on.

    Raises:
        ConfigError: the secret is not one line of plain characters.
    """
    checked = checked_secret(secret)
    key.secret, key.last_characters = Sealed.of(checked), last_characters(checked)
    ApiKey.objects.filter(pk=key.pk).update(
        secret=key.secret, last_characters=key.last_characters, replaced_at=Now()
    )
    record(by, "replaced", key, after={"name": key.name})


@transaction.atomic
def delete_key(key: ApiKey, *, by: User | None) -> None:
    """Delete a key that nothing uses.

    Raises:
        VlmLabError: systems or picture sources use it.
    """
    ApiKey.objects.select_for_update().filter(pk=key.pk).first()  # a system may just be registered with it
    n_suts = key.suts.count()
    if n_suts:
        raise VlmLabError(
            f"{write_many(n_suts, 'system')} {'uses' if n_suts == 1 else 'use'} the key {key.name}.",
            hint="Give them another key first, or replace this one.",
        )
    source = PictureSource.objects.filter(api_key=key).order_by("name").first()
    if source is not None:
        raise VlmLabError(
            f"The picture source {source.name} uses the key {key.name}.",
            hint="Give it another key first, or replace this one.",
        )
    record(by, "deleted", key, before={"name": key.name, "kind": key.kind})
    key.delete()


@transaction.atomic
def seal_again() -> int:
    """Seal every stored key with the newest key of the environment; returns how many were not yet.

    Raises:
        ConfigError: one of them cannot be opened; nothing was changed.
    """
    old = [key for key in ApiKey.objects.select_for_update().order_by("pk") if not key.secret.is_newest]
    for key in old:
        key.secret = key.secret.sealed_again()
    ApiKey.objects.bulk_update(old, ["secret"])
    return len(old)


def _last_used(key: ApiKey) -> datetime | None:
    moments = [moment for moment in (key.last_used_at, getattr(key, "sut_used_at", None)) if moment]
    return max(moments, default=None)


def _kind_title(key: ApiKey) -> str:
    return SUT_KINDS[key.kind].title if key.kind in SUT_KINDS else key.kind


def checked_secret(secret: str) -> str:
    """Return a secret without blanks around it.

    Raises:
        ConfigError: it is empty, too long, or has characters that no header can carry.
    """
    trimmed = secret.strip()
    note_secret(trimmed[:MOST_SECRET_CHARACTERS])
    if not trimmed:
        raise ConfigError("The key is empty.", hint="Paste it as the provider shows it.", field="secret")
    if len(trimmed) > MOST_SECRET_CHARACTERS or not trimmed.isascii() or not trimmed.isprintable():
        raise ConfigError(
            "This does not look like a key: it must be one line of plain characters.",
            hint="Copy it again from the provider's page.",
            field="secret",
        )
    return trimmed
