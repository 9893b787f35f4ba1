"""An append-only record of who changed what."""

from typing import Any

from django.conf import settings
from django.db import models


class AuditEntry(models.Model):
    """One change, written in the transaction that made it; never updated or deleted."""

    at = models.DateTimeField(auto_now_add=True, db_index=True)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT)
    actor_name = models.CharField(max_length=150)
    verb = models.CharField(max_length=40)
    object_type = models.CharField(max_length=40)
    object_id = models.CharField(max_length=64)
    object_label = models.CharField(max_length=200, blank=True)
    before = models.JSONField(default=dict, blank=True)
    after = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["object_type", "object_id"])]

    def __str__(self) -> str:
        return f"{self.actor_name} {self.verb} {self.object_type} {self.object_id}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store a new entry.

        Raises:
            ValueError: the entry exists already; the audit table is append-only.
        """
        if self.pk is not None:
            raise ValueError("audit entries are append-only")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """Refuse.

        Raises:
            ValueError: always; the audit table is append-only.
        """
        raise ValueError("audit entries are append-only")
