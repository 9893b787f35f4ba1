"""MoST: the clean answers that runs share, one search a seed image and regime, its evaluations and cases."""

from django.db import models
from django.urls import reverse

from searches.enums import AnswerKind, CaseKind, ModalityStatus, RegimeName
from searches.models.campaign import Campaign
from searches.models.dataset import DatasetPicture
from searches.models.run import SearchRun
from searches.models.settled import Settled
from searches.models.sut import SutRecord


class CleanAnswer(models.Model):
    """What a system answers to a seed image without a perturbation: the baseline that all its runs share.

    The first run that needs it asks; regimes and run seeds of the campaign read the same row. ``boxes`` are
    x_min, y_min, x_max, y_max in pixels. ``lenient_*`` is the reading that also takes what could be saved.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="clean_answers")
    sut = models.ForeignKey(SutRecord, on_delete=models.PROTECT, related_name="clean_answers")
    picture = models.ForeignKey(DatasetPicture, on_delete=models.PROTECT, related_name="clean_answers")
    label = models.CharField(max_length=120)
    prompt = models.TextField()
    status = models.CharField(max_length=12, choices=AnswerKind.choices)
    iou = models.FloatField(default=0.0)
    lenient_status = models.CharField(max_length=12, choices=AnswerKind.choices, blank=True)
    lenient_iou = models.FloatField(default=0.0)
    boxes = models.JSONField(default=list, blank=True)
    raw_text = models.TextField(blank=True)
    finish_reason = models.CharField(max_length=12, blank=True)
    reading_reason = models.CharField(max_length=24, blank=True)
    served_model = models.CharField(max_length=200, blank=True)
    reader_version = models.CharField(max_length=16, blank=True)
    seen_width = models.PositiveIntegerField(null=True, blank=True)
    seen_height = models.PositiveIntegerField(null=True, blank=True)
    latency_ms = models.FloatField(default=0.0)
    is_cached = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "sut", "picture", "label"], name="one_clean_answer_a_seed_image"
            )
        ]

    def __str__(self) -> str:
        return f"{self.sut_id} on {self.picture_id}: {self.status}"


class ModalityRun(models.Model):
    """What a MoST run has beside its ``SearchRun``: seed image, regime, and how it came out.

    ``status`` mirrors the core's ``RunStatus``. Times of the run stand in its ``SearchRun``:
    ``active_seconds`` in all, of these ``render_seconds`` for perturbing and ``sut_seconds`` for inference.
    """

    run = models.OneToOneField(SearchRun, on_delete=models.CASCADE, related_name="modality")
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="modality_runs")
    sut = models.ForeignKey(SutRecord, on_delete=models.PROTECT, related_name="modality_runs")
    picture = models.ForeignKey(DatasetPicture, on_delete=models.PROTECT, related_name="modality_runs")
    stratum = models.CharField(max_length=32, blank=True)
    label = models.CharField(max_length=120)
    regime = models.CharField(max_length=8, choices=RegimeName.choices)
    replicate = models.PositiveSmallIntegerField(default=0)
    status = models.CharField(
        max_length=20, choices=ModalityStatus.choices, default=ModalityStatus.UNFINISHED
    )
    clean_answer = models.ForeignKey(
        CleanAnswer, null=True, blank=True, on_delete=models.SET_NULL, related_name="runs"
    )
    end_reason = models.CharField(max_length=20, blank=True)
    first_hit = models.PositiveIntegerField(null=True, blank=True)
    evaluations = models.PositiveIntegerField(default=0)
    fidelities = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["run_id"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "sut", "picture", "label", "regime", "replicate"],
                name="one_modality_run_a_place",
            )
        ]
        indexes = [
            models.Index(fields=["campaign", "sut", "stratum", "regime"]),
            models.Index(fields=["campaign", "status"]),
        ]

    def __str__(self) -> str:
        return f"{self.regime} on {self.picture_id}"

    def get_absolute_url(self) -> str:
        """Return the address of its page."""
        return reverse("modality_run", args=[self.run_id])


class Evaluation(models.Model):
    """One strategy with the answer it got. The strategy is a list in the order of the regime's operators.

    Picture and prompt are not stored: run seed, seed image and strategy make them again.
    """

    run = models.ForeignKey(SearchRun, on_delete=models.CASCADE, related_name="evaluations")
    step = models.PositiveIntegerField()
    position = models.PositiveSmallIntegerField()
    strategy = models.JSONField()
    attempt = models.PositiveSmallIntegerField(default=0)
    stage = models.CharField(max_length=24, blank=True)
    status = models.CharField(max_length=12, choices=AnswerKind.choices)
    iou = models.FloatField(default=0.0)
    lenient_status = models.CharField(max_length=12, choices=AnswerKind.choices, blank=True)
    lenient_iou = models.FloatField(default=0.0)
    image_distance = models.FloatField(default=0.0)
    prompt_distance = models.FloatField(default=0.0)
    is_admissible = models.BooleanField(default=True)
    is_hit = models.BooleanField(default=False)
    raw_text = models.TextField(blank=True)
    finish_reason = models.CharField(max_length=12, blank=True)
    reading_reason = models.CharField(max_length=24, blank=True)
    latency_ms = models.FloatField(default=0.0)
    is_cached = models.BooleanField(default=False)
    seen_width = models.PositiveIntegerField(null=True, blank=True)
    seen_height = models.PositiveIntegerField(null=True, blank=True)
    error = models.TextField(blank=True)

    class Meta:
        ordering = ["step", "position"]
        constraints = [
            models.UniqueConstraint(fields=["run", "step", "position"], name="one_evaluation_a_place")
        ]
        indexes = [models.Index(fields=["run", "is_hit"])]

    def __str__(self) -> str:
        return f"{self.run_id}: {self.step}.{self.position}"


class ModalityCase(Settled):
    """A test case: the one that a run returned, or its minimal perturbation.

    All that a later confirmation, transfer or regression needs stands here: ``severities`` by operator name,
    ``generator`` (``{"run_seed", "seed_image", "seeds": {operator: seed}}``), both prompts, both pictures by
    digest, the moved truth and the answer. ``f1``, ``f2``, ``f3`` are the objectives; numbers are those of
    the core's ``CaseNumbers``. ``reason`` is the core's ``ReturnReason``, or "minimal".
    """

    modality_run = models.ForeignKey(ModalityRun, on_delete=models.CASCADE, related_name="cases")
    kind = models.CharField(max_length=10, choices=CaseKind.choices)
    evaluation = models.ForeignKey(
        Evaluation, null=True, blank=True, on_delete=models.SET_NULL, related_name="cases"
    )
    severities = models.JSONField()
    generator = models.JSONField(default=dict)
    prompt = models.TextField()
    image_sha256 = models.CharField(max_length=64, db_index=True)
    truth = models.JSONField(default=list)
    boxes = models.JSONField(default=list, blank=True)
    status = models.CharField(max_length=12, choices=AnswerKind.choices)
    iou = models.FloatField(default=0.0)
    lenient_status = models.CharField(max_length=12, choices=AnswerKind.choices, blank=True)
    lenient_iou = models.FloatField(default=0.0)
    raw_text = models.TextField(blank=True)
    finish_reason = models.CharField(max_length=12, blank=True)
    reading_reason = models.CharField(max_length=24, blank=True)
    reason = models.CharField(max_length=12)
    is_failure = models.BooleanField(default=False)
    is_faithful = models.BooleanField(default=True)
    f1 = models.FloatField()
    f2 = models.FloatField()
    f3 = models.FloatField()
    ms_ssim = models.FloatField()
    ned = models.FloatField()
    swtd = models.FloatField()
    swtd_mean = models.FloatField()
    image_budget = models.FloatField()
    text_budget = models.FloatField()
    evaluations = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["modality_run", "kind"], name="one_case_a_kind_and_run")
        ]
        indexes = [models.Index(fields=["is_failure", "kind"])]

    def __str__(self) -> str:
        return f"{self.kind} case of run {self.modality_run_id}"

    @property
    def total_budget(self) -> float:
        """b_I + b_T."""
        return self.image_budget + self.text_budget

    def get_absolute_url(self) -> str:
        """Return the address of its page."""
        return reverse("modality_case", args=[self.pk])
