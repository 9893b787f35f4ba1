"""Whether a newer system is better, worse or no worse on pinned failure modes, each on the same fresh scenes.

That no difference is significant is no pass: a mode passes when the newer system *surely* fails at most a
margin more often. What each verdict claims, with level a, threshold t and margin d:

- worse: exact McNemar test, Holm-adjusted over the family, at most a; more fails than before; and not surely
  within the margin.
- fixed: the same test, fewer fails than before, and the newer failure rate surely below t.
- flaky: neither, and answers to the same scenes differ in both directions, each surely in more than a share.
- still failing: the newer failure rate is surely at least t.
- pass: the newer rate is surely less than d above the older one.
- not enough evidence: anything else.

"Surely": an exact one-sided bound of a rate (Clopper-Pearson), or the score bound of a paired difference
(Tango 1998), at level 1 - a, mode by mode.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from vlmlab.core.checks import check_share
from vlmlab.core.stats import (
    PairedCounts,
    count_pairs,
    difference_below,
    holm,
    lower_bound,
    upper_bound,
    wilcoxon_signed_rank,
)
from vlmlab.core.verdicts.fixed import PASSED

ModeVerdict = Literal["worse", "fixed", "flaky", "still_failing", "pass", "not_enough"]
FamilyVerdict = Literal["pass", "fail", "not_enough"]
Goal = Literal["no_worse", "all_fixed"]
FLAKY_SHARE = 0.1

MODE_WORDS: Mapping[ModeVerdict, str] = {
    "worse": "Worse",
    "fixed": "Fixed",
    "flaky": "Flaky",
    "still_failing": "Still failing",
    "pass": "Pass",
    "not_enough": "Not enough evidence",
}
FAMILY_WORDS: Mapping[FamilyVerdict, str] = {
    "pass": "Pass",
    "fail": "Fail",
    "not_enough": "Not enough evidence",
}


@dataclass(frozen=True)
class RegressRules:
    """What verdicts rest on.

    Attributes:
        level: a: chance of any false "worse" or "fixed" in the family, and of each sure claim of a mode.
        margin: d, in shares of scenes.
        threshold: t, the failure rate from which a mode fails.
        flaky_share: pairs that differ one way, and the other, above which a mode is flaky.
        goal: what a family passes for: no mode worse, or every mode surely below the threshold.
    """

    level: float = 0.05
    margin: float = 0.1
    threshold: float = 0.6
    flaky_share: float = FLAKY_SHARE
    goal: Goal = "no_worse"

    def __post_init__(self) -> None:
        """Check that each is a share."""
        for name in ("level", "margin", "threshold", "flaky_share"):
            check_share(name, getattr(self, name))


@dataclass(frozen=True)
class ReAsks:
    """Scenes that one system was asked twice, and how many it answered differently."""

    differing: int = 0
    total: int = 0


@dataclass(frozen=True)
class ModeReading:
    """What is said of one mode.

    Attributes:
        counts: fails of the older system first, of the newer one second.
        verdict: the word.
        is_new: worse, surely below the threshold before and surely at or above it now.
        p_value, adjusted: exact McNemar, two-sided; after Holm over the family.
        difference_high: the newer rate is surely at most this much above the older one.
        new_low, new_high: exact one-sided bounds of the newer rate.
        is_non_inferior: ``difference_high`` is below the margin.
    """

    counts: PairedCounts
    verdict: ModeVerdict
    is_new: bool
    p_value: float
    adjusted: float
    difference_high: float
    new_low: float
    new_high: float
    is_non_inferior: bool

    @property
    def is_no_worse(self) -> bool:
        """Whether a gate that asks for "no worse" lets it through."""
        return self.verdict == "fixed" or (self.verdict != "worse" and self.is_non_inferior)


@dataclass(frozen=True)
class FamilyReading:
    """What is said of a whole family.

    Attributes:
        verdict: for "no worse": fail when a mode is worse (error at most the level, Holm); pass when every
            mode is fixed or surely within the margin. For "all fixed": fail when a mode is worse or still
            failing; pass when every newer rate is surely below the threshold. Otherwise not enough evidence.
            A pass needs every mode, so it needs no correction (intersection-union test).
        modes: in the order given.
    """

    verdict: FamilyVerdict
    modes: tuple[ModeReading, ...]

    def count(self, verdict: ModeVerdict) -> int:
        """Return how many modes have a verdict."""
        return sum(mode.verdict == verdict for mode in self.modes)


@dataclass(frozen=True)
class CasesReading:
    """What is said of test cases as one family, with the case as the unit.

    Attributes:
        whole: all cases as one mode, a pair a case; None where cases have several draws.
        p_value: exact McNemar over cases, or the signed-rank test of their failure rates.
        cases: cases compared.
        worse, better: cases that fail more often, or less often, than before.
    """

    whole: ModeReading | None
    p_value: float
    cases: int
    worse: int
    better: int


def judge_family(
    modes: Sequence[PairedCounts], rules: RegressRules, *, reasks: Sequence[ReAsks] = ()
) -> FamilyReading:
    """Return the verdict of each mode and of the family.

    Args:
        modes: counts of each, older system first.
        rules: level, margin, threshold.
        reasks: same scenes asked twice, one entry a mode; empty where nothing was asked twice.

    Raises:
        ValueError: ``reasks`` has another length than ``modes``.
    """
    if reasks and len(reasks) != len(modes):
        raise ValueError(f"reasks must have one entry a mode, got {len(reasks)} for {len(modes)}")
    adjusted = holm([counts.p_value for counts in modes])
    readings = tuple(
        _judge(counts, adjusted[index], rules, reasks=reasks[index] if reasks else ReAsks())
        for index, counts in enumerate(modes)
    )
    failing = {"worse"} if rules.goal == "no_worse" else {"worse", "still_failing"}
    if any(reading.verdict in failing for reading in readings):
        return FamilyReading("fail", readings)
    is_fine = bool(readings) and all(
        reading.is_no_worse if rules.goal == "no_worse" else reading.new_high < rules.threshold
        for reading in readings
    )
    return FamilyReading("pass" if is_fine else "not_enough", readings)


def judge_cases(cases: Sequence[PairedCounts], rules: RegressRules) -> CasesReading:
    """Return what test cases say together; draws of one case are alike, so the case is the unit.

    Args:
        cases: counts of each, older system first; one pair each, or several fresh draws.
        rules: level, margin, threshold.
    """
    asked = [case for case in cases if case.n]
    worse = sum(case.second > case.first for case in asked)
    better = sum(case.second < case.first for case in asked)
    if all(case.n == 1 for case in asked):
        total = PairedCounts(
            sum(case.both for case in asked),
            sum(case.first_only for case in asked),
            sum(case.second_only for case in asked),
            sum(case.neither for case in asked),
        )
        whole = _judge(total, total.p_value, rules, reasks=ReAsks())
        return CasesReading(whole, total.p_value, len(asked), worse, better)
    rates = [(case.first / case.n, case.second / case.n) for case in asked]
    p_value = wilcoxon_signed_rank([one for one, _ in rates], [one for _, one in rates]).p_value
    return CasesReading(None, p_value, len(asked), worse, better)


def counts_between(older: Mapping[str, Any], newer: Mapping[str, Any]) -> PairedCounts:
    """Return the paired counts of one item of two runs, over the scenes that both answered.

    Args:
        older: ``ItemResult.numbers`` of the fixed design: scene numbers, and a letter for each.
        newer: the same of the other run.
    """
    first, second = _fails(older), _fails(newer)
    return count_pairs((first[number], second[number]) for number in sorted(first.keys() & second.keys()))


def _fails(numbers: Mapping[str, Any]) -> dict[int, bool]:
    if not numbers:
        return {}
    letters = str(numbers["arms"][0]["outcomes"])
    return {int(number): letter != PASSED for number, letter in zip(numbers["numbers"], letters, strict=True)}


def _judge(counts: PairedCounts, adjusted: float, rules: RegressRules, *, reasks: ReAsks) -> ModeReading:
    sure = 1.0 - rules.level
    swapped = PairedCounts(counts.both, counts.second_only, counts.first_only, counts.neither)
    difference_high = difference_below(swapped, sure)
    new_low = lower_bound(counts.second, counts.n, sure) if counts.n else 0.0
    new_high = upper_bound(counts.second, counts.n, sure)
    is_non_inferior = difference_high < rules.margin
    is_changed = adjusted <= rules.level and counts.first_only != counts.second_only
    verdict: ModeVerdict = "not_enough"
    if is_changed and counts.second > counts.first and not is_non_inferior:
        verdict = "worse"
    elif is_changed and counts.second < counts.first and new_high < rules.threshold:
        verdict = "fixed"
    elif _is_flaky(counts, rules, reasks=reasks):
        verdict = "flaky"
    elif new_low >= rules.threshold:
        verdict = "still_failing"
    elif is_non_inferior:
        verdict = "pass"
    is_new = (
        verdict == "worse"
        and new_low >= rules.threshold
        and upper_bound(counts.first, counts.n, sure) < rules.threshold
    )
    return ModeReading(
        counts, verdict, is_new, counts.p_value, adjusted, difference_high, new_low, new_high, is_non_inferior
    )


def _is_flaky(counts: PairedCounts, rules: RegressRules, *, reasks: ReAsks) -> bool:
    sure = 1.0 - rules.level
    fewer = min(counts.first_only, counts.second_only)
    if fewer and lower_bound(fewer, counts.n, sure) > rules.flaky_share:
        return True
    return reasks.differing > 0 and lower_bound(reasks.differing, reasks.total, sure) > rules.flaky_share
