"""What one form starts: one configuration, one or more runs."""

from django.conf import settings
from django.db import models
from django.urls import reverse


class Campaign(models.Model):
    """A wish: method, configuration and domain, searched on one or more systems."""

    name = models.CharField(max_length=120)
    method = models.CharField(max_length=16, default="revelio")
    domain = models.CharField(max_length=64)
    domain_version = models.CharField(max_length=16)
    config = models.JSONField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT)
    created_at = models.DateTimeField(auto_now_add=True)
    is_sample = models.BooleanField(default=False)
    request_key = models.CharField(max_length=80, null=True, blank=True)  # a program's Idempotency-Key
    request_digest = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["created_by", "request_key"], name="one_campaign_a_request")
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def domain_ref(self) -> str:
        """The domain with its version, as ``find_domain`` reads it."""
        return f"{self.domain}@{self.domain_version}"

    def get_absolute_url(self) -> str:
        """Return the list of its runs."""
        return reverse("run_list") + f"?campaign={self.pk}"
