"""Follow-ups: what they settle, fresh samples of test cases, what people say, and what is pinned."""

from django.conf import settings
from django.db import models
from django.urls import reverse

from searches.enums import AnswerKind, FamilyKind, SceneFlagKind
from searches.models.campaign import Campaign
from searches.models.finding import Finding
from searches.models.modality import ModalityCase
from searches.models.run import Sample, SearchRun
from searches.models.sut import SutRecord


class FollowUpItem(models.Model):
    """One thing that a run of a follow-up settles: a concept set, a test case, or a cell of an envelope.

    Rows are written with the campaign, before the first question: how many there are is part of the
    evidence. ``block`` seeds its scenes. ``spec`` holds arms and settings (the core's ``ItemSpec``),
    ``numbers`` what is known (the core's ``ItemResult``).
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="items")
    run = models.ForeignKey(SearchRun, on_delete=models.CASCADE, related_name="items")
    order = models.PositiveIntegerField()
    finding = models.ForeignKey(
        Finding, null=True, blank=True, on_delete=models.SET_NULL, related_name="follow_up_items"
    )
    case = models.ForeignKey(
        ModalityCase, null=True, blank=True, on_delete=models.SET_NULL, related_name="follow_up_items"
    )
    member = models.ForeignKey(
        "FamilyMember", null=True, blank=True, on_delete=models.SET_NULL, related_name="items"
    )
    block = models.CharField(max_length=16)
    key = models.CharField(max_length=255, blank=True)
    concepts = models.JSONField(default=list, blank=True)
    expected_action = models.CharField(max_length=40, blank=True)
    spec = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=16, blank=True)
    reason = models.CharField(max_length=24, blank=True)
    fails = models.PositiveIntegerField(default=0)
    n = models.PositiveIntegerField(default=0)
    numbers = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["run_id", "order"]
        constraints = [models.UniqueConstraint(fields=["run", "order"], name="one_item_a_place")]
        indexes = [models.Index(fields=["campaign", "state"])]

    def __str__(self) -> str:
        return self.key or f"item {self.order}"


class CaseSample(models.Model):
    """One fresh draw of a test case: same severities, operators drawn anew (``draw_seed``; null: as it was).

    Picture and prompt are not stored: the case and the seed make them again.
    """

    run = models.ForeignKey(SearchRun, on_delete=models.CASCADE, related_name="case_samples")
    item = models.ForeignKey(FollowUpItem, on_delete=models.CASCADE, related_name="case_samples")
    step = models.PositiveIntegerField()
    position = models.PositiveSmallIntegerField()
    number = models.PositiveSmallIntegerField()
    draw_seed = models.BigIntegerField(null=True, blank=True)
    image_sha256 = models.CharField(max_length=64, db_index=True)
    prompt = models.TextField(blank=True)
    truth = models.JSONField(default=list)
    boxes = models.JSONField(default=list, blank=True)
    status = models.CharField(max_length=12, choices=AnswerKind.choices)
    iou = models.FloatField(default=0.0)
    is_failure = models.BooleanField(default=False)
    is_repeat = models.BooleanField(default=False)  # the same picture and prompt as an earlier draw
    raw_text = models.TextField(blank=True)
    finish_reason = models.CharField(max_length=12, blank=True)
    reading_reason = models.CharField(max_length=24, blank=True)
    latency_ms = models.FloatField(default=0.0)
    is_cached = models.BooleanField(default=False)
    cost_usd = models.FloatField(default=0.0)
    seen_width = models.PositiveIntegerField(null=True, blank=True)
    seen_height = models.PositiveIntegerField(null=True, blank=True)
    served_model = models.CharField(max_length=200, blank=True)
    reader_version = models.CharField(max_length=16, blank=True)
    error = models.TextField(blank=True)

    class Meta:
        ordering = ["step", "position"]
        constraints = [
            models.UniqueConstraint(fields=["run", "step", "position"], name="one_case_sample_a_place"),
            models.UniqueConstraint(fields=["item", "number"], name="one_case_sample_a_number"),
        ]

    def __str__(self) -> str:
        return f"{self.item_id} draw {self.number}"


class Note(models.Model):
    """What a person wrote beside a finding or a test case."""

    finding = models.ForeignKey(
        Finding, null=True, blank=True, on_delete=models.CASCADE, related_name="notes"
    )
    case = models.ForeignKey(
        ModalityCase, null=True, blank=True, on_delete=models.CASCADE, related_name="notes"
    )
    author = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT)
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.text


class SceneFlag(models.Model):
    """What a person says is wrong with a generated scene; one that is withdrawn stays as a row.

    ``source`` says where it was said: on a page of the lab, or in a review of the human study.
    """

    sample = models.ForeignKey(Sample, on_delete=models.CASCADE, related_name="flags")
    kind = models.CharField(max_length=14, choices=SceneFlagKind.choices)
    comment = models.TextField(blank=True)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT)
    source = models.CharField(max_length=16, default="page")
    created_at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["kind", "withdrawn_at"])]

    def __str__(self) -> str:
        return self.get_kind_display()


class RegressionFamily(models.Model):
    """Failure modes, or test cases, that later systems are tried on."""

    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=64, unique=True)
    kind = models.CharField(max_length=8, choices=FamilyKind.choices)
    domain = models.CharField(max_length=64, blank=True)
    domain_version = models.CharField(max_length=16, blank=True)
    baseline = models.ForeignKey(SutRecord, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    config = models.JSONField(default=dict)
    is_archived = models.BooleanField(default=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "regression families"

    def __str__(self) -> str:
        return self.name

    @property
    def domain_ref(self) -> str:
        """The domain with its version, as ``find_domain`` reads it."""
        return f"{self.domain}@{self.domain_version}"

    def get_absolute_url(self) -> str:
        """Return the address of its page."""
        return reverse("family_detail", args=[self.slug])


class FamilyMember(models.Model):
    """One pinned failure mode or test case; it stays when its finding is deleted."""

    family = models.ForeignKey(RegressionFamily, on_delete=models.CASCADE, related_name="members")
    order = models.PositiveIntegerField()
    finding = models.ForeignKey(
        Finding, null=True, blank=True, on_delete=models.SET_NULL, related_name="pinned_in"
    )
    case = models.ForeignKey(
        ModalityCase, null=True, blank=True, on_delete=models.SET_NULL, related_name="pinned_in"
    )
    key = models.CharField(max_length=255, blank=True)
    concepts = models.JSONField(default=list, blank=True)
    expected_action = models.CharField(max_length=40, blank=True)
    pinned_rate = models.FloatField(null=True, blank=True)  # on fresh samples, when it was pinned

    class Meta:
        ordering = ["order"]
        constraints = [models.UniqueConstraint(fields=["family", "order"], name="one_member_a_place")]

    def __str__(self) -> str:
        return self.key or f"case {self.case_id}"


class Canary(models.Model):
    """A regression that is started by the timetable."""

    family = models.ForeignKey(RegressionFamily, on_delete=models.CASCADE, related_name="canaries")
    sut = models.ForeignKey(SutRecord, on_delete=models.PROTECT, related_name="canaries")
    every_hours = models.PositiveIntegerField(default=24)
    is_on = models.BooleanField(default=True)
    next_at = models.DateTimeField()
    last_campaign = models.ForeignKey(
        Campaign, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    last_error = models.TextField(blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "canaries"

    def __str__(self) -> str:
        return f"{self.family} on {self.sut}"


class Envelope(models.Model):
    """A declared operating envelope: cells, limits, confidence, kind of picture (``StoredEnvelope``)."""

    name = models.CharField(max_length=120)
    slug = models.SlugField(max_length=64, unique=True)
    domain = models.CharField(max_length=64)
    domain_version = models.CharField(max_length=16)
    spec = models.JSONField()
    is_archived = models.BooleanField(default=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def domain_ref(self) -> str:
        """The domain with its version, as ``find_domain`` reads it."""
        return f"{self.domain}@{self.domain_version}"

    def get_absolute_url(self) -> str:
        """Return the address of its page."""
        return reverse("envelope_detail", args=[self.slug])


class FollowUpSource(models.Model):
    """What a follow-up was started from, where that is no campaign: a family, or an envelope as it stood."""

    campaign = models.OneToOneField(Campaign, on_delete=models.CASCADE, related_name="source")
    family = models.ForeignKey(
        RegressionFamily, null=True, blank=True, on_delete=models.SET_NULL, related_name="follow_ups"
    )
    envelope = models.ForeignKey(
        Envelope, null=True, blank=True, on_delete=models.SET_NULL, related_name="follow_ups"
    )
    spec = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["campaign_id"]

    def __str__(self) -> str:
        return f"source of {self.campaign_id}"
