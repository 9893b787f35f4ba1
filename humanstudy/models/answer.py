"""What participants say: drafts that are overwritten, assessments that are final, problems."""

from django.db import models

from humanstudy.enums import AnswerStatus, RejectReason
from humanstudy.models.case import StudyCase
from humanstudy.models.participant import Participant
from humanstudy.models.study import Study


class Draft(models.Model):
    """The last autosaved state of one case; ``revision`` grows by one a save, and an older one is refused.

    ``content`` is ``{"boxes": [[x_min, y_min, x_max, y_max], ...], "choice": ..., "text": ...}``, where the
    choice is "", "none" (no such object) or a reason to reject.
    """

    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="drafts")
    case = models.ForeignKey(StudyCase, on_delete=models.CASCADE, related_name="drafts")
    revision = models.PositiveIntegerField(default=0)
    content = models.JSONField(default=dict)
    ms_on_case = models.PositiveIntegerField(default=0)
    saved_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["participant", "case"], name="one_draft_a_participant_and_case")
        ]

    def __str__(self) -> str:
        return f"draft {self.revision} of {self.participant_id}"


class Assessment(models.Model):
    """One final answer of one participant to one case.

    Rows never change except that ``is_current`` falls when a correction takes the place. ``client_key`` is
    the page's UUID of the answer: the same key again is the same answer. ``boxes`` are x_min, y_min, x_max,
    y_max in pixels of the case's picture, half-open. ``set_iou`` is against the truth; None where the answer
    rejects.
    """

    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="assessments")
    case = models.ForeignKey(StudyCase, on_delete=models.RESTRICT, related_name="assessments")
    client_key = models.UUIDField()
    version = models.PositiveSmallIntegerField(default=1)
    is_current = models.BooleanField(default=True)
    status = models.CharField(max_length=10, choices=AnswerStatus.choices)
    reason = models.CharField(max_length=8, choices=RejectReason.choices, blank=True)
    reason_text = models.TextField(blank=True)
    boxes = models.JSONField(default=list, blank=True)
    set_iou = models.FloatField(null=True, blank=True)
    image_sha256 = models.CharField(max_length=64)
    natural_width = models.PositiveIntegerField()
    natural_height = models.PositiveIntegerField()
    css_width = models.FloatField(null=True, blank=True)
    device_pixel_ratio = models.FloatField(null=True, blank=True)
    zoom = models.FloatField(null=True, blank=True)
    pointer_type = models.CharField(max_length=12, blank=True)
    ms_on_case = models.PositiveIntegerField(default=0)
    undo_count = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["participant", "case"],
                condition=models.Q(is_current=True),
                name="one_current_assessment_a_participant_and_case",
            ),
            models.UniqueConstraint(fields=["participant", "client_key"], name="one_assessment_a_client_key"),
            models.UniqueConstraint(
                fields=["participant", "case", "version"], name="one_assessment_a_version"
            ),
        ]
        indexes = [models.Index(fields=["case", "is_current"])]

    def __str__(self) -> str:
        return f"{self.status} of {self.participant_id} on {self.case_id}"


class ProblemReport(models.Model):
    """What a participant reported as broken."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="problems")
    participant = models.ForeignKey(
        Participant, null=True, blank=True, on_delete=models.CASCADE, related_name="problems"
    )
    case = models.ForeignKey(
        StudyCase, null=True, blank=True, on_delete=models.SET_NULL, related_name="problems"
    )
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.text[:80]
