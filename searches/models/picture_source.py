"""Where the pictures of a search come from, beside the embedded renderer."""

from django.conf import settings
from django.db import models
from django.urls import reverse

from searches.models.dataset import Dataset
from searches.models.keys import ApiKey
from searches.models.sut import SutRecord


class PictureSource(models.Model):
    """A configured back end: a pool of pictures, an image-generating model, a CARLA server.

    ``params`` is the validated parameter model of its kind (``SCENE_BACKENDS[kind].params``). Once a run has
    used it, only its key, its name and whether it is enabled may change.
    """

    slug = models.SlugField(max_length=64, unique=True)
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=32)
    params = models.JSONField(default=dict)
    dataset = models.ForeignKey(
        Dataset, null=True, blank=True, on_delete=models.PROTECT, related_name="sources"
    )
    api_key = models.ForeignKey(
        ApiKey, null=True, blank=True, on_delete=models.PROTECT, related_name="sources"
    )
    presence_sut = models.ForeignKey(
        SutRecord, null=True, blank=True, on_delete=models.PROTECT, related_name="presence_sources"
    )  # asked whether a generated picture shows what it should
    description = models.TextField(blank=True)
    is_enabled = models.BooleanField(default=True)
    is_sample = models.BooleanField(default=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT)
    created_at = models.DateTimeField(auto_now_add=True)
    n_pictures = models.BigIntegerField(default=0)
    n_refusals = models.BigIntegerField(default=0)
    spend_usd = models.FloatField(default=0.0)
    last_error = models.TextField(blank=True)
    last_error_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["name"]
        verbose_name = "picture source"

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """Return the address of its page."""
        return reverse("source_detail", args=[self.slug])
