"""Short work a page waits for: try a system, draw a scene."""

import uuid

from django.conf import settings
from django.db import models

from searches.enums import JobKind, JobState, Queue


class Job(models.Model):
    """One short piece of work for a worker; idempotent, so it may be done twice after a crash."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=16, choices=JobKind.choices)
    queue = models.CharField(max_length=8, choices=Queue.choices, default=Queue.CPU)
    group = models.UUIDField(null=True, blank=True, db_index=True)  # jobs asked together, to be compared
    params = models.JSONField()
    result = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=8, choices=JobState.choices, default=JobState.QUEUED, db_index=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    owner = models.CharField(max_length=120, blank=True)
    lease_expires = models.DateTimeField(null=True, blank=True)
    error = models.TextField(blank=True)
    hint = models.TextField(blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["created_at"]
        indexes = [models.Index(fields=["state", "queue", "created_at"])]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"
