"""What one form starts: one configuration, one or more runs."""

from django.conf import settings
from django.db import models
from django.urls import reverse

from searches.enums import CASE_METHOD, FOLLOW_UP_METHOD, MODALITY_METHOD, ExperimentKind, FollowUpName
from searches.models.dataset import Dataset


class Experiment(models.Model):
    """A group of campaigns that differ in known settings: an ablation, a comparison, a reproduction.

    ``spec`` is what it was made from: systems, domains, arms and run seeds; ``preset`` names the table or
    figure that it reproduces.
    """

    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=14, choices=ExperimentKind.choices)
    preset = models.CharField(max_length=40, blank=True)
    spec = models.JSONField(default=dict)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """Return the address of its page."""
        return reverse("experiment_detail", args=[self.pk])


class Campaign(models.Model):
    """A wish: method, configuration and domain or dataset, searched on one or more systems.

    A concept search has one run a system. A modality search has one a system, seed image, regime and
    replicate; ``plan`` says which: ``{"regimes", "strata", "n_seed_images", "seed", "replicates"}``.

    A follow-up (``follow_up`` of concept sets, ``case_follow_up`` of test cases) settles what others suspect:
    ``kind`` says how, ``follows`` names the campaign, ``items`` what is settled. ``plan`` of a concept search
    may wish one: ``{"confirm": {"mode": "extra" | "share", "share": 0.3}}``. ``arm`` is what tells a campaign
    from the others of its ``experiment``.
    """

    name = models.CharField(max_length=120)
    method = models.CharField(max_length=16, default="revelio")
    domain = models.CharField(max_length=64, blank=True)  # of concept searches
    domain_version = models.CharField(max_length=16, blank=True)
    dataset = models.ForeignKey(  # of modality searches: where their seed images come from
        Dataset, null=True, blank=True, on_delete=models.PROTECT, related_name="campaigns"
    )
    plan = models.JSONField(default=dict, blank=True)
    kind = models.CharField(max_length=10, choices=FollowUpName.choices, blank=True)
    follows = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="follow_ups"
    )
    experiment = models.ForeignKey(
        Experiment, null=True, blank=True, on_delete=models.SET_NULL, related_name="campaigns"
    )
    arm = models.JSONField(default=dict, blank=True)
    config = models.JSONField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT)
    created_at = models.DateTimeField(auto_now_add=True)
    is_sample = models.BooleanField(default=False)
    served_at = models.DateTimeField(
        null=True, blank=True
    )  # when a worker last took a run: campaigns take turns
    request_key = models.CharField(max_length=80, null=True, blank=True)  # a program's Idempotency-Key
    request_digest = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["created_by", "request_key"], name="one_campaign_a_request")
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def domain_ref(self) -> str:
        """The domain with its version, as ``find_domain`` reads it."""
        return f"{self.domain}@{self.domain_version}"

    def get_absolute_url(self) -> str:
        """Return its page, or for concept searches the list of its runs."""
        if self.method == MODALITY_METHOD:
            return reverse("modality_campaign", args=[self.pk])
        if self.method in (FOLLOW_UP_METHOD, CASE_METHOD):
            return reverse("follow_up_detail", args=[self.pk])
        return reverse("run_list") + f"?campaign={self.pk}"
