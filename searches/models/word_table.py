"""Tables of other words for labels, proposed by a language model and reviewed by a person."""

from django.conf import settings
from django.db import models
from django.urls import reverse

from searches.enums import WordTableKind, WordTableState
from searches.models.sut import SutRecord


class WordTableRecord(models.Model):
    """One table. ``draft`` is the core's ``TableDraft``; once reviewed, ``table`` is final and never changes.

    ``table`` is label -> list of alternatives. A campaign names tables by ``slug``.
    """

    slug = models.SlugField(max_length=64, unique=True)
    title = models.CharField(max_length=120)
    kind = models.CharField(max_length=10, choices=WordTableKind.choices)
    labels = models.JSONField(default=list)
    state = models.CharField(max_length=10, choices=WordTableState.choices, default=WordTableState.ASKING)
    sut = models.ForeignKey(SutRecord, null=True, blank=True, on_delete=models.PROTECT)
    draft = models.JSONField(default=dict, blank=True)
    table = models.JSONField(default=dict, blank=True)
    error = models.TextField(blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT)
    created_at = models.DateTimeField(auto_now_add=True)
    reviewed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["title"]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        """Return the address of its page."""
        return reverse("word_table", args=[self.slug])
