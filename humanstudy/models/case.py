"""A case: the very picture and prompt that a system got, with all that is needed to judge an answer."""

from django.db import models

from humanstudy.enums import CaseOrigin, CaseRole
from humanstudy.models.study import Study, Subset
from searches.models import CleanAnswer, Evaluation, ModalityCase, Sample, SutRecord


class StudyCase(models.Model):
    """One picture with one prompt.

    Everything that people see and that answers are judged by is copied here when the case is made, so a study
    outlives its campaigns. ``image_sha256`` names the canonical PNG: systems and people get the same bytes.
    ``truth``, ``sut_boxes`` and ``asked_again_boxes`` are lists of x_min, y_min, x_max, y_max in its pixels;
    ``asked_again_*`` is a later answer of the same system to the same input, which was not selected for being
    wrong. ``cell`` is the place in the design, ``{stratum: value}``. ``facts`` holds what reviewers are shown
    of a scene: ``{"generation_prompt", "concepts", "domain", "expected", "question", "answer", "raw_text"}``;
    of an instructed check ``{"instruction"}``. ``probability`` is that with which the case was drawn from its
    frame (reviews).
    """

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="cases")
    subset = models.ForeignKey(Subset, null=True, blank=True, on_delete=models.CASCADE, related_name="cases")
    order = models.PositiveIntegerField()
    role = models.CharField(max_length=20, choices=CaseRole.choices, default=CaseRole.CASE)
    origin = models.CharField(max_length=12, choices=CaseOrigin.choices)
    modality_case = models.ForeignKey(
        ModalityCase, null=True, blank=True, on_delete=models.SET_NULL, related_name="study_cases"
    )
    evaluation = models.ForeignKey(
        Evaluation, null=True, blank=True, on_delete=models.SET_NULL, related_name="study_cases"
    )
    clean_answer = models.ForeignKey(
        CleanAnswer, null=True, blank=True, on_delete=models.SET_NULL, related_name="study_cases"
    )
    sample = models.ForeignKey(
        Sample, null=True, blank=True, on_delete=models.SET_NULL, related_name="study_cases"
    )
    sut = models.ForeignKey(
        SutRecord, null=True, blank=True, on_delete=models.SET_NULL, related_name="study_cases"
    )
    sut_name = models.CharField(max_length=120, blank=True)
    scene_type = models.CharField(max_length=64, blank=True)
    regime = models.CharField(max_length=8, blank=True)
    operator = models.CharField(max_length=64, blank=True)
    severity = models.FloatField(null=True, blank=True)
    label = models.CharField(max_length=120, blank=True)
    cell = models.JSONField(default=dict, blank=True)
    image_sha256 = models.CharField(max_length=64, db_index=True)
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    prompt = models.TextField(blank=True)
    truth = models.JSONField(default=list, blank=True)
    sut_boxes = models.JSONField(default=list, blank=True)
    sut_status = models.CharField(max_length=12, blank=True)
    sut_iou = models.FloatField(null=True, blank=True)
    is_failure = models.BooleanField(default=False)
    asked_again_boxes = models.JSONField(default=list, blank=True)
    asked_again_status = models.CharField(max_length=12, blank=True)
    asked_again_iou = models.FloatField(null=True, blank=True)
    asked_again_at = models.DateTimeField(null=True, blank=True)
    facts = models.JSONField(default=dict, blank=True)
    probability = models.FloatField(default=1.0)

    class Meta:
        ordering = ["study_id", "order"]
        constraints = [models.UniqueConstraint(fields=["study", "order"], name="one_study_case_a_place")]
        indexes = [models.Index(fields=["study", "role"]), models.Index(fields=["subset", "role"])]

    def __str__(self) -> str:
        return f"case {self.order}"
