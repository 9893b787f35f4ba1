"""One search on one system: its state machine row, trials, samples and log."""

from django.conf import settings
from django.db import models
from django.urls import reverse

from searches.enums import FINAL_STATES, LIVE_STATES, Direction, Queue, RunState, TrialStatus, Verdict
from searches.models.campaign import Campaign
from searches.models.sut import SutRecord


class SearchRun(models.Model):
    """The truth about a run; a broker message is only a wake-up.

    Every change of ``state`` is a compare-and-set through ``services.runs``; ``fence`` grows by one a claim
    and ``step`` by one a committed batch.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="runs")
    sut = models.ForeignKey(SutRecord, on_delete=models.PROTECT, related_name="runs")
    queue = models.CharField(max_length=8, choices=Queue.choices, default=Queue.CPU)
    run_seed = models.BigIntegerField()
    state = models.CharField(max_length=12, choices=RunState.choices, default=RunState.QUEUED, db_index=True)
    fence = models.PositiveIntegerField(default=0)
    owner = models.CharField(max_length=120, blank=True)
    lease_expires = models.DateTimeField(null=True, blank=True)
    dispatched_at = models.DateTimeField(null=True, blank=True)
    step = models.PositiveIntegerField(default=0)
    checkpoint = models.JSONField(default=dict, blank=True)
    stalls = models.PositiveSmallIntegerField(default=0)
    cache_watermark = models.BigIntegerField(default=0)
    is_retrying_call_errors = models.BooleanField(default=False)

    stage = models.CharField(max_length=60, blank=True)
    n_inferences = models.PositiveIntegerField(default=0)
    n_observations = models.PositiveIntegerField(default=0)
    n_failed = models.PositiveIntegerField(default=0)
    n_invalid = models.PositiveIntegerField(default=0)
    n_call_errors = models.PositiveIntegerField(default=0)
    n_generation_errors = models.PositiveIntegerField(default=0)
    n_cached = models.PositiveIntegerField(default=0)
    n_trials = models.PositiveIntegerField(default=0)
    n_decided = models.PositiveIntegerField(default=0)
    n_parked = models.PositiveIntegerField(default=0)
    n_modes = models.PositiveIntegerField(default=0)
    n_pictures = models.PositiveIntegerField(default=0)
    by_expected = models.JSONField(default=dict, blank=True)
    input_tokens = models.BigIntegerField(default=0)
    output_tokens = models.BigIntegerField(default=0)
    spend_usd = models.FloatField(default=0.0)
    n_calls = models.PositiveIntegerField(default=0)
    n_failed_calls = models.PositiveIntegerField(default=0)
    n_attempts = models.PositiveIntegerField(default=0)
    latency_ms_sum = models.FloatField(default=0.0)
    spend_cap_usd = models.FloatField(null=True, blank=True)  # a person's; null: the settings', 0: none
    reserved_usd = models.FloatField(default=0.0)  # the most that the batch in hand can cost
    is_halted_by_spending = models.BooleanField(default=False)
    active_seconds = models.FloatField(default=0.0)
    render_seconds = models.FloatField(default=0.0)
    sut_seconds = models.FloatField(default=0.0)
    search_seconds = models.FloatField(default=0.0)

    ending = models.CharField(max_length=200, blank=True)
    error = models.TextField(blank=True)
    hint = models.TextField(blank=True)
    error_reference = models.CharField(max_length=12, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT)
    cloned_from = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["state", "queue", "id"]),
            models.Index(
                fields=["campaign", "state", "queue", "sut", "id"]
            ),  # claims, whose turns campaigns take
        ]
        constraints = [
            models.CheckConstraint(condition=models.Q(state__in=RunState.values), name="run_state_is_known")
        ]

    def __str__(self) -> str:
        return f"Run {self.pk}"

    def get_absolute_url(self) -> str:
        """Return the address of its page."""
        return reverse("run_detail", args=[self.pk])

    @property
    def is_final(self) -> bool:
        """Whether nothing more will happen by itself."""
        return self.state in FINAL_STATES

    @property
    def is_live(self) -> bool:
        """Whether a worker has it or may take it."""
        return self.state in LIVE_STATES

    @property
    def mean_latency_ms(self) -> float | None:
        """Mean wall time of an answered call, in milliseconds."""
        answered = self.n_calls - self.n_failed_calls
        return self.latency_ms_sum / answered if answered > 0 else None

    @property
    def n_repeated_tries(self) -> int:
        """How many times a call was sent again by itself after a failed try."""
        return self.n_attempts - self.n_calls

    @property
    def etag(self) -> str:
        """Changes whenever a page that shows the run must change."""
        return f"{self.pk}-{self.state}-{self.step}-{self.fence}-{self.n_calls}"


class Trial(models.Model):
    """One concept set of a run with what its samples say.

    In follow-ups a set may stand several times: ``block`` names the item whose scenes it shares, ``variant``
    how it is asked ("statements"). Both are empty in searches. There a set stays open, for the item says what
    was decided, except one that became a suspect itself: it is decided as failing.
    """

    run = models.ForeignKey(SearchRun, on_delete=models.CASCADE, related_name="trials")
    order = models.PositiveIntegerField()
    key = models.CharField(max_length=255)
    block = models.CharField(max_length=16, blank=True, default="")
    variant = models.CharField(max_length=12, blank=True, default="")
    concepts = models.JSONField()
    size = models.PositiveSmallIntegerField()
    stage = models.CharField(max_length=60, blank=True)
    expected_action = models.CharField(max_length=40, blank=True)
    rule_id = models.CharField(max_length=60, blank=True)
    fails = models.PositiveSmallIntegerField(default=0)
    passes = models.PositiveSmallIntegerField(default=0)
    invalid = models.PositiveSmallIntegerField(default=0)
    call_errors = models.PositiveSmallIntegerField(default=0)
    status = models.CharField(max_length=16, choices=TrialStatus.choices, default=TrialStatus.OPEN)
    is_curtailed = models.BooleanField(default=False)

    class Meta:
        ordering = ["order"]
        constraints = [
            models.UniqueConstraint(fields=["run", "key", "block", "variant"], name="one_trial_a_concept_set")
        ]
        indexes = [
            models.Index(fields=["run", "-fails", "passes"]),
            models.Index(fields=["run", "status"]),
            models.Index(fields=["run", "order"]),
        ]

    def __str__(self) -> str:
        return self.key

    @property
    def answers(self) -> int:
        """How many samples were answered; more than a full set where failed calls were asked again."""
        return self.fails + self.passes


class Sample(models.Model):
    """One scene of a concept set: picture, prompt, answer, truth. ``told_verdict`` is what the search saw."""

    run = models.ForeignKey(SearchRun, on_delete=models.CASCADE, related_name="samples")
    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="samples")
    step = models.PositiveIntegerField()
    position = models.PositiveSmallIntegerField()
    number = models.PositiveSmallIntegerField()
    scene_seed = models.BigIntegerField()
    attempt = models.PositiveSmallIntegerField(default=0)
    description_digest = models.CharField(max_length=64, blank=True)
    image_sha256 = models.CharField(max_length=64, blank=True, db_index=True)
    annotations = models.JSONField(default=list, blank=True)
    provenance = models.JSONField(default=dict, blank=True)  # back end, version, size, quality
    description = models.JSONField(default=dict, blank=True)  # only where no seed makes the scene again
    prompt = models.TextField(blank=True)
    actions = models.JSONField(default=dict, blank=True)
    expected_letter = models.CharField(max_length=4, blank=True)
    expected_action = models.CharField(max_length=40, blank=True)
    rule_id = models.CharField(max_length=60, blank=True)
    raw_text = models.TextField(blank=True)
    finish_reason = models.CharField(max_length=12, blank=True)
    answer_status = models.CharField(max_length=12, blank=True)
    letter = models.CharField(max_length=4, blank=True)
    answered_action = models.CharField(max_length=40, blank=True)
    direction = models.CharField(max_length=16, choices=Direction.choices, blank=True)
    reason_text = models.TextField(blank=True)
    statements = models.JSONField(
        default=list, blank=True
    )  # {"text", "concept", "is_true", "said"} a statement
    collision = models.JSONField(default=dict, blank=True)
    verdict = models.CharField(max_length=12, choices=Verdict.choices)
    told_verdict = models.CharField(max_length=12, choices=Verdict.choices)
    is_cached = models.BooleanField(default=False)
    latency_ms = models.FloatField(default=0.0)
    render_ms = models.FloatField(default=0.0)
    input_tokens = models.PositiveIntegerField(null=True, blank=True)
    output_tokens = models.PositiveIntegerField(null=True, blank=True)
    cost_usd = models.FloatField(default=0.0)
    n_attempts = models.PositiveSmallIntegerField(default=1)
    seen_width = models.PositiveIntegerField(null=True, blank=True)
    seen_height = models.PositiveIntegerField(null=True, blank=True)
    served_model = models.CharField(max_length=200, blank=True)
    reader_version = models.CharField(max_length=16, blank=True)
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["step", "position"]
        constraints = [
            models.UniqueConstraint(fields=["run", "step", "position"], name="one_sample_a_place"),
            models.UniqueConstraint(fields=["trial", "number"], name="one_sample_a_number"),
        ]
        indexes = [
            models.Index(fields=["run", "verdict"]),
            models.Index(fields=["run", "served_model"]),
        ]

    def __str__(self) -> str:
        return f"{self.trial_id} sample {self.number}"


class RunEvent(models.Model):
    """One line of a run's log."""

    run = models.ForeignKey(SearchRun, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField(auto_now_add=True)
    level = models.CharField(max_length=8, default="info")
    text = models.TextField()

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.text
