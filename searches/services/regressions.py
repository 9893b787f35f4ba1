"""What a regression says: each pinned mode on both systems, on the scenes that both answered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from searches.enums import CASE_METHOD, FINAL_STATES, FollowUpName, RunState
from searches.models import (
    Campaign,
    FollowUpItem,
    FollowUpSource,
    RegressionFamily,
    SceneFlag,
    SearchRun,
    SutRecord,
)
from searches.services.regression_words import cases_sentence, mode_sentence, page_sentence
from searches.services.scene_flags import EXCLUDING
from vlmlab.core.stats import DifferenceInterval, PairedCounts, count_pairs, paired_difference
from vlmlab.core.verdicts.config import RegressConfig
from vlmlab.core.verdicts.fixed import INVALID, PASSED
from vlmlab.core.verdicts.regress import (
    CasesReading,
    FamilyReading,
    ModeReading,
    RegressRules,
    judge_cases,
    judge_family,
)
from vlmlab.web.evidence import set_words
from vlmlab.web.numbers import write_percent


@dataclass(frozen=True)
class ModeLine:
    """One mode, or one test case, as both systems answered it.

    Attributes:
        old_item, new_item: the items of the two runs.
        words: the set in words, or "Case 7".
        reading: the verdict; None while answers are still coming.
        counts: fails of the older system first.
        old_invalid, new_invalid: of the fails, answers that named no option.
        planned: scenes that were to be asked.
        flagged: scenes left out because a person flagged them.
        interval: of the newer rate minus the older one; its upper end is the bound that is held against the
            margin.
        is_fine: the mode does not keep the family from passing.
        note: why a case could not be compared; "" where it was.
    """

    old_item: FollowUpItem
    new_item: FollowUpItem
    words: str
    reading: ModeReading | None
    counts: PairedCounts
    old_invalid: int
    new_invalid: int
    planned: int
    flagged: int
    interval: DifferenceInterval
    is_fine: bool = False
    note: str = ""

    @property
    def verdict(self) -> str:
        """The word, "" while there is none."""
        if self.reading is None:
            return ""
        return "not_drawn" if self.note else self.reading.verdict

    @property
    def difference(self) -> float:
        """Newer rate minus older rate."""
        return -self.counts.difference

    @property
    def sentence(self) -> str:
        """What the verdict rests on."""
        return mode_sentence(self)


@dataclass(frozen=True)
class RegressionPage:
    """A regression as its page, its files and its shell command show it.

    Attributes:
        verdict: "pass", "fail" or "not_enough"; "" until both runs have asked everything, and for ever where
            one was halted.
        cases: what test cases say together; None for concept sets.
        n_short: modes with fewer scenes than planned.
    """

    campaign: Campaign
    family: RegressionFamily | None
    baseline: SutRecord | None
    candidate: SutRecord | None
    old_run: SearchRun | None
    new_run: SearchRun | None
    config: RegressConfig
    modes: tuple[ModeLine, ...]
    verdict: str
    cases: CasesReading | None

    @property
    def is_final(self) -> bool:
        """Whether both runs have ended."""
        return all(run is not None and run.state in FINAL_STATES for run in (self.old_run, self.new_run))

    @property
    def is_halted(self) -> bool:
        """Whether a run ended before everything was asked: then there is no verdict."""
        return self.is_final and any(run.state != RunState.SUCCEEDED for run in self.runs)

    @property
    def runs(self) -> list[SearchRun]:
        """Its runs, the baseline's first."""
        return [run for run in (self.old_run, self.new_run) if run is not None]

    @property
    def planned_answers(self) -> int:
        """Answers that each system is asked for."""
        return self.config.scenes * len(self.modes)

    @property
    def has_cases(self) -> bool:
        """Whether it is about test cases."""
        return self.campaign.method == CASE_METHOD

    @property
    def n_short(self) -> int:
        """Modes with fewer scenes than planned."""
        return sum(line.counts.n < line.planned for line in self.modes)

    @property
    def tally(self) -> dict[str, int]:
        """Modes by verdict, in the order in which they matter."""
        order = ("worse", "not_enough", "flaky", "still_failing", "fixed", "pass", "not_drawn")
        counts = {word: sum(line.verdict == word for line in self.modes) for word in order}
        return {word: count for word, count in counts.items() if count}

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        return page_sentence(self)

    @property
    def interval_percent(self) -> str:
        """Level of two-sided intervals, in words."""
        return write_percent(1 - 2 * self.config.level)

    @property
    def case_words(self) -> str:
        """What test cases say together, "" for concept sets."""
        return cases_sentence(self)

    @property
    def sure_percent(self) -> str:
        """Level of one-sided bounds, in words."""
        return write_percent(1 - self.config.level)


