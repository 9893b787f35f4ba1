"""What findings and test cases share: how far they are trusted, on which evidence, and what people think."""

from django.db import models

from searches.enums import FindingState, TriageStatus


class Settled(models.Model):
    """The evidence of fresh samples, as the follow-up that settled the state wrote it.

    ``fresh_low`` and ``fresh_high`` are an interval of the failure rate that holds however long was sampled,
    at ``fresh_level``, which is widened for the choice among the ``family_size`` suspects. The counts with
    which it was found are elsewhere and are biased upwards.
    """

    state = models.CharField(max_length=14, choices=FindingState.choices, default=FindingState.SUSPECTED)
    fresh_fails = models.PositiveIntegerField(null=True, blank=True)
    fresh_invalid = models.PositiveIntegerField(null=True, blank=True)
    fresh_n = models.PositiveIntegerField(null=True, blank=True)
    fresh_low = models.FloatField(null=True, blank=True)
    fresh_high = models.FloatField(null=True, blank=True)
    fresh_level = models.FloatField(null=True, blank=True)
    log_e_value = models.FloatField(
        null=True, blank=True
    )  # natural logarithm, against "at most the threshold"
    family_size = models.PositiveIntegerField(null=True, blank=True)
    settled_at = models.DateTimeField(null=True, blank=True)
    triage = models.CharField(max_length=10, choices=TriageStatus.choices, default=TriageStatus.OPEN)
    tags = models.JSONField(default=list, blank=True)

    class Meta:
        abstract = True
