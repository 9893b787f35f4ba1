"""Content-addressed files and the response cache."""

from django.db import models


class Blob(models.Model):
    """A stored file, named by its SHA-256; ``touched_at`` moves on every reuse and spares it collection."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    size = models.PositiveIntegerField()
    media_type = models.CharField(max_length=40, default="image/png")
    created_at = models.DateTimeField(auto_now_add=True)
    touched_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return self.sha256[:12]


class CachedReply(models.Model):
    """An answer that may be used again for exactly the same question; the first answer wins."""

    key = models.CharField(max_length=64, unique=True)
    run_id = models.BigIntegerField(null=True, blank=True, db_index=True)
    text = models.TextField(blank=True)
    finish_reason = models.CharField(max_length=12, default="stop")
    input_tokens = models.PositiveIntegerField(null=True, blank=True)
    output_tokens = models.PositiveIntegerField(null=True, blank=True)
    seen_width = models.PositiveIntegerField(null=True, blank=True)
    seen_height = models.PositiveIntegerField(null=True, blank=True)
    served_model = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.key[:12]
