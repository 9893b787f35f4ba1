"""What an experiment says: each arm over its run seeds, arms held against each other seed by seed."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from vlmlab.core.revelio.metrics import ConvergencePoint, RevelioMetrics, SetResult, Share, tau_curve
from vlmlab.core.stats.multiplicity import holm
from vlmlab.core.stats.seeds import PairedMean, SeedMean, paired_mean, seed_mean

TAUS = tuple(round(number / 20, 2) for number in range(1, 21))
"""Thresholds of the curve over tau."""


@dataclass(frozen=True)
class RunFacts:
    """What the summaries need of one run.

    Attributes:
        arm: name of its arm.
        is_final: whether it will find nothing more.
        confirmed: failure modes confirmed on fresh scenes; None where nothing was confirmed or refuted yet.
        curve: failure modes against inferences.
        tau_shares: share of full sets that reach each of ``TAUS``; empty where sets stop early.
        budget: inferences that it may take.
    """

    arm: str
    run_seed: int
    is_final: bool
    metrics: RevelioMetrics
    confirmed: int | None
    curve: tuple[ConvergencePoint, ...]
    tau_shares: tuple[Share, ...]
    budget: int


@dataclass(frozen=True)
class Measure:
    """A number of a run.

    Attributes:
        counts: numerator and denominator, for shares.
        value: the number; None where the run has none.
    """

    name: str
    title: str
    help: str
    value: Callable[[RunFacts], float | None]
    counts: Callable[[RunFacts], Share | None] | None = None

    @property
    def is_share(self) -> bool:
        """Whether it lies in [0, 1] and has counts."""
        return self.counts is not None


def _share_measure(
    name: str, title: str, help_text: str, counts: Callable[[RunFacts], Share | None]
) -> Measure:
    def value(facts: RunFacts) -> float | None:
        share = counts(facts)
        return None if share is None else share.value

    return Measure(name, title, help_text, value, counts)


MEASURES: dict[str, Measure] = {
    one.name: one
    for one in (
        Measure(
            "modes", "Failure modes", "sets that reach the threshold",
            lambda facts: float(facts.metrics.pfm.numerator),
        ),
        Measure(
            "minimal", "Distinct minimal modes", "failure modes that contain no other",
            lambda facts: float(facts.metrics.minimal_modes),
        ),
        _share_measure("pfm", "PFM", "failure modes among decided sets", lambda facts: facts.metrics.pfm),
        _share_measure(
            "pfm_valid", "PFM without invalid", "failure modes by readable wrong answers alone",
            lambda facts: facts.metrics.pfm_valid,
        ),
        _share_measure("mfr", "MFR", "wrong answers over full sets", lambda facts: facts.metrics.mfr),
        _share_measure(
            "mfr_valid", "MFR without invalid", "readable wrong answers among readable answers of full sets",
            lambda facts: facts.metrics.mfr_valid,
        ),
        Measure(
            "diversity", "Div", "mean Jaccard distance over pairs of failure modes",
            lambda facts: facts.metrics.diversity,
        ),
        Measure(
            "confirmed", "Confirmed", "failure modes confirmed on fresh scenes",
            lambda facts: None if facts.confirmed is None else float(facts.confirmed),
        ),
        _share_measure("invalid", "Invalid answers", "answers that name no option",
                       lambda facts: facts.metrics.invalid),
        Measure(
            "inferences", "Inferences", "answers that were spent",
            lambda facts: float(facts.metrics.inferences),
        ),
    )
}  # fmt: skip
COMPARED = ("modes", "minimal", "confirmed", "pfm", "mfr", "diversity")
"""Measures whose differences between arms are tested."""


@dataclass(frozen=True)
class MeasureSummary:
    """One measure of one arm over its runs.

    Attributes:
        seeds: mean over runs with its interval; None where no run has a value.
        pooled: counts of all runs together, for shares.
    """

    measure: Measure
    seeds: SeedMean | None
    pooled: Share | None


@dataclass(frozen=True)
class ArmSummary:
    """All measures of one arm, with those of its sets by expected action."""

    arm: str
    n_runs: int
    n_final: int
    measures: Mapping[str, MeasureSummary]
    by_expected: Mapping[str, Mapping[str, MeasureSummary]]


@dataclass(frozen=True)
class ArmDifference:
    """The second arm less the first, on the run seeds that both have.

    ``p_adjusted`` is after Holm over all pairs of the measure that have a p-value.
    """

    first: str
    second: str
    paired: PairedMean | None
    p_adjusted: float | None


@dataclass(frozen=True)
class BandPoint:
    """Mean failure modes over runs after a number of inferences, with Student's interval."""

    inferences: int
    mean: float
    low: float | None
    high: float | None
    n: int


