"""What a run says about its seed image: eligible or not, the test case it returns, and whether that fails."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from vlmlab.core.most.objectives import Objectives, non_dominated, objectives_of
from vlmlab.core.most.types import AnswerStatus, Outcome, Thresholds

BASELINE_IOU = 0.5


class FailureCriterion(StrEnum):
    """What counts as a failure; each takes in the one before."""

    C1 = "C1"
    C2 = "C2"
    C3 = "C3"

    @property
    def failing_statuses(self) -> frozenset[AnswerStatus]:
        """Answers that fail without a look at their boxes."""
        return _FAILING_STATUSES[self]

    @property
    def description(self) -> str:
        """The criterion in words; what the one before it takes in is an ellipsis."""
        return _DESCRIPTIONS[self]

    def is_met(self, status: AnswerStatus, iou: float, *, iou_threshold: float) -> bool:
        """Return whether an answer fails.

        Args:
            status: how the system answered.
            iou: set IoU of its boxes in [0, 1]; passed over without boxes.
            iou_threshold: boxes below it fail.

        Raises:
            ValueError: the call failed; it belongs into no rate.
        """
        if not status.is_answer:
            raise ValueError("status must be an answer: a failed call belongs into no rate")
        if status is AnswerStatus.BOXES:
            return iou < iou_threshold
        return status in self.failing_statuses


_FAILING_STATUSES = {
    FailureCriterion.C1: frozenset[AnswerStatus](),
    FailureCriterion.C2: frozenset({AnswerStatus.EMPTY}),
    FailureCriterion.C3: frozenset({AnswerStatus.EMPTY, AnswerStatus.MALFORMED}),
}
_DESCRIPTIONS = {
    FailureCriterion.C1: "Boxes below the IoU threshold",
    FailureCriterion.C2: "… or an empty answer",
    FailureCriterion.C3: "… or a malformed answer",
}


class RunStatus(StrEnum):
    """How far a run came; only a finished one counts in a rate."""

    FINISHED = "finished"
    BASELINE_FAILURE = "baseline_failure"
    CALL_ERROR = "call_error"
    UNFINISHED = "unfinished"


def eligible_iou(iou_threshold: float, *, baseline_iou: float = BASELINE_IOU) -> float:
    """Return the IoU that a clean answer must reach: what is below the threshold already cannot be broken."""
    return max(baseline_iou, iou_threshold)


def is_eligible(
    status: AnswerStatus, iou: float, *, iou_threshold: float, baseline_iou: float = BASELINE_IOU
) -> bool:
    """Return whether a seed image can be tested on a system, by its answer to the clean input.

    Args:
        status: how it answered.
        iou: set IoU of its boxes; passed over without boxes.
        iou_threshold: the one of the failure criterion.
        baseline_iou: what a clean answer must reach in any case.
    """
    return status is AnswerStatus.BOXES and iou >= eligible_iou(iou_threshold, baseline_iou=baseline_iou)


class ReturnReason(StrEnum):
    """Why this answer is the test case of its run."""

    FAILURE = "failure"
    CLOSEST = "closest"
    UNFAITHFUL = "unfaithful"


@dataclass(frozen=True)
class ReturnedCase:
    """The answer that stands for a run.

    Attributes:
        outcome: the answer with its strategy.
        objectives: f1, f2 and f3.
        reason: "failure": the best of those that meet all thresholds; "closest": there is none, this came
            closest on an input that is close enough; "unfaithful": no input was close enough.
    """

    outcome: Outcome
    objectives: Objectives
    reason: ReturnReason


def returned_case(
    outcomes: Sequence[Outcome],
    *,
    clean_iou: float,
    thresholds: Thresholds,
    swtd_of: Callable[[Outcome], float] | None = None,
) -> ReturnedCase | None:
    """Return the test case of a run.

    Among the failures (boxes below the IoU threshold on an input that is close enough) that no other of them
    beats in the objectives, the one with the highest SWTD. Without a failure the smallest f1 of the inputs
    that are close enough, else the smallest f1; of equal ones that with the smallest ``f2 + f3``. An answer
    without boxes has f1 = 0 and may be returned so. Whatever is still equal: the one asked first.

    Args:
        outcomes: everything told to the search, in order; failed calls are passed over.
        clean_iou: set IoU of the answer to the clean input, in (0, 1].
        thresholds: when an answer is a failure.
        swtd_of: SWTD of a failure, asked only of those that none beats; ``outcome.swtd`` if left out.

    Returns:
        None where no call was answered.
    """
    answered = [outcome for outcome in outcomes if outcome.status.is_answer]
    if not answered:
        return None
    failures = [outcome for outcome in answered if thresholds.is_hit(outcome)]
    if failures:
        chosen, reason = _most_similar_failure(failures, clean_iou, swtd_of), ReturnReason.FAILURE
    else:
        faithful = [outcome for outcome in answered if thresholds.admits(outcome.fidelity)]
        reason = ReturnReason.CLOSEST if faithful else ReturnReason.UNFAITHFUL
        chosen = min(faithful or answered, key=lambda one: _closeness(one, clean_iou))
    return ReturnedCase(chosen, objectives_of(chosen, clean_iou=clean_iou), reason)


def _most_similar_failure(
    failures: Sequence[Outcome], clean_iou: float, swtd_of: Callable[[Outcome], float] | None
) -> Outcome:
    is_front = non_dominated([objectives_of(failure, clean_iou=clean_iou) for failure in failures])
    front = [failure for failure, is_kept in zip(failures, is_front, strict=True) if is_kept]
    return max(front, key=swtd_of or (lambda failure: failure.swtd))


def _closeness(outcome: Outcome, clean_iou: float) -> tuple[float, float]:
    values = objectives_of(outcome, clean_iou=clean_iou)
    return values.iou_ratio, values.image_distance + values.prompt_distance
