"""Table rows of finished runs: how often a system fails and at what likeness, and what a run costs."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vlmlab.core.most.outcomes import FailureCriterion, RunStatus
from vlmlab.core.most.run_results import CaseNumbers, RunResult
from vlmlab.core.most.types import REGIMES, AnswerStatus, Regime
from vlmlab.core.stats import Bounds, wilson_interval

Cell = tuple[str, str, Regime]
"""System, scene type, regime: one cell of a table."""


@dataclass(frozen=True)
class Rate:
    """A share with its counts; ``value`` is None when the denominator is 0."""

    numerator: int
    denominator: int

    @property
    def value(self) -> float | None:
        """Numerator / denominator."""
        return self.numerator / self.denominator if self.denominator else None

    def interval(self, confidence: float = 0.95) -> Bounds:
        """Return the score interval (Wilson 1927); (0, 1) when the denominator is 0."""
        return wilson_interval(self.numerator, self.denominator, confidence)


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation of n numbers.

    Attributes:
        n: numbers.
        mean: None without one.
        sd: of the sample, over n - 1; None below two.
    """

    n: int
    mean: float | None
    sd: float | None


@dataclass(frozen=True)
class OutcomeCounts:
    """How the runs of a cell ended; every run is in exactly one of them.

    Attributes:
        below: returned boxes below the IoU threshold.
        empty: returned an empty answer.
        malformed: returned a malformed answer.
        held: returned boxes that reach the threshold.
        baseline_failures: the clean answer was wrong already.
        call_errors: the system could not be reached.
        unfinished: stopped, or still running.
    """

    below: int
    empty: int
    malformed: int
    held: int
    baseline_failures: int
    call_errors: int
    unfinished: int

    @property
    def finished(self) -> int:
        """Finished runs of eligible seed images: the denominator of every rate."""
        return self.below + self.empty + self.malformed + self.held

    def attack_success(self, criterion: FailureCriterion) -> Rate:
        """Return the share of test cases that fail by a criterion (ASR)."""
        failing = {AnswerStatus.EMPTY: self.empty, AnswerStatus.MALFORMED: self.malformed}
        extra = sum(failing[status] for status in criterion.failing_statuses)
        return Rate(self.below + extra, self.finished)


@dataclass(frozen=True)
class Effectiveness:
    """One row of the effectiveness table; likeness and SWTD over runs that ended with boxes.

    Attributes:
        outcomes: how the runs ended, with ASR under each criterion.
        unfaithful: finished runs whose test case is outside the distances allowed, because none was inside.
        iou_drop: clean IoU - IoU of the test case, over all finished runs.
        ms_ssim: likeness of the pictures.
        ned: edit distance of the prompts.
        swtd: similarity-weighted target drop.
        swtd_mean: its variant.
    """

    outcomes: OutcomeCounts
    unfaithful: int
    iou_drop: Spread
    ms_ssim: Spread
    ned: Spread
    swtd: Spread
    swtd_mean: Spread


@dataclass(frozen=True)
class Efficiency:
    """One row of the efficiency table, over all finished runs.

    Attributes:
        image_budget: b_I of the test cases.
        text_budget: b_T of the test cases.
        total_budget: b_I + b_T.
        evaluations: answers a run took.
        wall_s: seconds a run took.
        perturbation_s: of these, for perturbing.
        inference_s: of these, for waiting.
    """

    image_budget: Spread
    text_budget: Spread
    total_budget: Spread
    evaluations: Spread
    wall_s: Spread
    perturbation_s: Spread
    inference_s: Spread


def spread(values: Iterable[float]) -> Spread:
    """Return mean and standard deviation of numbers."""
    array = np.fromiter(values, dtype=np.float64)
    count = len(array)
    return Spread(
        count,
        float(array.mean()) if count else None,
        float(array.std(ddof=1)) if count > 1 else None,
    )


def by_cell(results: Sequence[RunResult]) -> Mapping[Cell, list[RunResult]]:
    """Return runs by system, scene type and regime, in the order of names and of ``REGIMES``."""
    cells: dict[Cell, list[RunResult]] = {}
    for result in results:
        cells.setdefault((result.sut, result.scene_type, result.regime), []).append(result)
    return {cell: cells[cell] for cell in sorted(cells, key=lambda one: (*one[:2], REGIMES.index(one[2])))}


def outcome_counts(results: Sequence[RunResult]) -> OutcomeCounts:
    """Return how runs ended, each judged at the IoU threshold that its search had.

    Raises:
        ValueError: the runs have different IoU thresholds, which have no common rate.
    """
    thresholds = sorted({result.iou_threshold for result in results})
    if len(thresholds) > 1:
        raise ValueError(f"results must share one IoU threshold, got {thresholds}")
    stages = Counter(result.status for result in results)
    cases = [case for result in results if (case := result.case) is not None]
    statuses = Counter(case.status for case in cases)
    below = sum(case.has_boxes and case.iou < thresholds[0] for case in cases)
    return OutcomeCounts(
        below=below,
        empty=statuses[AnswerStatus.EMPTY],
        malformed=statuses[AnswerStatus.MALFORMED],
        held=statuses[AnswerStatus.BOXES] - below,
        baseline_failures=stages[RunStatus.BASELINE_FAILURE],
        call_errors=stages[RunStatus.CALL_ERROR],
        unfinished=stages[RunStatus.UNFINISHED],
    )


def effectiveness(results: Sequence[RunResult]) -> Effectiveness:
    """Return the effectiveness of runs, such as those of one cell.

    Raises:
        ValueError: the runs have different IoU thresholds.
    """
    finished = [(result, case) for result in results if (case := result.case) is not None]
    cases = [case for _, case in finished]

    def over_boxes(number: Callable[[CaseNumbers], float]) -> Spread:
        return spread(number(case) for case in cases if case.has_boxes)

    return Effectiveness(
        outcomes=outcome_counts(results),
        unfaithful=sum(not case.is_faithful for case in cases),
        iou_drop=spread(result.clean_iou - case.iou for result, case in finished),
        ms_ssim=over_boxes(lambda case: case.ms_ssim),
        ned=over_boxes(lambda case: case.ned),
        swtd=over_boxes(lambda case: case.swtd),
        swtd_mean=over_boxes(lambda case: case.swtd_mean),
    )


def efficiency(results: Sequence[RunResult]) -> Efficiency:
    """Return what finished runs cost, such as those of one cell."""
    finished = [(result, case) for result in results if (case := result.case) is not None]
    return Efficiency(
        image_budget=spread(case.image_budget for _, case in finished),
        text_budget=spread(case.text_budget for _, case in finished),
        total_budget=spread(case.total_budget for _, case in finished),
        evaluations=spread(result.evaluations for result, _ in finished),
        wall_s=spread(result.wall_s for result, _ in finished),
        perturbation_s=spread(result.perturbation_s for result, _ in finished),
        inference_s=spread(result.inference_s for result, _ in finished),
    )
