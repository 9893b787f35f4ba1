"""Runs as tables need them, and which of them belong into one: eligible seed images, retained systems."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from vlmlab.core.most.genotype import SpentBudget
from vlmlab.core.most.metrics import swtd, swtd_mean
from vlmlab.core.most.outcomes import ReturnedCase, RunStatus
from vlmlab.core.most.types import AnswerStatus, Regime, Thresholds

RETAINED_SHARE = 0.05


@dataclass(frozen=True)
class CaseNumbers:
    """The test case that a finished run returned, in numbers.

    Attributes:
        status: how the system answered.
        iou: set IoU of its boxes against the (moved) truth; 0 without boxes.
        is_faithful: whether the input is within the thresholds of image and prompt distance.
        ms_ssim: likeness of the pictures; 1 where untouched.
        ned: normalized edit distance of the prompts; 0 where untouched.
        swtd: similarity-weighted target drop.
        swtd_mean: its variant, to see what hangs on the formula.
        image_budget: b_I, sum of the severities of image operators.
        text_budget: b_T, the same of text operators.
    """

    status: AnswerStatus
    iou: float
    is_faithful: bool
    ms_ssim: float
    ned: float
    swtd: float
    swtd_mean: float
    image_budget: float
    text_budget: float

    @property
    def total_budget(self) -> float:
        """b_I + b_T."""
        return self.image_budget + self.text_budget

    @property
    def has_boxes(self) -> bool:
        """Whether the answer holds boxes."""
        return self.status is AnswerStatus.BOXES


def case_numbers(
    case: ReturnedCase,
    *,
    clean_iou: float,
    thresholds: Thresholds,
    spent: SpentBudget,
    ms_ssim: float,
    ned: float,
) -> CaseNumbers:
    """Return the numbers of a test case.

    Args:
        case: what the run returned.
        clean_iou: set IoU of the answer to the clean input, in (0, 1].
        thresholds: those of the search.
        spent: severities of the strategy.
        ms_ssim: likeness of its picture to the seed image.
        ned: edit distance of its prompt to the clean one.

    Raises:
        ValueError: a value is out of range.
    """
    outcome = case.outcome
    iou = outcome.iou if outcome.status is AnswerStatus.BOXES else 0.0
    return CaseNumbers(
        status=outcome.status,
        iou=iou,
        is_faithful=thresholds.admits(outcome.fidelity),
        ms_ssim=ms_ssim,
        ned=ned,
        swtd=swtd(clean_iou, iou, ms_ssim, ned),
        swtd_mean=swtd_mean(clean_iou, iou, ms_ssim, ned),
        image_budget=spent.image,
        text_budget=spent.text,
    )


@dataclass(frozen=True)
class RunResult:
    """One run: one seed image in one regime on one system.

    Attributes:
        sut: the system, as tables name it.
        scene_type: stratum of the seed image.
        seed_image: id of the seed image, unique in its dataset.
        regime: what was perturbed.
        status: how far it came.
        clean_status: the answer to the clean input; None where no call was answered.
        clean_iou: set IoU of that answer; 0 without boxes.
        iou_threshold: boxes below it fail; the search stopped by it.
        case: the returned test case; of a finished run only.
        evaluations: strategies that were answered.
        wall_s: seconds the run took in all.
        perturbation_s: of these, seconds of perturbing and measuring distances.
        inference_s: of these, seconds of waiting for the system.
    """

    sut: str
    scene_type: str
    seed_image: str
    regime: Regime
    status: RunStatus
    clean_status: AnswerStatus | None
    clean_iou: float
    iou_threshold: float
    case: CaseNumbers | None = None
    evaluations: int = 0
    wall_s: float = 0.0
    perturbation_s: float = 0.0
    inference_s: float = 0.0

    def __post_init__(self) -> None:
        if (self.status is RunStatus.FINISHED) != (self.case is not None):
            raise ValueError(f"case must belong to a finished run, got {self.status} with {self.case}")
        if self.case is not None and not (self.case.status.is_answer and self.is_eligible):
            raise ValueError(
                f"case must be an answer of a system that is right on the clean input, got {self}"
            )

    @property
    def seed(self) -> tuple[str, str]:
        """Scene type and seed image: what runs are paired by, beside the system."""
        return self.scene_type, self.seed_image

    @property
    def is_eligible(self) -> bool:
        """Whether the seed image is known to be right for the system without a perturbation."""
        return self.status is not RunStatus.BASELINE_FAILURE and self.clean_status is AnswerStatus.BOXES

    @property
    def last_status(self) -> AnswerStatus | None:
        """The answer that the run ended with: its test case, or the clean one where it went no further."""
        return self.case.status if self.case else self.clean_status


def on_common_seeds(results: Sequence[RunResult]) -> list[RunResult]:
    """Return the runs on seed images that are eligible for every system among the results.

    A system that was not run on a seed image takes it out for all.
    """
    suts = {result.sut for result in results}
    eligible: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    refused: set[tuple[str, str]] = set()
    for result in results:
        if result.is_eligible:
            eligible[result.seed].add(result.sut)
        elif result.status is RunStatus.BASELINE_FAILURE:
            refused.add(result.seed)
    common = {seed for seed, having in eligible.items() if having == suts} - refused
    return [result for result in results if result.seed in common]


def retained_suts(results: Sequence[RunResult], *, share: float = RETAINED_SHARE) -> dict[str, bool]:
    """Return for each system whether enough of its runs end with boxes to be worth a table.

    Args:
        results: runs of any systems; those that were never answered are passed over.
        share: of the runs that must end with boxes, in [0, 1].

    Returns:
        System -> whether it stays, in the order of the names.
    """
    ends: defaultdict[str, list[bool]] = defaultdict(list)
    for result in results:
        ended = result.status in (RunStatus.FINISHED, RunStatus.BASELINE_FAILURE)
        if ended and result.last_status is not None:
            ends[result.sut].append(result.last_status is AnswerStatus.BOXES)
    return {
        sut: bool(ends[sut]) and sum(ends[sut]) / len(ends[sut]) >= share
        for sut in sorted({result.sut for result in results})
    }
