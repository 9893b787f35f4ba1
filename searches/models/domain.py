"""Domains that people made or changed; the built-in ones live in files of the core."""

from django.conf import settings
from django.db import models
from django.urls import reverse


class DomainRecord(models.Model):
    """A domain of this site; a changed built-in domain has a row too, an unchanged one has none."""

    slug = models.SlugField(max_length=64, unique=True)
    title = models.CharField(max_length=120)
    version = models.CharField(max_length=16)  # the one that new searches use
    is_archived = models.BooleanField(default=False)
    is_sample = models.BooleanField(default=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["title"]
        verbose_name = "domain"

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        """Return the address of its page."""
        return reverse("domain_detail", args=[self.slug])


class DomainVersion(models.Model):
    """One content of a domain, never changed and never deleted: runs and findings name it."""

    slug = models.SlugField(max_length=64)
    version = models.CharField(max_length=16)  # first 12 hex digits of the content's SHA-256
    number = models.PositiveIntegerField()  # 1 is the first content stored here
    content = models.JSONField()  # a parsed domain file
    note = models.CharField(max_length=200, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["slug", "version"], name="one_content_a_domain_version"),
            models.UniqueConstraint(fields=["slug", "number"], name="one_number_a_domain_version"),
        ]

    def __str__(self) -> str:
        return f"{self.slug} {self.version}"
