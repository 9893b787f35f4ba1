"""Who is paid, who was invited, and calls to platforms that must not happen twice."""

import uuid

from django.db import models

from humanstudy.enums import CallState, PaymentState, RecruiterKind
from humanstudy.models.participant import Participant
from humanstudy.models.study import Study, Subset


class PaymentRecord(models.Model):
    """The only place of raw platform ids; the retention command deletes them once ``expires_at`` is over.

    An assignment of a platform may be handed to a second worker, so the key is assignment and worker.
    ``amount`` and ``bonus`` are decimal amounts in the study's currency.
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="payments")
    participant = models.OneToOneField(
        Participant, null=True, blank=True, on_delete=models.SET_NULL, related_name="payment"
    )
    platform = models.CharField(max_length=8, choices=RecruiterKind.choices)
    worker_id = models.CharField(max_length=200, blank=True)
    assignment_id = models.CharField(max_length=200, blank=True)
    facts = models.JSONField(default=dict, blank=True)  # hit_id, study_id, session_id, submit_to
    state = models.CharField(max_length=10, choices=PaymentState.choices, default=PaymentState.OPEN)
    is_payable = models.BooleanField(default=True)  # the platform lists the assignment for this worker
    amount = models.DecimalField(max_digits=10, decimal_places=2, default=0)
    bonus = models.DecimalField(max_digits=10, decimal_places=2, default=0)
    feedback = models.TextField(blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["study_id", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "assignment_id", "worker_id"],
                condition=~models.Q(worker_id=""),
                name="one_payment_an_assignment_and_worker",
            )
        ]
        indexes = [models.Index(fields=["expires_at"]), models.Index(fields=["study", "state"])]

    def __str__(self) -> str:
        return f"payment {self.pk}"


class Invitation(models.Model):
    """A personal link; ``label`` is the lab's own note of whom it is for and expires with the raw ids."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="invitations")
    code = models.CharField(max_length=16, unique=True)
    label = models.CharField(max_length=120, blank=True)
    participant = models.OneToOneField(
        Participant, null=True, blank=True, on_delete=models.SET_NULL, related_name="invitation"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["study_id", "id"]

    def __str__(self) -> str:
        return self.code


class PlatformCall(models.Model):
    """A call whose repetition would cost money; its token is stored before it is sent."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="platform_calls")
    operation = models.CharField(max_length=40)
    token = models.UUIDField(default=uuid.uuid4, unique=True)
    subject = models.CharField(max_length=80)  # what it is for: one row an operation and subject
    request = models.JSONField(default=dict)
    response = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=8, choices=CallState.choices, default=CallState.PENDING)
    error = models.TextField(blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    settled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "operation", "subject"], name="one_platform_call_a_subject"
            )
        ]

    def __str__(self) -> str:
        return f"{self.operation} {self.subject}"


class MturkHit(models.Model):
    """One task as Mechanical Turk knows it."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="mturk_hits")
    subset = models.ForeignKey(
        Subset, null=True, blank=True, on_delete=models.CASCADE, related_name="mturk_hits"
    )
    hit_id = models.CharField(max_length=200, unique=True)
    hit_type_id = models.CharField(max_length=200)
    max_assignments = models.PositiveIntegerField()
    reward = models.CharField(max_length=12)
    is_production = models.BooleanField(default=False)
    status = models.CharField(max_length=20, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    synced_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.hit_id
