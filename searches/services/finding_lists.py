"""Lists of findings: counts by state, what each row covers, the failure modes of one run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, QuerySet

from searches.enums import FindingState
from searches.models import Finding, SearchRun

SORTS = {
    "newest": ("-id",),
    "fails": ("fails", "-n", "-id"),
    "-fails": ("-fails", "n", "-id"),
    "size": ("size", "-fails", "-id"),
    "-size": ("-size", "-fails", "-id"),
    "sut": ("sut__name", "-id"),
    "-sut": ("-sut__name", "-id"),
    "found": ("run_id", "found_at_inference", "id"),
    "-found": ("-run_id", "-found_at_inference", "-id"),
}
RUN_FINDINGS = 25


@dataclass(frozen=True)
class FindingLine:
    """One row of a list.

    Attributes:
        covers: larger findings of the same run that contain this set.
        samples_per_set: what a full set takes.
        tau: threshold of its run.
    """

    finding: Finding
    covers: int
    samples_per_set: int
    tau: float

    @property
    def has_rate(self) -> bool:
        """Whether k/n is a rate: its run takes all samples of every set."""
        is_curtailed = self.finding.is_curtailed or stops_early(self.finding.run.campaign.config)
        return not is_curtailed and self.finding.n > 0


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
    return rows.order_by(*SORTS.get(key, SORTS["newest"]))


def state_tabs(rows: QuerySet[Finding]) -> list[StateTab]:
    """Return how many findings stand in each state, with all of them first (one query)."""
    counts = Counter(dict(rows.order_by().values_list("state").annotate(number=Count("pk"))))
    tabs = [StateTab("", "All", sum(counts.values()))]
    return tabs + [StateTab(state, str(label), counts[state]) for state, label in FindingState.choices]


def finding_lines(findings: Sequence[Finding]) -> list[FindingLine]:
    """Return rows with what each covers (one query more, whatever the number of rows)."""
    minimal = [one for one in findings if one.is_minimal_in_run]
    sets: dict[int, list[frozenset[str]]] = {}
    smallest = min((one.size for one in minimal), default=0)
    rows = Finding.objects.filter(run_id__in={one.run_id for one in minimal}, size__gt=smallest)
    for run_id, concepts in rows.values_list("run_id", "concepts") if minimal else ():
        sets.setdefault(run_id, []).append(frozenset(concepts))
    return [_line(one, sets.get(one.run_id, []) if one.is_minimal_in_run else []) for one in findings]


def run_findings(run: SearchRun) -> list[FindingLine]:
    """Return the first failure modes of a run, worst first."""
    rows = all_findings().filter(run=run).order_by("-is_minimal_in_run", "-fails", "n", "id")
    return finding_lines(list(rows[:RUN_FINDINGS]))


def stops_early(config: Mapping[str, Any]) -> bool:
    """Whether a run with these stored settings stops sets early; then no set of it has an unbiased rate."""
    return bool(config.get("curtail")) or config.get("algorithm") == "sits"


def _line(finding: Finding, sets: Sequence[frozenset[str]]) -> FindingLine:
    own = frozenset(finding.concepts)
    config = finding.run.campaign.config
    return FindingLine(
        finding=finding,
        covers=sum(own < other for other in sets),
        samples_per_set=int(config.get("samples_per_set", 5)),
        tau=float(config.get("failure_rate_threshold", 0.6)),
    )
