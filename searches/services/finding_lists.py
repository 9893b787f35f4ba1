"""Lists of findings: counts by state, what each row covers, the failure modes of one run."""

import threading
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, FloatField, Q, QuerySet
from django.db.models.functions import Cast, NullIf

from searches.enums import KEY_SEPARATOR, FindingState, Minimality
from searches.models import Finding, SearchRun

SORTS: dict[str, tuple[Any, ...]] = {
    "newest": ("-id",),
    "rate": (F("fresh_rate").asc(nulls_last=True), "-fresh_n", "-id"),
    "-rate": (F("fresh_rate").desc(nulls_last=True), "-fresh_n", "-fails", "n", "-id"),
    "evidence": (F("log_e_value").asc(nulls_last=True), "-id"),
    "-evidence": (F("log_e_value").desc(nulls_last=True), "-id"),
    "fails": ("fails", "-n", "-id"),
    "-fails": ("-fails", "n", "-id"),
    "size": ("size", "-fails", "-id"),
    "-size": ("-size", "-fails", "-id"),
    "state": ("state", "-id"),
    "-state": ("-state", "-id"),
    "sut": ("sut__name", "-id"),
    "-sut": ("-sut__name", "-id"),
    "found": ("run_id", "found_at_inference", "id"),
    "-found": ("-run_id", "-found_at_inference", "-id"),
}
TESTED = (FindingState.CONFIRMED, FindingState.REFUTED, FindingState.UNDETERMINED)
COLLAPSED = Q(covered_by__isnull=False) | (Q(is_minimal_in_run=False) & ~Q(state=FindingState.CONFIRMED))
"""Larger sets that a smaller finding explains, or lies inside of while they are not confirmed."""
MOST_MARKS = 12
MOST_TILES = 3
RUN_FINDINGS = 12
KEPT_RUNS = 64

_kept: OrderedDict[str, Mapping[int, frozenset[str]]] = OrderedDict()
_lock = threading.Lock()


@dataclass(frozen=True)
class FindingLine:
    """One row of a list.

    Attributes:
        covers: larger findings of the same run that contain this set.
        samples_per_set: what a full set takes.
        tau: threshold of its run.
        passes: right answers of the search on its set.
    """

    finding: Finding
    covers: int
    samples_per_set: int
    tau: float
    passes: int

    @property
    def has_marks(self) -> bool:
        """Whether the answers it was found with are few enough to show one by one."""
        return self.finding.fails + self.passes <= MOST_MARKS

    @property
    def minimal_words(self) -> str:
        """Whether the set still fails with less, as far as that was tested."""
        if self.finding.covered_by_id is not None:
            return "Covered by a smaller one"
        return Minimality(self.finding.minimality).label


@dataclass(frozen=True)
class ExpectedTile:
    """How many findings with one expected answer were confirmed, of those that fresh scenes tested."""

    action: str
    domain: str
    confirmed: int
    tested: int


@dataclass(frozen=True)
class StateCounts:
    """Findings by state, and by expected answer."""

    tabs: list["StateTab"]
    tiles: list[ExpectedTile]
    confirmed: int
    tested: int

    @property
    def suspected(self) -> int:
        """Findings that wait for fresh scenes."""
        return next(tab.count for tab in self.tabs if tab.state == FindingState.SUSPECTED)


@dataclass(frozen=True)
class StateTab:
    """One tab above the list."""

    state: str
    label: str
    count: int


def all_findings() -> QuerySet[Finding]:
    """Return findings with what a row needs."""
    return Finding.objects.select_related("sut", "run__campaign", "trial")


def sorted_by(rows: QuerySet[Finding], key: str) -> QuerySet[Finding]:
    """Return the findings in the order of a key of ``SORTS``; the newest first for any other key."""
    if key.endswith("rate"):
        share = Cast("fresh_fails", FloatField()) / NullIf(F("fresh_n"), 0, output_field=FloatField())
        rows = rows.annotate(fresh_rate=share)
    return rows.order_by(*SORTS.get(key, SORTS["newest"]))


