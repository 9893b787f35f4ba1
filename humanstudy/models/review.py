"""What reviewers say of generated scenes."""

from django.conf import settings
from django.db import models

from humanstudy.enums import ReviewState
from humanstudy.models.case import StudyCase


class Review(models.Model):
    """One person's flags on one scene; reviewers do not see each other's until both are done.

    ``place`` is 1 or 2, and 3 for the one who is asked where the first two disagree. ``kinds`` are values of
    ``SceneFlagKind``. ``ms_on_case`` counts while the page is seen, ``ms_over`` what of it was beyond the
    countdown. ``answer_shown_at`` is when the system's answer was revealed, after the flags.
    """

    case = models.ForeignKey(StudyCase, on_delete=models.CASCADE, related_name="reviews")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="reviews")
    place = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=8, choices=ReviewState.choices, default=ReviewState.TAKEN)
    kinds = models.JSONField(default=list, blank=True)
    comment = models.TextField(blank=True)
    client_key = models.UUIDField(null=True, blank=True)
    ms_on_case = models.PositiveIntegerField(default=0)
    ms_over = models.PositiveIntegerField(default=0)
    taken_at = models.DateTimeField(auto_now_add=True)
    lease_expires = models.DateTimeField(null=True, blank=True)
    done_at = models.DateTimeField(null=True, blank=True)
    answer_shown_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["case", "reviewer"], name="one_review_a_case_and_reviewer"),
            models.UniqueConstraint(fields=["case", "place"], name="one_review_a_case_and_place"),
        ]
        indexes = [models.Index(fields=["reviewer", "state"])]

    def __str__(self) -> str:
        return f"review {self.place} of {self.case_id}"
