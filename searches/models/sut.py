"""Registered systems under test."""

from django.conf import settings
from django.db import models
from django.urls import reverse

from searches.enums import Queue
from searches.models.keys import ApiKey


class SutRecord(models.Model):
    """A vision-language model as a black box: how to load it and what it has cost so far.

    ``params`` is the validated parameter model of its kind (``SUT_KINDS[kind].params``).
    """

    slug = models.SlugField(max_length=64, unique=True)
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=32)
    params = models.JSONField(default=dict)
    api_key = models.ForeignKey(ApiKey, null=True, blank=True, on_delete=models.PROTECT, related_name="suts")
    preset = models.CharField(max_length=64, blank=True)
    queue = models.CharField(max_length=8, choices=Queue.choices, default=Queue.CPU)
    description = models.TextField(blank=True)
    fingerprint = models.CharField(max_length=64, blank=True)
    details = models.JSONField(default=dict, blank=True)
    is_enabled = models.BooleanField(default=True)
    is_sample = models.BooleanField(default=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT)
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    n_calls = models.BigIntegerField(default=0)
    n_call_errors = models.BigIntegerField(default=0)
    latency_ms_sum = models.FloatField(default=0.0)
    spend_usd = models.FloatField(default=0.0)
    last_error = models.TextField(blank=True)
    last_error_at = models.DateTimeField(null=True, blank=True)
    last_answer_at = models.DateTimeField(null=True, blank=True)
    input_tokens = models.BigIntegerField(default=0)
    output_tokens = models.BigIntegerField(default=0)

    class Meta:
        ordering = ["name"]
        verbose_name = "system under test"

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """Return the address of its page."""
        return reverse("sut_detail", args=[self.slug])

    @property
    def is_price_unknown(self) -> bool:
        """Whether what its calls cost cannot be said: it has a price of tokens and nobody entered it."""
        prices = ("input_price_usd", "output_price_usd")
        params = self.params if isinstance(self.params, dict) else {}
        return any(name in params and params[name] is None for name in prices)

    @property
    def mean_latency_ms(self) -> float | None:
        """Mean wall time of an answered call, in milliseconds."""
        answered = self.n_calls - self.n_call_errors
        return self.latency_ms_sum / answered if answered > 0 else None
