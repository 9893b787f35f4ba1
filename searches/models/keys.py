"""Secrets: keys of providers that the lab uses, and tokens with which programs use the lab."""

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from searches.models.sealed import SealedTextField


class ApiKey(models.Model):
    """A provider's key; write-only: people see its name and last characters.

    ``origin`` is the one server (scheme, host, port) that it may be sent to.
    """

    name = models.CharField(max_length=80, unique=True)
    kind = models.CharField(max_length=32)  # key of SUT_KINDS
    origin = models.CharField(max_length=300)
    secret = SealedTextField()
    last_characters = models.CharField(max_length=4, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT)
    created_at = models.DateTimeField(auto_now_add=True)
    replaced_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["name"]
        verbose_name = "provider key"

    def __str__(self) -> str:
        return f"{self.name} (…{self.last_characters})" if self.last_characters else self.name


class ApiToken(models.Model):
    """A person's token for the REST API; only its digest is stored, the token is shown once."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=12)
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        verbose_name = "API token"

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


def usable_tokens() -> "models.QuerySet[ApiToken]":
    """Return tokens that are neither revoked nor expired."""
    is_current = models.Q(expires_at__isnull=True) | models.Q(expires_at__gt=Now())
    return ApiToken.objects.filter(is_current, revoked_at__isnull=True)
