"""What a calibration probe found, which versions of a system were seen, and what each day cost."""

from django.conf import settings
from django.db import models
from django.urls import reverse

from searches.enums import CalibrationStatus
from searches.models.job import Job
from searches.models.sut import SutRecord


class Calibration(models.Model):
    """Twenty pictures with one known rectangle each, asked twice: where is it, and which colour has it.

    ``boxes_status`` judges the declared box convention, ``answers_status`` whether lettered answers can be
    read. ``items`` holds each picture's seed, true box, replies and readings; ``fits`` each convention's.
    """

    sut = models.ForeignKey(SutRecord, on_delete=models.CASCADE, related_name="calibrations")
    job = models.OneToOneField(
        Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="calibration"
    )
    fingerprint = models.CharField(max_length=64)
    asking = models.JSONField()
    boxes_status = models.CharField(max_length=16, choices=CalibrationStatus.choices)
    answers_status = models.CharField(max_length=16, choices=CalibrationStatus.choices)
    boxes_sentence = models.TextField(blank=True)
    answers_sentence = models.TextField(blank=True)
    median_iou = models.FloatField(null=True, blank=True)
    readable_share = models.FloatField(null=True, blank=True)
    right_share = models.FloatField(null=True, blank=True)
    items = models.JSONField(default=list)
    fits = models.JSONField(default=list)
    n_calls = models.PositiveIntegerField(default=0)
    n_call_errors = models.PositiveIntegerField(default=0)
    input_tokens = models.BigIntegerField(default=0)
    output_tokens = models.BigIntegerField(default=0)
    cost_usd = models.FloatField(default=0.0)
    latency_ms = models.FloatField(null=True, blank=True)
    reader_version = models.CharField(max_length=16)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["sut", "-id"])]

    def __str__(self) -> str:
        return f"Calibration {self.pk} of {self.sut_id}"

    def get_absolute_url(self) -> str:
        """Return the address of its page."""
        return reverse("sut_calibration", args=[self.sut.slug, self.pk])


class SutVersion(models.Model):
    """One identity under which a system was loaded: settings and fingerprint, first and last seen."""

    sut = models.ForeignKey(SutRecord, on_delete=models.CASCADE, related_name="versions")
    fingerprint = models.CharField(max_length=64)
    params = models.JSONField()
    details = models.JSONField(default=dict, blank=True)
    first_seen = models.DateTimeField(auto_now_add=True)
    last_seen = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["sut", "fingerprint"], name="one_row_a_version")]

    def __str__(self) -> str:
        return self.fingerprint[:12]


class SpendDay(models.Model):
    """What calls to one system took and cost on one day (UTC)."""

    sut = models.ForeignKey(SutRecord, on_delete=models.CASCADE, related_name="spend_days")
    day = models.DateField()
    n_calls = models.BigIntegerField(default=0)
    n_call_errors = models.BigIntegerField(default=0)
    input_tokens = models.BigIntegerField(default=0)
    output_tokens = models.BigIntegerField(default=0)
    cost_usd = models.FloatField(default=0.0)

    class Meta:
        ordering = ["-day"]
        constraints = [models.UniqueConstraint(fields=["sut", "day"], name="one_row_a_day")]
        indexes = [models.Index(fields=["day"])]

    def __str__(self) -> str:
        return f"{self.sut_id} {self.day}"