def find_regression(pk: int) -> Campaign | None:
    """Return a follow-up that is a regression."""
    rows = Campaign.objects.filter(kind=FollowUpName.REGRESS).select_related(
        "source__family__baseline", "created_by"
    )
    return rows.filter(pk=pk).first() if pk < 2**63 else None


def regression_page(campaign: Campaign) -> RegressionPage:
    """Return what a regression says so far (five queries, whatever its size)."""
    source = FollowUpSource.objects.select_related("family").filter(campaign=campaign).first()
    spec: Mapping[str, Any] = source.spec if source else {}
    runs = {run.sut_id: run for run in campaign.runs.select_related("sut")}
    suts = SutRecord.objects.in_bulk([pk for pk in (spec.get("baseline"), spec.get("candidate")) if pk])
    old_run, new_run = (runs.get(spec.get(name, 0)) for name in ("baseline", "candidate"))
    config = RegressConfig.model_validate(campaign.config)
    is_whole = all(run is not None and run.state == RunState.SUCCEEDED for run in (old_run, new_run))
    pairs = _paired_items(campaign, old_run, new_run)
    flagged = _flagged_numbers(campaign)
    measured = [_measured(old, new, flagged.get(old.block, frozenset())) for old, new in pairs]
    reading, cases, verdict = _judged(campaign, config, [one.counts for one in measured])
    lines = tuple(
        _line(one, reading.modes[at] if is_whole else None, campaign=campaign, config=config)
        for at, one in enumerate(measured)
    )
    return RegressionPage(
        campaign=campaign,
        family=source.family if source else None,
        baseline=suts.get(spec.get("baseline")),
        candidate=suts.get(spec.get("candidate")),
        old_run=old_run,
        new_run=new_run,
        config=config,
        modes=lines,
        verdict=verdict if is_whole else "",
        cases=cases if is_whole else None,
    )


@dataclass(frozen=True)
class _Measured:
    old: FollowUpItem
    new: FollowUpItem
    counts: PairedCounts
    old_invalid: int
    new_invalid: int
    flagged: int


def _paired_items(
    campaign: Campaign, old_run: SearchRun | None, new_run: SearchRun | None
) -> list[tuple[FollowUpItem, FollowUpItem]]:
    if old_run is None or new_run is None:
        return []
    rows = FollowUpItem.objects.filter(campaign=campaign).select_related("member").order_by("run_id", "order")
    by_run: dict[int, dict[str, FollowUpItem]] = {}
    for item in rows:
        by_run.setdefault(item.run_id, {})[item.block] = item
    old, new = by_run.get(old_run.pk, {}), by_run.get(new_run.pk, {})
    return [(item, new[block]) for block, item in old.items() if block in new]


def _flagged_numbers(campaign: Campaign) -> dict[str, frozenset[int]]:
    """Return the numbers of the scenes of each block that a person flagged, in either run."""
    rows = SceneFlag.objects.filter(
        sample__run__campaign=campaign, withdrawn_at=None, kind__in=EXCLUDING
    ).values_list("sample__trial__block", "sample__number")
    found: dict[str, set[int]] = {}
    for block, number in rows:
        found.setdefault(block, set()).add(number)
    return {block: frozenset(numbers) for block, numbers in found.items()}


