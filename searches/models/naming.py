"""What people said they saw in a picture, without being told."""

from django.conf import settings
from django.db import models


class ConceptNaming(models.Model):
    """One answer to "can you tell?": a picture of ``concept``, and which concept a person named."""

    domain = models.CharField(max_length=64)
    domain_version = models.CharField(max_length=16)
    backend = models.CharField(max_length=64, default="embedded")
    backend_version = models.CharField(max_length=16, blank=True)
    concept = models.CharField(max_length=64)
    key = models.CharField(max_length=255)
    scene_seed = models.BigIntegerField()
    image_sha256 = models.CharField(max_length=64)
    named = models.CharField(max_length=64, blank=True)  # "" = "I cannot tell"
    is_right = models.BooleanField()
    seconds = models.FloatField(default=0.0)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["domain", "concept"])]

    def __str__(self) -> str:
        return f"{self.concept}: {self.named or 'cannot tell'}"
