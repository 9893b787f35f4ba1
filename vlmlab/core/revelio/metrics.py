"""What a run found, in numbers that always carry their numerator and denominator."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from vlmlab.core.revelio.racing import fails_needed
from vlmlab.core.revelio.types import Key, TrialStatus
from vlmlab.core.stats import Interval, clopper_pearson

PAIR_ROWS = 512  # sets whose overlaps with all others are held at a time


@dataclass(frozen=True)
class SetResult:
    """A concept set as the metrics need it.

    Attributes:
        fails: wrong answers, with the invalid ones.
        invalid: fails that named no option.
        is_curtailed: stopped before all samples.
        expected_action: id of the action its question expects.
    """

    key: Key
    fails: int
    passes: int
    invalid: int
    status: TrialStatus
    is_curtailed: bool
    expected_action: str = ""

    @property
    def samples(self) -> int:
        """Samples with an answer."""
        return self.fails + self.passes

    @property
    def rate(self) -> float | None:
        """Failure rate; None for a set that was curtailed or is unfinished: its k/n is biased."""
        is_whole = self.status.is_decided and not self.is_curtailed
        return self.fails / self.samples if is_whole and self.samples else None


@dataclass(frozen=True)
class Share:
    """A share with its counts; ``value`` is None when the denominator is 0."""

    numerator: int
    denominator: int

    @property
    def value(self) -> float | None:
        """Numerator / denominator."""
        return self.numerator / self.denominator if self.denominator else None

    def interval(self, level: float = 0.95) -> Interval:
        """Return the exact binomial interval."""
        return clopper_pearson(self.numerator, self.denominator, level)


@dataclass(frozen=True)
class RevelioMetrics:
    """The metrics of one run, or of its sets with one expected action.

    Attributes:
        pfm: failure modes / decided sets.
        pfm_valid: sets that reach the threshold by valid wrong answers alone / decided sets.
        mfr: mean failure rate: fails / samples over sets with all samples; None where sets are
            curtailed, because those that happen to be whole are not a fair choice of them.
        mfr_valid: the same without invalid answers; None as ``mfr``.
        diversity: mean Jaccard distance between pairs of failure modes; None below two modes.
        mode_pairs: pairs behind ``diversity``.
        minimal_modes: failure modes that contain no other failure mode.
        invalid: invalid answers among all ``samples``.
        parked, unfinished, incompatible: sets without a class.
        inferences: samples with an answer, all sets.
        by_expected: expected action -> metrics of its sets; empty inside.
    """

    pfm: Share
    pfm_valid: Share
    mfr: Share | None
    mfr_valid: Share | None
    diversity: float | None
    mode_pairs: int
    minimal_modes: int
    invalid: Share
    parked: int
    unfinished: int
    incompatible: int
    inferences: int
    by_expected: Mapping[str, "RevelioMetrics"] = field(default_factory=dict)


def is_failure_mode(
    fails: int, samples_per_set: int, failure_rate_threshold: float, *, strict: bool = False
) -> bool:
    """Return whether ``fails`` of ``samples_per_set`` wrong answers make a failure mode."""
    return fails >= fails_needed(samples_per_set, failure_rate_threshold, strict=strict)


def measure(results: Sequence[SetResult], *, needed: int, is_curtailed: bool) -> RevelioMetrics:
    """Return the metrics of a run, with those of each expected action.

    Args:
        results: every set that the run opened.
        needed: fails that make a failure mode.
        is_curtailed: whether the run stopped sets early.
    """
    actions = sorted({result.expected_action for result in results})
    parts = {
        action: _measure(
            [result for result in results if result.expected_action == action],
            needed=needed,
            is_curtailed=is_curtailed,
            parts={},
        )
        for action in actions
    }
    return _measure(results, needed=needed, is_curtailed=is_curtailed, parts=parts)


def _measure(
    results: Sequence[SetResult], *, needed: int, is_curtailed: bool, parts: Mapping[str, RevelioMetrics]
) -> RevelioMetrics:
    decided = [result for result in results if result.status.is_decided]
    modes = [result for result in decided if result.status is TrialStatus.DECIDED_FAIL]
    whole = [result for result in decided if not result.is_curtailed]
    fails = sum(result.fails for result in whole)
    samples = sum(result.samples for result in whole)
    invalid = sum(result.invalid for result in whole)
    keys = [result.key for result in modes]
    everything = sum(result.samples for result in results)
    return RevelioMetrics(
        pfm=Share(len(modes), len(decided)),
        pfm_valid=Share(sum(mode.fails - mode.invalid >= needed for mode in modes), len(decided)),
        mfr=None if is_curtailed else Share(fails, samples),
        mfr_valid=None if is_curtailed else Share(fails - invalid, samples - invalid),
        diversity=diversity(keys),
        mode_pairs=len(keys) * (len(keys) - 1) // 2,
        minimal_modes=len(minimal_modes(keys)),
        invalid=Share(sum(result.invalid for result in results), everything),
        parked=sum(result.status is TrialStatus.PARKED for result in results),
        unfinished=sum(result.status is TrialStatus.OPEN for result in results),
        incompatible=sum(result.status is TrialStatus.INCOMPATIBLE for result in results),
        inferences=everything,
        by_expected=parts,
    )


def diversity(keys: Sequence[Key]) -> float | None:
    """Return the mean Jaccard distance over all pairs of sets, in [0, 1]; None below two sets."""
    if len(keys) < 2:
        return None
    names = {name: number for number, name in enumerate(sorted({name for key in keys for name in key}))}
    has = np.zeros((len(keys), len(names)))
    for row, key in enumerate(keys):
        has[row, [names[name] for name in key]] = 1.0
    sizes = has.sum(axis=1)
    overlap = 0.0
    for start in range(0, len(keys), PAIR_ROWS):  # thousands of modes make more pairs than fit in memory
        rows = slice(start, start + PAIR_ROWS)
        shared = has[rows] @ has.T
        overlap += float((shared / (sizes[rows, None] + sizes - shared)).sum())
    # Each set overlaps fully with itself; every other pair was counted twice.
    return 1.0 - (overlap - len(keys)) / (len(keys) * (len(keys) - 1))


def minimal_modes(keys: Iterable[Key]) -> list[Key]:
    """Return the sets that contain no other of the sets, smallest first."""
    found: dict[frozenset[str], Key] = {}
    for key in sorted(set(keys), key=lambda one: (len(one), one)):
        smaller = (frozenset(part) for size in range(len(key)) for part in combinations(key, size))
        if not any(part in found for part in smaller):
            found[frozenset(key)] = key
    return list(found.values())


@dataclass(frozen=True)
class ConvergencePoint:
    """Failure modes known after a number of inferences."""

    inferences: int
    modes: int


def convergence(samples: Iterable[tuple[Key, bool]], *, needed: int) -> list[ConvergencePoint]:
    """Return where each failure mode became known.

    Args:
        samples: (concept set, failed) of every answered sample, in the order asked.
        needed: fails that make a failure mode.

    Returns:
        (0, 0), one point for each mode, and the last inference.
    """
    points = [ConvergencePoint(0, 0)]
    fails: dict[Key, int] = {}
    count = 0
    for count, (key, failed) in enumerate(samples, start=1):
        fails[key] = fails.get(key, 0) + failed
        if failed and fails[key] == needed:
            points.append(ConvergencePoint(count, points[-1].modes + 1))
    if points[-1].inferences != count:
        points.append(ConvergencePoint(count, points[-1].modes))
    return points


def tau_curve(results: Sequence[SetResult], *, thresholds: Sequence[float]) -> list[Share]:
    """Return, for each threshold, the share of sets with a rate that reach it.

    Only sets with all samples have a rate: pass results of runs without curtailment.
    """
    rates = [rate for result in results if (rate := result.rate) is not None]
    return [Share(sum(rate >= tau - 1e-9 for rate in rates), len(rates)) for tau in thresholds]
