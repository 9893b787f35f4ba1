"""Declared operating envelopes: stored, changed, read from files; a card keeps one as it stood."""

from collections.abc import Mapping
from typing import Any, Self

from django.db import transaction
from pydantic import BaseModel, ConfigDict, Field, model_validator

from searches.models import Envelope, User
from searches.services.audit import record
from searches.services.domain_store import check_usable, find_domain, keep_domain
from searches.services.envelope_text import short_name
from searches.services.gate_names import checked_name, free_slug
from vlmlab.core.complaints import checked_settings
from vlmlab.core.errors import ConfigError
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.domain_problems import shown
from vlmlab.core.verdicts.config import EnvelopeConfig
from vlmlab.core.verdicts.envelope import EnvelopeCell, EnvelopeSpec, check_envelope
from vlmlab.core.verdicts.envelope_cards import planned_samples

RESERVED = frozenset({"new", "preview", "of"})
MOST_PLANNED = 200_000


class StoredEnvelope(BaseModel):
    """An envelope with what belongs to its claim: cells and limits, confidence, kind of picture."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: str = Field(min_length=1, max_length=120)
    cells: tuple[EnvelopeCell, ...] = Field(min_length=1, max_length=50)
    level: float = Field(default=0.95, gt=0.5, lt=1.0, title="Confidence")
    backend: str = Field(default="embedded", max_length=64, title="Pictures from")
    image_width: int = Field(default=448, ge=64, le=2048, title="Image width")
    image_height: int = Field(default=336, ge=64, le=2048, title="Image height")

    @model_validator(mode="after")
    def _is_an_envelope(self) -> Self:
        EnvelopeSpec(name=self.name, cells=self.cells)
        return self

    @property
    def spec(self) -> EnvelopeSpec:
        """The envelope as the core knows it."""
        return EnvelopeSpec(name=self.name, cells=self.cells)

    @property
    def planned(self) -> list[int]:
        """Scenes that each cell needs."""
        return planned_samples(self.spec, self.level)

    def config(self, **values: Any) -> EnvelopeConfig:
        """Return the settings of a card, with some more."""
        return EnvelopeConfig(
            level=self.level,
            backend=self.backend,
            image_width=self.image_width,
            image_height=self.image_height,
            **values,
        )


def stored_of(envelope: Envelope) -> StoredEnvelope:
    """Return what a row declares."""
    return StoredEnvelope.model_validate(envelope.spec)


def domain_of(envelope: Envelope) -> Domain:
    """Return the very version of the domain that an envelope was declared in."""
    return find_domain(f"{envelope.domain}@{envelope.domain_version}")


def checked_envelope(domain: Domain, values: Mapping[str, Any]) -> StoredEnvelope:
    """Return an envelope that can be stored.

    Raises:
        VlmLabError: a value is refused, a concept is unknown, nothing fits a cell, or too many scenes would
            be needed; ``field`` is such as ``cells.0.includes``.
    """
    stored = checked_settings(StoredEnvelope, dict(values) | {"cells": _checked_cells(values.get("cells"))})
    check_envelope(domain, stored.spec)
    planned = stored.planned
    if sum(planned) > MOST_PLANNED:
        raise ConfigError(
            f"The cells need {sum(planned):,} scenes in all; a card may ask {MOST_PLANNED:,}.",
            hint="Raise limits, allow fewer errors, or declare fewer cells.",
            field="cells",
        )
    return stored


def _checked_cells(cells: object) -> list[dict[str, Any]]:
    """Return the cells with every value checked, so that an error names its cell.

    Raises:
        ConfigError: see ``checked_envelope``.
    """
    if not isinstance(cells, list | tuple) or not cells:
        raise ConfigError("An envelope needs at least one cell.", hint="Add one.", field="cells")
    checked = []
    for place, cell in enumerate(cells):
        try:
            checked.append(checked_settings(EnvelopeCell, cell).model_dump())
        except ConfigError as error:
            where = f"cells.{place}.{(error.field or 'includes').partition('.')[0]}"
            raise ConfigError(error.message, hint=error.hint, field=where) from error
    return checked


@transaction.atomic
def create_envelope(domain: Domain, values: Mapping[str, Any], *, by: User | None) -> Envelope:
    """Store an envelope.

    Raises:
        VlmLabError: see ``checked_envelope``.
    """
    check_usable(domain)
    stored = checked_envelope(domain, values)
    keep_domain(domain, by_id=by.pk if by else None)
    envelope = Envelope(
        name=checked_name(stored.name),
        domain=domain.slug,
        domain_version=domain.version,
        spec=stored.model_dump(mode="json"),
        created_by=by,
    )
    envelope.slug = free_slug(envelope.name, rows=Envelope.objects.all(), reserved=RESERVED)
    envelope.save()
    record(by, "declared", envelope, after={"spec": envelope.spec})
    return envelope


@transaction.atomic
def edit_envelope(envelope: Envelope, domain: Domain, values: Mapping[str, Any], *, by: User | None) -> None:
    """Change an envelope; cards that were started keep it as it stood then.

    Raises:
        VlmLabError: see ``checked_envelope``.
    """
    stored = checked_envelope(domain, values)
    keep_domain(domain, by_id=by.pk if by else None)
    before = {"spec": envelope.spec, "domain_version": envelope.domain_version}
    envelope.name, envelope.spec = checked_name(stored.name), stored.model_dump(mode="json")
    envelope.domain, envelope.domain_version = domain.slug, domain.version
    envelope.save(update_fields=["name", "spec", "domain", "domain_version"])
    record(by, "changed", envelope, before=before, after={"spec": envelope.spec})


@transaction.atomic
def archive_envelope(envelope: Envelope, *, is_archived: bool, by: User | None) -> None:
    """Take an envelope out of use, or bring it back."""
    envelope.is_archived = is_archived
    envelope.save(update_fields=["is_archived"])
    record(by, "archived" if is_archived else "brought back", envelope)


def file_values(envelope: Envelope) -> dict[str, Any]:
    """Return an envelope as its file holds it: domain first, defaults of cells left out."""
    stored = stored_of(envelope)
    cells = [
        cell.model_dump(mode="json", exclude_defaults=True) | {"limit": cell.limit} for cell in stored.cells
    ]
    rest = stored.model_dump(mode="json", exclude={"name", "cells"})
    return {
        "name": stored.name,
        "domain": envelope.domain,
        "domain_version": envelope.domain_version,
        **rest,
        "cells": cells,
    }


def values_of_file(content: Mapping[str, Any]) -> tuple[Domain, dict[str, Any]]:
    """Return the domain that a file names and the rest of it; cells without a short name get one.

    Raises:
        VlmLabError: there is no such domain or version, or a cell is no mapping.
    """
    values = dict(content)
    slug, version = str(values.pop("domain", "")), str(values.pop("domain_version", "") or "")
    domain = find_domain(f"{slug}@{version}" if version else slug)
    if version and domain.version != version:
        raise ConfigError(
            f"Version {shown(version)} of {domain.title} is not in this lab.",
            hint=f"Import it first, or name the version {domain.version} and look at the cells again: the "
            "same words may mean other sets.",
            field="file",
        )
    cells = values.get("cells")
    if not isinstance(cells, list) or not all(isinstance(one, Mapping) for one in cells):
        raise ConfigError("cells must be a list of cells.", hint="Each has a title and groups.", field="file")
    taken: list[str] = [str(one["id"]) for one in cells if one.get("id")]
    named = []
    for one in cells:
        cell = {str(name): value for name, value in one.items()}
        if not cell.get("id"):
            cell["id"] = short_name(str(cell.get("title", "")), taken)
            taken.append(cell["id"])
        named.append(cell)
    return domain, values | {"cells": named}
