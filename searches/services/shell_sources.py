"""Setting picture sources up from a shell: settings as ``key=value``, rows by their short names."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from searches.models import ApiKey, Dataset, PictureSource, SutRecord
from searches.services.shell_params import put_param
from searches.services.source_context import backend_kind
from searches.services.sources import SourceWish, create_source
from vlmlab.core.errors import ConfigError


@dataclass(frozen=True)
class ShellSource:
    """What somebody at a shell wants to set up; an empty name stands for none."""

    slug: str
    kind: str
    name: str = ""
    description: str = ""
    dataset: str = ""
    key_name: str = ""
    presence: str = ""
    params: Sequence[str] = ()


def add_from_shell(wish: ShellSource) -> PictureSource:
    """Store a picture source.

    Raises:
        ConfigError: a setting is wrong, or a named row does not exist.
    """
    kind = backend_kind(wish.kind)
    params: dict[str, Any] = {}
    for text in wish.params:
        put_param(params, text, model=kind.params)
    return create_source(
        SourceWish(
            slug=wish.slug,
            kind=wish.kind,
            name=wish.name or wish.slug,
            description=wish.description,
            params=params,
            dataset=_found(Dataset.objects.filter(slug=wish.dataset).first(), "dataset", wish.dataset),
            api_key=_found(ApiKey.objects.filter(name=wish.key_name).first(), "key", wish.key_name),
            presence_sut=_found(
                SutRecord.objects.filter(slug=wish.presence).first(), "system", wish.presence
            ),
        ),
        by=None,
    )


def _found(row: Dataset | ApiKey | SutRecord | None, what: str, name: str) -> int | None:
    if not name:
        return None
    if row is None:
        raise ConfigError(f"There is no {what} called “{name}”.", hint="Check its name.")
    return row.pk
