"""Failure modes that a search suspects."""

from django.db import models
from django.urls import reverse

from searches.enums import Direction, Minimality
from searches.models.run import SearchRun, Trial
from searches.models.settled import Settled
from searches.models.sut import SutRecord


class Finding(Settled):
    """A concept set on which a system fails too often, with the counts it was found with.

    A curtailed set carries its decided class and no rate: ``fails``/``n`` of it are biased upwards.
    ``necessity`` says of each concept what a paired ablation found: ``{concept: {"verdict": ..., ...}}``;
    ``covered_by`` is the smaller finding on the same question that explains it.
    """

    run = models.ForeignKey(SearchRun, on_delete=models.CASCADE, related_name="findings")
    trial = models.OneToOneField(Trial, on_delete=models.CASCADE, related_name="finding")
    sut = models.ForeignKey(SutRecord, on_delete=models.PROTECT, related_name="findings")
    domain = models.CharField(max_length=64)
    domain_version = models.CharField(max_length=16)
    key = models.CharField(max_length=255)
    concepts = models.JSONField()
    size = models.PositiveSmallIntegerField()
    fails = models.PositiveSmallIntegerField()
    invalid = models.PositiveSmallIntegerField(default=0)
    n = models.PositiveSmallIntegerField()
    is_curtailed = models.BooleanField(default=False)
    is_minimal_in_run = models.BooleanField(default=True)
    expected_action = models.CharField(max_length=40)
    answered_action = models.CharField(max_length=40, blank=True)
    direction = models.CharField(max_length=16, choices=Direction.choices, blank=True)
    rule_id = models.CharField(max_length=60, blank=True)
    found_at_inference = models.PositiveIntegerField(default=0)
    thumbnails = models.JSONField(default=list, blank=True)
    reason_text = models.TextField(blank=True)
    minimality = models.CharField(max_length=14, choices=Minimality.choices, blank=True)
    necessity = models.JSONField(default=dict, blank=True)
    covered_by = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="covers"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["state", "sut"]), models.Index(fields=["run", "-fails"])]

    def __str__(self) -> str:
        return self.key

    @property
    def domain_ref(self) -> str:
        """The domain with its version, as ``find_domain`` reads it."""
        return f"{self.domain}@{self.domain_version}"

    def get_absolute_url(self) -> str:
        """Return the address of its page."""
        return reverse("finding_detail", args=[self.pk])
