"""What people said they saw in a picture, without being told."""

from django.conf import settings
from django.db import models


class ConceptNaming(models.Model):
    """One answer to "can you tell?": a picture drawn for ``concept``, and which concepts a person named.

    ``invented`` lists what was named and is not in the picture. An empty ``named`` means "I cannot tell".
    """

    job_id = models.UUIDField(unique=True)  # of the picture: a second click is no second answer
    domain = models.CharField(max_length=64)
    domain_version = models.CharField(max_length=16)
    backend = models.CharField(max_length=64, default="embedded")
    backend_version = models.CharField(max_length=16, blank=True)
    concept = models.CharField(max_length=64)
    key = models.CharField(max_length=255)
    scene_seed = models.BigIntegerField()
    image_sha256 = models.CharField(max_length=64)
    named = models.JSONField(default=list, blank=True)
    invented = models.JSONField(default=list, blank=True)
    is_right = models.BooleanField()
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["domain", "concept"])]

    def __str__(self) -> str:
        return f"{self.concept}: {', '.join(self.named) or 'cannot tell'}"
