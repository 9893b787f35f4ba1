"""Somebody who takes part, known by a pseudonym, and the slots that they hold."""

from django.conf import settings
from django.db import models

from humanstudy.enums import ParticipantState, RecruiterKind
from humanstudy.models.study import ConsentVersion, Study, Subset


class Participant(models.Model):
    """One person in one study.

    ``pseudonym`` is the HMAC-SHA256 of platform and id under the study key; no raw id, address or browser
    name is stored here. ``code`` is a random public name, from which the link is made. ``order_seed`` decides
    the order of cases. Previews of researchers are participants that count nowhere.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="participants")
    subset = models.ForeignKey(
        Subset, null=True, blank=True, on_delete=models.CASCADE, related_name="participants"
    )
    code = models.CharField(max_length=16, unique=True)
    pseudonym = models.CharField(max_length=64)
    platform = models.CharField(max_length=8, choices=RecruiterKind.choices)
    state = models.CharField(
        max_length=12, choices=ParticipantState.choices, default=ParticipantState.ACTIVE, db_index=True
    )
    is_preview = models.BooleanField(default=False)
    is_surplus = models.BooleanField(default=False)  # the slot was taken by somebody else before the answer
    checks_passed = models.BooleanField(null=True, blank=True)  # False only where every check failed
    order_seed = models.BigIntegerField()
    consent = models.ForeignKey(ConsentVersion, on_delete=models.RESTRICT, related_name="participants")
    consented_at = models.DateTimeField()
    trained_at = models.DateTimeField(null=True, blank=True)
    training_attempts = models.PositiveSmallIntegerField(default=0)
    started_at = models.DateTimeField(auto_now_add=True)
    seen_at = models.DateTimeField(auto_now_add=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    excluded_at = models.DateTimeField(null=True, blank=True)
    excluded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    excluded_reason = models.TextField(blank=True)
    comment = models.TextField(blank=True)  # what they wrote at the end

    class Meta:
        ordering = ["study_id", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "pseudonym"],
                condition=models.Q(is_preview=False),
                name="one_participation_a_person",
            ),
        ]
        indexes = [models.Index(fields=["study", "state"]), models.Index(fields=["subset", "state"])]

    def __str__(self) -> str:
        return self.code


class Slot(models.Model):
    """One of the places of a subset; a claim is one conditional UPDATE of it.

    Free: no holder. Held: a holder whose ``lease_expires`` is ahead (the database's clock). Over: a holder
    whose lease ran out; anybody may take it. Filled: ``is_filled``, by a submission that counts.
    """

    subset = models.ForeignKey(Subset, on_delete=models.CASCADE, related_name="slots")
    number = models.PositiveIntegerField()
    holder = models.OneToOneField(
        Participant, null=True, blank=True, on_delete=models.SET_NULL, related_name="slot"
    )
    lease_expires = models.DateTimeField(null=True, blank=True)
    is_filled = models.BooleanField(default=False)

    class Meta:
        ordering = ["subset_id", "number"]
        constraints = [models.UniqueConstraint(fields=["subset", "number"], name="one_slot_a_number")]
        indexes = [models.Index(fields=["subset", "is_filled", "lease_expires"])]

    def __str__(self) -> str:
        return f"slot {self.number}"
