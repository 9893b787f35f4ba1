"""The append-only record of changes, written in the transaction of the change itself."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Model

from searches.models import AuditEntry, User


def record(
    actor: User | None,
    verb: str,
    obj: Model,
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> AuditEntry:
    """Write one entry; call it inside the transaction that makes the change."""
    return AuditEntry.objects.create(
        actor=actor,
        actor_name=actor.get_username() if actor else "system",
        verb=verb,
        object_type=obj._meta.model_name or "",
        object_id=str(obj.pk),
        object_label=str(obj)[:200],
        before=dict(before or {}),
        after=dict(after or {}),
    )
