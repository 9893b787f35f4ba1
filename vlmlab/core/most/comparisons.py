"""Regimes compared on the same seed images, each metric a family of tests of its own."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal

from vlmlab.core.most.outcomes import FailureCriterion
from vlmlab.core.most.run_results import CaseNumbers, RunResult
from vlmlab.core.most.types import Regime
from vlmlab.core.stats import holm, mcnemar_exact, wilcoxon_signed_rank

RegimePair = tuple[Regime, Regime]
IMAGE_TEXT: RegimePair = ("image", "text")
IMAGE_JOINT: RegimePair = ("image", "joint")
TEXT_JOINT: RegimePair = ("text", "joint")
ALL_PAIRS: tuple[RegimePair, ...] = (IMAGE_TEXT, IMAGE_JOINT, TEXT_JOINT)
SIGNIFICANCE_LEVEL = 0.05


@dataclass(frozen=True)
class PairedMetric:
    """A number of a finished run that is compared between regimes.

    Attributes:
        name: stored and exported.
        title: for people.
        number: reads it from a run and its test case.
        regime_pairs: regimes in which it is not fixed by what they may touch.
        needs_boxes: only runs that ended with boxes have it.
        test: "mcnemar" for a number that is 0 or 1, "wilcoxon" for any other.
    """

    name: str
    title: str
    number: Callable[[RunResult, CaseNumbers], float]
    regime_pairs: tuple[RegimePair, ...]
    needs_boxes: bool
    test: Literal["mcnemar", "wilcoxon"] = "wilcoxon"


def _attack_success(criterion: FailureCriterion) -> PairedMetric:
    return PairedMetric(
        f"asr_{criterion.value.lower()}",
        f"ASR ({criterion.value})",
        lambda run, case: criterion.is_met(case.status, case.iou, iou_threshold=run.iou_threshold),
        ALL_PAIRS,
        needs_boxes=False,
        test="mcnemar",
    )


PAIRED_METRICS: dict[str, PairedMetric] = {
    metric.name: metric
    for metric in (
        *(_attack_success(criterion) for criterion in FailureCriterion),
        PairedMetric("ms_ssim", "MS-SSIM", lambda _, case: case.ms_ssim, (IMAGE_JOINT,), needs_boxes=True),
        PairedMetric("ned", "NED", lambda _, case: case.ned, (TEXT_JOINT,), needs_boxes=True),
        PairedMetric("swtd", "SWTD", lambda _, case: case.swtd, ALL_PAIRS, needs_boxes=True),
        PairedMetric("swtd_mean", "SWTD (mean)", lambda _, case: case.swtd_mean, ALL_PAIRS, needs_boxes=True),
        PairedMetric(
            "image_budget", "b_I", lambda _, case: case.image_budget, (IMAGE_JOINT,), needs_boxes=False
        ),
        PairedMetric(
            "text_budget", "b_T", lambda _, case: case.text_budget, (TEXT_JOINT,), needs_boxes=False
        ),
        PairedMetric(
            "total_budget", "b_I + b_T", lambda _, case: case.total_budget, ALL_PAIRS, needs_boxes=False
        ),
        PairedMetric(
            "evaluations", "Evaluations", lambda run, _: run.evaluations, ALL_PAIRS, needs_boxes=False
        ),
        PairedMetric("wall_s", "Wall time (s)", lambda run, _: run.wall_s, ALL_PAIRS, needs_boxes=False),
    )
}
"""What is compared: ASR under each criterion, likeness, SWTD, budgets, evaluations and time."""


@dataclass(frozen=True)
class RegimeComparison:
    """Two regimes on the same seed images of one system and scene type.

    Attributes:
        sut: the system.
        scene_type: the stratum.
        regimes: the first and the second.
        n: pairs compared.
        excluded: eligible seed images that were run in at least one of the two and make no pair.
        mean_difference: mean of first - second; None without a pair.
        first_larger: pairs where the first is larger; in ASR, those that failed only there.
        second_larger: the same of the second.
        effect: rank-biserial correlation, or ``(first_larger - second_larger)`` over their sum for ASR, in
            [-1, 1]; None without a pair.
        p_value: two-sided; None without a pair.
        p_adjusted: after Holm, over the family; None without a pair.
    """

    sut: str
    scene_type: str
    regimes: RegimePair
    n: int
    excluded: int
    mean_difference: float | None
    first_larger: int
    second_larger: int
    effect: float | None
    p_value: float | None
    p_adjusted: float | None = None

    @property
    def excluded_share(self) -> float | None:
        """Share of the seed images that make no pair; None without one."""
        total = self.n + self.excluded
        return self.excluded / total if total else None

    def is_significant(self, level: float = SIGNIFICANCE_LEVEL) -> bool:
        """Return whether the regimes differ, with all tests of the family taken into account."""
        return self.p_adjusted is not None and self.p_adjusted < level


@dataclass(frozen=True)
class ComparisonFamily:
    """All tests of one metric, adjusted together.

    Attributes:
        metric: what is compared.
        comparisons: by system, scene type and regime pair.
        size: tests in the family: those that had a pair.
        untested: comparisons without one.
    """

    metric: PairedMetric
    comparisons: tuple[RegimeComparison, ...]
    size: int
    untested: int


def compare_regimes(results: Sequence[RunResult], metric: PairedMetric) -> ComparisonFamily:
    """Return all comparisons of a metric over systems, scene types and regime pairs.

    Runs are paired by system, scene type and seed image. P-values are adjusted by Holm over the whole family.

    Args:
        results: runs of one IoU threshold; a seed image at most once a system and regime.
        metric: what to compare.

    Raises:
        ValueError: a seed image was run twice, or the runs have different IoU thresholds.
    """
    comparisons = list(_comparisons(results, metric))
    tested = [one for one in comparisons if one.p_value is not None]
    adjusted = iter(holm([one.p_value for one in tested if one.p_value is not None]))
    return ComparisonFamily(
        metric,
        tuple(one if one.p_value is None else replace(one, p_adjusted=next(adjusted)) for one in comparisons),
        size=len(tested),
        untested=len(comparisons) - len(tested),
    )


def _comparisons(results: Sequence[RunResult], metric: PairedMetric) -> Iterator[RegimeComparison]:
    strata = _by_stratum(results)
    for (sut, scene_type), by_regime in sorted(strata.items()):
        for first, second in metric.regime_pairs:
            if first in by_regime and second in by_regime:
                yield _compared(sut, scene_type, (first, second), by_regime, metric)


def _by_stratum(
    results: Sequence[RunResult],
) -> Mapping[tuple[str, str], Mapping[Regime, Mapping[str, RunResult]]]:
    """Return eligible runs as (system, scene type) -> regime -> seed image -> run."""
    if len(thresholds := {result.iou_threshold for result in results}) > 1:
        raise ValueError(f"results must share one IoU threshold, got {sorted(thresholds)}")
    strata: defaultdict[tuple[str, str], defaultdict[Regime, dict[str, RunResult]]]
    strata = defaultdict(lambda: defaultdict(dict))
    for result in results:
        runs = strata[result.sut, result.scene_type][result.regime]
        if result.seed_image in runs:
            raise ValueError(
                f"results must hold a seed image once a system and regime, got {result.seed_image} twice"
            )
        if result.is_eligible:
            runs[result.seed_image] = result
    return strata


def _compared(
    sut: str,
    scene_type: str,
    regimes: RegimePair,
    by_regime: Mapping[Regime, Mapping[str, RunResult]],
    metric: PairedMetric,
) -> RegimeComparison:
    first, second = (_numbers(by_regime[regime], metric) for regime in regimes)
    paired = sorted(first.keys() & second.keys())
    pairs = [(first[seed], second[seed]) for seed in paired]
    larger = sum(one > other for one, other in pairs)
    smaller = sum(one < other for one, other in pairs)
    effect: float | None = None
    p_value: float | None = None
    if pairs and metric.test == "mcnemar":
        p_value = mcnemar_exact(larger, smaller)
        effect = (larger - smaller) / (larger + smaller) if larger + smaller else 0.0
    elif pairs:
        _, p_value, effect = wilcoxon_signed_rank(*zip(*pairs, strict=True))
    seeds = by_regime[regimes[0]].keys() | by_regime[regimes[1]].keys()
    return RegimeComparison(
        sut=sut,
        scene_type=scene_type,
        regimes=regimes,
        n=len(pairs),
        excluded=len(seeds) - len(pairs),
        mean_difference=fmean(one - other for one, other in pairs) if pairs else None,
        first_larger=larger,
        second_larger=smaller,
        effect=effect,
        p_value=p_value,
    )


def _numbers(runs: Mapping[str, RunResult], metric: PairedMetric) -> dict[str, float]:
    """Return seed image -> number, of the runs that have one."""
    return {
        seed: float(metric.number(run, run.case))
        for seed, run in runs.items()
        if run.case is not None and (run.case.has_boxes or not metric.needs_boxes)
    }
