"""The registry of picture sources: created, changed while no run rests on them, switched on and off."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from django.core.validators import slug_re
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from searches.models import ApiKey, Campaign, Dataset, PictureSource, SutRecord, User
from searches.services.audit import record
from searches.services.registering import ChangedMeanwhileError
from searches.services.source_context import backend_kind, check_key_fits
from vlmlab.core.complaints import checked_settings
from vlmlab.core.errors import ConfigError
from vlmlab.core.scenes.render.backend_kinds import BackendKind, BackendParams
from vlmlab.core.scenes.render.backends import EMBEDDED

TAKEN_SLUGS = frozenset({"new", EMBEDDED})
"""Addresses of the site itself, and the word for the renderer that is always there."""

MOST_SLUG_CHARACTERS = 64
FROZEN = (
    "Runs rest on it, so its settings stay: their pictures could not be made again otherwise. Make a copy to "
    "change them."
)


@dataclass(frozen=True)
class SourceWish:
    """What a person wants a picture source to be.

    Attributes:
        dataset, api_key, presence_sut: numbers of rows; None for none.
    """

    name: str
    params: Mapping[str, Any]
    description: str = ""
    slug: str = ""
    kind: str = ""
    dataset: int | None = None
    api_key: int | None = None
    presence_sut: int | None = None


@transaction.atomic
def create_source(wish: SourceWish, *, by: User | None, is_sample: bool = False) -> PictureSource:
    """Store a picture source; nothing is connected or loaded.

    Raises:
        ConfigError: the short name is taken, or a setting or a named row is wrong; ``field`` says which.
    """
    kind = backend_kind(wish.kind)
    if wish.slug in TAKEN_SLUGS or not slug_re.match(wish.slug) or len(wish.slug) > MOST_SLUG_CHARACTERS:
        raise ConfigError(
            f"“{wish.slug}” cannot be a short name.",
            hint=f"Use letters, digits, - and _; {', '.join(sorted(TAKEN_SLUGS))} are taken by the site.",
            field="slug",
        )
    source = PictureSource(slug=wish.slug, kind=kind.name, created_by=by, is_sample=is_sample)
    _put(source, wish, kind)
    try:
        with transaction.atomic():
            source.save(force_insert=True)
    except IntegrityError as error:
        raise ConfigError(
            f"There is already a picture source “{wish.slug}”.", hint="Choose another.", field="slug"
        ) from error
    record(by, "configured", source, after={"kind": kind.name, **_content(source)})
    return source


@transaction.atomic
def edit_source(source: PictureSource, wish: SourceWish, *, by: User | None, seen: str = "") -> None:
    """Change a picture source; once a run has used it, only its name, description and key.

    Args:
        source: it holds the changes afterwards.
        wish: what it shall be; short name and kind stay.
        by: who changes it.
        seen: ``mark_of`` it as the person saw it; "" for whoever takes it as it is.

    Raises:
        ChangedMeanwhileError: somebody else changed it since it was seen.
        ConfigError: a setting is wrong, or may not change any more.
    """
    source.refresh_from_db(from_queryset=PictureSource.objects.select_for_update())
    if seen and seen != mark_of(source):
        raise ChangedMeanwhileError(
            f"{source.name} was changed by somebody else since this page was opened; nothing is saved yet.",
            hint="Save again to put what stands here in place of it.",
        )
    before = _content(source)
    fixed = (source.params, source.dataset_id, source.presence_sut_id)
    _put(source, wish, backend_kind(source.kind))
    if fixed != (source.params, source.dataset_id, source.presence_sut_id) and is_frozen(source):
        raise ConfigError(f"The settings of {source.name} cannot change any more.", hint=FROZEN)
    source.save(update_fields=["name", "description", "params", "dataset", "api_key", "presence_sut"])
    record(by, "edited", source, before=before, after=_content(source))


@transaction.atomic
def set_source_enabled(source: PictureSource, *, is_enabled: bool, by: User | None) -> None:
    """Allow or stop new work with a picture source."""
    PictureSource.objects.filter(pk=source.pk).update(is_enabled=is_enabled)
    record(
        by, "switched on" if is_enabled else "switched off", source, before={"is_enabled": source.is_enabled}
    )


def is_frozen(source: PictureSource) -> bool:
    """Whether a run rests on a source, so that its settings must stay."""
    return campaigns_of(source).exists()


def campaigns_of(source: PictureSource) -> QuerySet[Campaign]:
    """Return the campaigns whose pictures come from a source."""
    return Campaign.objects.filter(config__backend=source.slug)


def mark_of(source: PictureSource) -> str:
    """Return a short mark of everything that an edit replaces."""
    return sha256(json.dumps(_content(source), sort_keys=True, default=str).encode()).hexdigest()[:16]


def _content(source: PictureSource) -> dict[str, Any]:
    return {
        "name": source.name,
        "description": source.description,
        "params": source.params,
        "dataset": source.dataset_id,
        "key": source.api_key_id,
        "presence": source.presence_sut_id,
    }


def _put(source: PictureSource, wish: SourceWish, kind: BackendKind) -> None:
    params = checked_settings(kind.params, wish.params)
    if not wish.name.strip():
        raise ConfigError("Give the source a name.", field="name")
    source.name, source.description = wish.name.strip(), wish.description
    source.params = params.model_dump(mode="json")
    source.dataset = _dataset(wish, kind)
    source.api_key = _key(wish, kind, params)
    source.presence_sut = _presence(wish, kind)


def _dataset(wish: SourceWish, kind: BackendKind) -> Dataset | None:
    if not kind.takes_pool:
        return None
    # Held like the key: a dataset is looked at under the same lock before it is deleted.
    rows = Dataset.objects.select_for_update()
    found = rows.filter(pk=wish.dataset).first() if wish.dataset is not None else None
    if found is None:
        raise ConfigError("Choose the dataset that the pictures are taken from.", field="dataset")
    return found


def _key(wish: SourceWish, kind: BackendKind, params: BackendParams) -> ApiKey | None:
    if wish.api_key is None or not kind.key_words:
        return None
    # Held until the source is stored, so that nobody deletes it in between.
    found = ApiKey.objects.select_for_update().filter(pk=wish.api_key).first()
    if found is None:
        raise ConfigError("This key is gone.", hint="Choose another.", field="api_key")
    check_key_fits(found, kind, params)
    return found


def _presence(wish: SourceWish, kind: BackendKind) -> SutRecord | None:
    if wish.presence_sut is None or not kind.takes_presence:
        return None
    found = SutRecord.objects.filter(pk=wish.presence_sut).first()
    if found is None:
        raise ConfigError("This system is gone.", hint="Choose another, or none.", field="presence_sut")
    return found