def letters_of(item: FollowUpItem) -> dict[int, str]:
    """Return how each scene of an item was answered: a letter by number; {} before the first answer.

    A test case that has no draws is one "scene", number 0: the input as it was.
    """
    numbers = item.numbers
    if numbers.get("numbers") and numbers.get("arms"):
        letters = str(numbers["arms"][0]["outcomes"])
        return dict(zip(map(int, numbers["numbers"]), letters, strict=True))
    exact = numbers.get("parts", {}).get("exact")
    return {0: PASSED if exact == "pass" else "F"} if exact in ("pass", "fail") else {}


def _measured(old: FollowUpItem, new: FollowUpItem, flagged: frozenset[int]) -> _Measured:
    first, second = letters_of(old), letters_of(new)
    both = sorted(first.keys() & second.keys())
    used = [number for number in both if number not in flagged]
    return _Measured(
        old=old,
        new=new,
        counts=count_pairs((first[one] != PASSED, second[one] != PASSED) for one in used),
        old_invalid=sum(first[one] == INVALID for one in used),
        new_invalid=sum(second[one] == INVALID for one in used),
        flagged=len(both) - len(used),
    )


def _judged(
    campaign: Campaign, config: RegressConfig, counts: Sequence[PairedCounts]
) -> tuple[FamilyReading, CasesReading | None, str]:
    rules = rules_of(config)
    reading = judge_family(counts, rules)
    if campaign.method != CASE_METHOD:
        return reading, None, reading.verdict
    cases = judge_cases(counts, rules)
    if cases.whole is None:
        return reading, cases, reading.verdict
    if cases.whole.verdict == "worse":
        return reading, cases, "fail"
    is_fine = _is_fine(cases.whole, config)
    if config.goal == "all_fixed" and cases.whole.verdict == "still_failing":
        return reading, cases, "fail"
    return reading, cases, "pass" if cases.cases and is_fine else "not_enough"


def rules_of(config: RegressConfig) -> RegressRules:
    """Return what the verdicts of a regression rest on."""
    return RegressRules(
        level=config.level,
        margin=config.margin,
        threshold=config.failure_rate_threshold,
        goal=config.goal,
    )


def _is_fine(reading: ModeReading, config: RegressConfig) -> bool:
    if config.goal == "all_fixed":
        return reading.verdict != "worse" and reading.new_high < config.failure_rate_threshold
    return reading.is_no_worse


def _line(
    one: _Measured, reading: ModeReading | None, *, campaign: Campaign, config: RegressConfig
) -> ModeLine:
    counts = one.counts
    swapped = PairedCounts(counts.both, counts.second_only, counts.first_only, counts.neither)
    words = (
        set_words(one.old.concepts, campaign.domain_ref) if one.old.concepts else f"Case {one.old.case_id}"
    )
    has_draws = bool(one.old.numbers.get("numbers")) or not one.old.case_id
    return ModeLine(
        old_item=one.old,
        new_item=one.new,
        words=words,
        reading=reading,
        counts=counts,
        old_invalid=one.old_invalid,
        new_invalid=one.new_invalid,
        planned=config.scenes if has_draws else 1,
        flagged=one.flagged,
        interval=paired_difference(swapped, 1.0 - 2.0 * config.level),
        is_fine=reading is not None and bool(counts.n) and _is_fine(reading, config),
        note=_note(one) if reading is not None else "",
    )


def _note(one: _Measured) -> str:
    """Return why a mode or case could not be compared, "" where it was."""
    if one.counts.n:
        return ""
    for item, which in ((one.old, "baseline"), (one.new, "candidate")):
        if item.state == "ineligible":
            return f"The {which} already answers the picture without a perturbation wrongly."
    if one.old.reason == "exhausted" or one.new.reason == "exhausted":
        return "Its scenes could not be drawn or answered."
    return ""