def tau_shares(results: Sequence[SetResult], *, is_curtailed: bool) -> tuple[Share, ...]:
    """Return the shares of full sets that reach each of ``TAUS``; empty where sets stop early."""
    return () if is_curtailed else tuple(tau_curve(results, thresholds=TAUS))


def summarise(arms: Sequence[str], runs: Sequence[RunFacts], *, level: float = 0.95) -> list[ArmSummary]:
    """Return each arm over its runs, in the order given; runs that have not ended count as they stand."""
    return [_summary(arm, [one for one in runs if one.arm == arm], level) for arm in arms]


def differences(
    arms: Sequence[str], runs: Sequence[RunFacts], measure: Measure, *, level: float = 0.95
) -> list[ArmDifference]:
    """Return every pair of arms compared on common run seeds; only runs that have ended count."""
    values = {
        arm: {
            one.run_seed: value
            for one in runs
            if one.arm == arm and one.is_final and (value := measure.value(one)) is not None
        }
        for arm in arms
    }
    pairs = [
        (first, second, paired_mean([values[second][seed] - values[first][seed] for seed in common], level))
        for first, second in combinations(arms, 2)
        for common in [sorted(set(values[first]) & set(values[second]))]
    ]
    told = [paired.p_value for _, _, paired in pairs if paired is not None and paired.p_value is not None]
    adjusted = iter(holm(told))
    return [
        ArmDifference(
            first,
            second,
            paired,
            next(adjusted) if paired is not None and paired.p_value is not None else None,
        )
        for first, second, paired in pairs
    ]


def band(runs: Sequence[RunFacts], grid: Sequence[int], *, level: float = 0.95) -> list[BandPoint]:
    """Return the mean curve of runs with its interval.

    A run that has ended keeps the number it ended with; one at work counts as far as it is.

    Args:
        runs: of one arm.
        grid: numbers of inferences, ascending.
        level: of the interval.
    """
    points = []
    for inferences in grid:
        modes = [float(known) for run in runs if (known := _modes_at(run, inferences)) is not None]
        found = seed_mean(modes, level, least=0.0)
        if found is None:
            break
        points.append(BandPoint(inferences, found.mean, found.low, found.high, found.n))
    return points


def pooled_taus(runs: Sequence[RunFacts]) -> list[tuple[float, Share, SeedMean | None]]:
    """Return threshold, counts over all runs, and mean over runs, for runs whose sets are all full."""
    whole = [run for run in runs if run.tau_shares]
    lines = []
    for place, tau in enumerate(TAUS):
        shares = [run.tau_shares[place] for run in whole]
        values = [value for share in shares if (value := share.value) is not None]
        lines.append((tau, _pooled(shares), seed_mean(values, least=0.0, most=1.0)))
    return lines if whole else []


def _summary(arm: str, runs: Sequence[RunFacts], level: float) -> ArmSummary:
    actions = sorted({action for run in runs for action in run.metrics.by_expected if action})
    return ArmSummary(
        arm=arm,
        n_runs=len(runs),
        n_final=sum(run.is_final for run in runs),
        measures=_measures(runs, level),
        by_expected={
            action: _measures(
                [
                    RunFacts(
                        run.arm, run.run_seed, run.is_final, run.metrics.by_expected[action], None,
                        (), (), run.budget,
                    )
                    for run in runs
                    if action in run.metrics.by_expected
                ],
                level,
            )
            for action in actions
        },
    )  # fmt: skip


def _measures(runs: Sequence[RunFacts], level: float) -> dict[str, MeasureSummary]:
    return {name: _measure(measure, runs, level) for name, measure in MEASURES.items()}


def _measure(measure: Measure, runs: Sequence[RunFacts], level: float) -> MeasureSummary:
    values = [value for run in runs if (value := measure.value(run)) is not None]
    most = 1.0 if measure.is_share or measure.name == "diversity" else None
    shares = [share for run in runs if measure.counts is not None and (share := measure.counts(run))]
    return MeasureSummary(
        measure, seed_mean(values, level, least=0.0, most=most), _pooled(shares) if shares else None
    )


def _pooled(shares: Sequence[Share]) -> Share:
    return Share(sum(one.numerator for one in shares), sum(one.denominator for one in shares))


def _modes_at(run: RunFacts, inferences: int) -> int | None:
    if not run.curve:
        return None
    if inferences > run.curve[-1].inferences:
        return run.curve[-1].modes if run.is_final else None
    place = bisect_right([point.inferences for point in run.curve], inferences)
    return run.curve[place - 1].modes if place else 0
