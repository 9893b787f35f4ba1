"""How a modality run ended, in one word: the outcomes that figures count, pages name, filters ask for."""

from django.db.models import Q

from searches.enums import AnswerKind, ModalityStatus
from searches.models import Campaign, ModalityCase, ModalityRun
from vlmlab.core.most.config import MostConfig
from vlmlab.core.most.outcomes import FailureCriterion
from vlmlab.core.most.types import Thresholds

OUTCOMES: dict[str, str] = {
    "below": "Below the threshold",
    "empty": "Empty answer",
    "malformed": "Malformed answer",
    "held": "Held",
    "baseline_failure": "Baseline failure",
    "call_error": "Call error",
    "unfinished": "Unfinished",
}
"""Outcome -> its words; every run has exactly one."""

FAILING_OUTCOMES: dict[str, tuple[str, ...]] = {
    "c1": ("below",),
    "c2": ("below", "empty"),
    "c3": ("below", "empty", "malformed"),
}
"""Failure criterion -> the outcomes that fail by it."""

CRITERION_WORDS: dict[FailureCriterion, str] = {
    FailureCriterion.C1: "boxes below the IoU threshold",
    FailureCriterion.C2: "C1 or an empty answer",
    FailureCriterion.C3: "C2 or a malformed answer",
}
"""Failure criterion -> what fails by it."""

OUTCOME_TONES = {"below": "bad", "empty": "bad", "malformed": "bad", "held": "ok", "call_error": "warn"}
"""Outcome -> tone of its words; the others are neither good nor bad."""


class HasOutcome:
    """A line or a page of a run; ``outcome`` is a key of ``OUTCOMES``."""

    outcome: str

    @property
    def outcome_words(self) -> str:
        """The outcome for people."""
        return OUTCOMES[self.outcome]

    @property
    def tone(self) -> str:
        """Whether the outcome is bad, ok, worth a warning, or nothing of these ("")."""
        return OUTCOME_TONES.get(self.outcome, "")


def thresholds_of(campaign: Campaign) -> Thresholds:
    """Return when an answer of a campaign is a failure; defaults where its settings do not say.

    The stored settings may be those of another version: what is read here is what every version has.
    """
    defaults = MostConfig()
    stored = campaign.config
    return Thresholds(
        iou=float(stored.get("iou_threshold", defaults.iou_threshold)),
        image_distance=float(stored.get("max_image_distance", defaults.max_image_distance)),
        prompt_distance=float(stored.get("max_prompt_distance", defaults.max_prompt_distance)),
    )


def outcome_of(run: ModalityRun, case: ModalityCase | None, *, iou_threshold: float) -> str:
    """Return how a run ended, a key of ``OUTCOMES``.

    Args:
        run: the run.
        case: the test case that it returned; None without one.
        iou_threshold: boxes below it are a failure.
    """
    if run.status != ModalityStatus.FINISHED:
        return str(run.status)
    if case is None:
        return "unfinished"
    if case.status != AnswerKind.BOXES:
        return str(case.status)
    return "below" if case.iou < iou_threshold else "held"


def having_outcome(outcome: str, *, iou_threshold: float, case: str = "returned") -> Q:
    """Return the condition for an outcome or a failure criterion.

    Args:
        outcome: a key of ``OUTCOMES`` or ``FAILING_OUTCOMES``.
        iou_threshold: boxes below it are a failure.
        case: the relation from the row to the returned case.
    """
    if outcome in FAILING_OUTCOMES:
        any_of = Q(pk__in=[])
        for one in FAILING_OUTCOMES[outcome]:
            any_of |= having_outcome(one, iou_threshold=iou_threshold, case=case)
        return any_of
    if outcome in ModalityStatus.values:
        return Q(status=outcome)
    finished = Q(status=ModalityStatus.FINISHED)
    if outcome in ("empty", "malformed"):
        return finished & Q(**{f"{case}__status": outcome})
    side = "lt" if outcome == "below" else "gte"
    return finished & Q(**{f"{case}__status": AnswerKind.BOXES, f"{case}__iou__{side}": iou_threshold})
