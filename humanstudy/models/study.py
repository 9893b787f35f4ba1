"""A study: what is asked of whom, its texts and its subsets of cases."""

import uuid

from django.conf import settings
from django.db import models
from django.urls import reverse

from humanstudy.enums import Instrument, RecruiterKind, StudyState
from searches.models import Campaign, Job


class Study(models.Model):
    """Cases from campaigns that people judge.

    ``design`` is the core's ``StudyDesign`` (localization) or ``ReviewDesign`` (review). ``texts`` holds what
    participants read beside the consent: ``{"title", "instructions", "contact", "content_warning"}``.
    ``payment`` holds payment facts: ``{"reward", "currency", "minutes"}``, the reward as a decimal string.
    ``recruiter_settings`` are those of the recruiter's kind. ``uuid`` is part of the study key, from which
    pseudonyms and links are made; it never changes.
    """

    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=64, unique=True)
    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    instrument = models.CharField(max_length=12, choices=Instrument.choices)
    state = models.CharField(
        max_length=8, choices=StudyState.choices, default=StudyState.DRAFT, db_index=True
    )
    campaigns = models.ManyToManyField(Campaign, related_name="studies", blank=True)
    design = models.JSONField()
    texts = models.JSONField(default=dict, blank=True)
    payment = models.JSONField(default=dict, blank=True)
    recruiter = models.CharField(max_length=8, choices=RecruiterKind.choices, default=RecruiterKind.LINK)
    recruiter_settings = models.JSONField(default=dict, blank=True)
    is_open_to_annotators = models.BooleanField(default=False)  # signed-in annotators see it on their page
    language = models.CharField(max_length=8, default="en")
    claim_minutes = models.PositiveIntegerField(default=60)
    retention_days = models.PositiveIntegerField(default=90)  # of raw platform ids, after submission
    making = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    reviewers = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="studies", blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    is_sample = models.BooleanField(default=False)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "studies"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=StudyState.values), name="study_state_is_known"
            )
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """Return the address of its page."""
        return reverse("study_detail", args=[self.slug])


class ConsentVersion(models.Model):
    """A wording of the consent; rows never change, so that it is known what each participant agreed to."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="consents")
    number = models.PositiveIntegerField()
    text = models.TextField()
    sha256 = models.CharField(max_length=64)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["study_id", "number"]
        constraints = [models.UniqueConstraint(fields=["study", "number"], name="one_consent_a_number")]

    def __str__(self) -> str:
        return f"consent {self.number}"


class Subset(models.Model):
    """The cases that one participant judges, drawn by a stored seed."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="subsets")
    number = models.PositiveIntegerField()
    seed = models.BigIntegerField()

    class Meta:
        ordering = ["study_id", "number"]
        constraints = [models.UniqueConstraint(fields=["study", "number"], name="one_subset_a_number")]

    def __str__(self) -> str:
        return f"subset {self.number}"