def state_counts(rows: QuerySet[Finding]) -> StateCounts:
    """Return how many findings stand in each state, in all and by expected answer (one query)."""
    grouped = rows.order_by().values("state", "expected_action", "domain").annotate(number=Count("pk"))
    counts: Counter[str] = Counter()
    tested: Counter[tuple[str, str]] = Counter()
    confirmed: Counter[tuple[str, str]] = Counter()
    for row in grouped:
        state, of = row["state"], (row["expected_action"], row["domain"])
        counts[state] += row["number"]
        tested[of] += row["number"] if state in TESTED else 0
        confirmed[of] += row["number"] if state == FindingState.CONFIRMED else 0
    tabs = [StateTab("", "All", sum(counts.values()))]
    tabs += [StateTab(state, str(label), counts[state]) for state, label in FindingState.choices]
    most = sorted((of for of in tested if tested[of]), key=lambda of: (-tested[of], of))[:MOST_TILES]
    tiles = [ExpectedTile(*of, confirmed=confirmed[of], tested=tested[of]) for of in most]
    return StateCounts(tabs, tiles, counts[FindingState.CONFIRMED], sum(tested.values()))


def finding_lines(findings: Sequence[Finding]) -> list[FindingLine]:
    """Return rows with what each covers (at most one query more, whatever the number of rows)."""
    sets = failing_sets({one.run_id: one.run for one in findings if one.is_minimal_in_run}.values())
    return [_line(one, sets[one.run_id].values() if one.is_minimal_in_run else ()) for one in findings]


def run_findings(run: SearchRun) -> list[FindingLine]:
    """Return the first failure modes of a run, worst first."""
    rows = all_findings().filter(run=run).order_by("-is_minimal_in_run", "-fails", "n", "id")
    return finding_lines(list(rows[:RUN_FINDINGS]))


def run_state_counts(run: SearchRun) -> dict[str, int]:
    """Return how many findings of a run stand in each state, with all four states (one query)."""
    rows = Finding.objects.filter(run=run).order_by().values_list("state")
    counted = dict(rows.annotate(number=Count("pk")))
    return {str(state): counted.get(state, 0) for state in FindingState.values}


def stops_early(config: Mapping[str, Any]) -> bool:
    """Whether a run with these stored settings stops sets early; then no set of it has an unbiased rate."""
    return bool(config.get("curtail")) or config.get("algorithm") == "sits"


def mark_of(run: SearchRun) -> str:
    """Return a text that changes whenever the results of a run do; a key for what is kept in memory."""
    return f"{run.pk}-{run.created_at.timestamp()}-{run.etag}-{run.n_modes}-{run.n_call_errors}"


def failing_sets(runs: Iterable[SearchRun]) -> dict[int, Mapping[int, frozenset[str]]]:
    """Return, by run, the concepts of every failure mode by its set's number, the smallest sets first.

    Runs that are not in memory are read with one query.
    """
    marks = {run.pk: mark_of(run) for run in runs}
    found = {pk: _kept[mark] for pk, mark in marks.items() if mark in _kept}
    missing: dict[int, dict[int, frozenset[str]]] = {pk: {} for pk in marks if pk not in found}
    if missing:
        rows = Finding.objects.filter(run_id__in=missing).order_by("size", "id")
        for run_id, trial_id, key in rows.values_list("run_id", "trial_id", "key"):
            missing[run_id][trial_id] = frozenset(key.split(KEY_SEPARATOR))
        _keep({marks[pk]: sets for pk, sets in missing.items()})
    return {**found, **missing}


def _keep(more: Mapping[str, Mapping[int, frozenset[str]]]) -> None:
    with _lock:
        _kept.update(more)
        while len(_kept) > KEPT_RUNS:
            _kept.popitem(last=False)


def _line(finding: Finding, sets: Iterable[frozenset[str]]) -> FindingLine:
    own = frozenset(finding.concepts)
    config = finding.run.campaign.config
    return FindingLine(
        finding=finding,
        covers=sum(own < other for other in sets),
        samples_per_set=int(config.get("samples_per_set", 5)),
        tau=float(config.get("failure_rate_threshold", 0.6)),
        passes=finding.trial.passes,
    )
