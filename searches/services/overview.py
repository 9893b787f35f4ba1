"""What the overview shows: what waits for a person, what runs, what was found, how the systems do."""

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, Exists, Max, OuterRef, Q, Sum
from django.urls import reverse
from django.utils import timezone

from searches.enums import (
    CASE_METHOD,
    CONCEPT_METHOD,
    FOLLOW_UP_METHOD,
    LIVE_STATES,
    MODALITY_METHOD,
    FindingState,
    FollowUpName,
    RunState,
)
from searches.models import Campaign, Finding, SearchRun, SutRecord
from searches.services.canaries import canary_alerts
from searches.services.concept_runs import concept_runs
from searches.services.modality_pages import CampaignLine, campaign_lines, modality_campaigns
from searches.services.navigation import alive_workers
from searches.services.spend_totals import RecentSpend, recent_spend
from searches.services.sut_pages import SutLine, sut_lines, suts_with_counts

RECENT_RUNS = 7
SHOWN_PROFILES = 3
NEWEST_FINDINGS = 5
SHOWN_SUTS = 6
SHOWN_TODOS = 5
SHOWN_SUSPECTS = 2
LOOK_BACK = timedelta(days=7)


_PAGES = {
    MODALITY_METHOD: "modality_campaign",
    FOLLOW_UP_METHOD: "follow_up_detail",
    CASE_METHOD: "follow_up_detail",
}
"""Method of campaigns that have a page for all of their runs -> its name."""


@dataclass(frozen=True)
class Todo:
    """Something that waits for this person: a strong start, the rest of the sentence, where to act."""

    sign: str
    strong: str
    rest: str
    link: str
    url: str


@dataclass(frozen=True)
class Totals:
    """Numbers of the tiles; inferences and call errors are those of own runs of the last 7 days."""

    suspected: int
    minimal: int
    confirmed: int
    inferences: int
    call_errors: int
    spend: RecentSpend
    busy_workers: int
    workers: int
    queued_runs: int


@dataclass(frozen=True)
class Overview:
    """Everything the overview shows."""

    todos: tuple[Todo, ...]
    totals: Totals
    runs: tuple[SearchRun, ...]
    n_runs: int
    profiles: tuple[CampaignLine, ...]
    n_profiles: int
    findings: tuple[Finding, ...]
    suts: tuple[SutLine, ...]
    has_own_runs: bool

    @property
    def first_sut(self) -> SutRecord | None:
        """The system a newcomer should start with: the first that is switched on."""
        return next((line.sut for line in self.suts if line.sut.is_enabled), None)


def overview() -> Overview:
    """Return the overview of the lab, in a fixed number of queries."""
    shown = tuple(sut_lines(list(suts_with_counts().order_by("-is_enabled", "name")[:SHOWN_SUTS])))
    is_concept = Q(campaign__method=CONCEPT_METHOD)
    is_recent = Q(campaign__is_sample=False, created_at__gte=timezone.now() - LOOK_BACK)
    counts = SearchRun.objects.aggregate(
        all=Count("pk", filter=is_concept),
        own=Count("pk", filter=Q(campaign__is_sample=False)),
        queued=Count("pk", filter=Q(state=RunState.QUEUED)),
        inferences=Sum("n_inferences", filter=is_recent),
        call_errors=Sum("n_call_errors", filter=is_recent),
    )
    totals = _totals(counts)
    campaigns = _recent_campaigns()
    return Overview(
        todos=_todos(totals),
        totals=totals,
        runs=tuple(_recent_runs()),
        n_runs=counts["all"],
        profiles=tuple(campaign_lines(campaigns)) if campaigns else (),
        n_profiles=modality_campaigns().count() if campaigns else 0,
        findings=tuple(
            Finding.objects.select_related("run__campaign", "sut").order_by("-id")[:NEWEST_FINDINGS]
        ),
        suts=shown,
        has_own_runs=counts["own"] > 0,
    )


def _recent_runs() -> list[SearchRun]:
    """Return live runs first, then the newest."""
    runs = concept_runs().select_related("campaign", "sut")
    live = list(runs.filter(state__in=LIVE_STATES).order_by("-id")[:RECENT_RUNS])
    rest = runs.exclude(state__in=LIVE_STATES).order_by("-id")[: max(RECENT_RUNS - len(live), 1)]
    return live + list(rest)


def _recent_campaigns() -> list[Campaign]:
    """Return the modality campaigns at work first, then the newest."""
    at_work = SearchRun.objects.filter(campaign=OuterRef("pk"), state__in=LIVE_STATES)
    return list(modality_campaigns().order_by(Exists(at_work).desc(), "-id")[:SHOWN_PROFILES])


def _totals(counts: dict[str, int | None]) -> Totals:
    findings = Finding.objects.aggregate(
        suspected=Count("pk", filter=Q(state=FindingState.SUSPECTED)),
        minimal=Count("pk", filter=Q(state=FindingState.SUSPECTED, is_minimal_in_run=True)),
        confirmed=Count("pk", filter=Q(state=FindingState.CONFIRMED)),
    )
    workers = alive_workers().aggregate(
        all=Count("pk"), busy=Count("pk", filter=Q(run_id__isnull=False) | ~Q(job_id=""))
    )
    return Totals(
        suspected=findings["suspected"],
        minimal=findings["minimal"],
        confirmed=findings["confirmed"],
        inferences=counts["inferences"] or 0,
        call_errors=counts["call_errors"] or 0,
        spend=recent_spend(),
        busy_workers=workers["busy"],
        workers=workers["all"],
        queued_runs=counts["queued"] or 0,
    )


def _todos(totals: Totals) -> tuple[Todo, ...]:
    todos = []
    if totals.queued_runs and not totals.workers:
        waiting = "1 run waits" if totals.queued_runs == 1 else f"{totals.queued_runs} runs wait"
        todos.append(
            Todo("worker", waiting, "and no worker is there.", "Look at the workers", reverse("worker_list"))
        )
    halted = Q(state__in=[RunState.PAUSED, RunState.FAILED])
    with_errors = Q(state=RunState.SUCCEEDED, n_call_errors__gt=0, is_retrying_call_errors=False)
    waiting_runs = concept_runs().filter(halted | with_errors, campaign__is_sample=False).order_by("-id")
    todos.extend(_todo_of(run) for run in waiting_runs[:SHOWN_TODOS])
    return tuple(todos + _halted_campaigns(halted) + _failed_canaries() + _suspects())


def _failed_canaries() -> list[Todo]:
    """Return a line for each canary whose last regression failed or could not be started."""
    todos = []
    for line in canary_alerts()[:SHOWN_TODOS]:
        number = line.canary.last_campaign_id
        failed = line.verdict == "fail" and number is not None
        url = reverse("regression_detail", args=[number]) if failed else reverse("canary_list")
        name, rest = f"The canary {line.canary}", f"needs a look: {line.problem}"
        todos.append(Todo("warning", name, rest, "Look at it", url))
    return todos


def _suspects() -> list[Todo]:
    """Return a line for each search whose suspects wait for fresh scenes, the newest first."""
    waiting = Finding.objects.filter(
        state=FindingState.SUSPECTED,
        run__state=RunState.SUCCEEDED,
        run__campaign__is_sample=False,
        run__campaign__method=CONCEPT_METHOD,
    ).exclude(run__campaign__follow_ups__kind=FollowUpName.CONFIRM)
    rows = waiting.order_by().values("run__campaign_id", "run__campaign__name").annotate(n=Count("pk"))
    todos = []
    for row in rows.order_by("-run__campaign_id")[:SHOWN_SUSPECTS]:
        suspects = "1 suspect waits" if row["n"] == 1 else f"{row['n']:,} suspects wait"
        url = f"{reverse('follow_up_create')}?kind=confirm&campaign={row['run__campaign_id']}"
        rest = f"of {row['run__campaign__name']} for confirmation on fresh scenes."
        todos.append(Todo("confirm", suspects, rest, "Confirm what was found", url))
    return todos


def _halted_campaigns(halted: Q) -> list[Todo]:
    """Return a line for each modality campaign or follow-up with halted runs: they halt for one reason."""
    rows = SearchRun.objects.filter(halted, campaign__method__in=_PAGES, campaign__is_sample=False)
    grouped = rows.order_by().values("campaign_id", "campaign__name", "campaign__method")
    todos = []
    for row in grouped.annotate(n=Count("pk"), why=Max("error")).order_by("-campaign_id")[:SHOWN_TODOS]:
        runs = "1 run is" if row["n"] == 1 else f"{row['n']:,} runs are"
        why = f": {row['why']}" if row["why"] else "."
        url = reverse(_PAGES[row["campaign__method"]], args=[row["campaign_id"]])
        todos.append(Todo("pause", row["campaign__name"], f"waits: {runs} halted{why}", "Look at it", url))
    return todos


def _todo_of(run: SearchRun) -> Todo:
    url, name = run.get_absolute_url(), f"Run {run.pk}"
    if run.state == RunState.FAILED:
        return Todo("warning", name, f"failed: {run.error or 'no reason was stored.'}", "Look at it", url)
    if run.is_halted_by_spending:
        return Todo("pause", name, "is held by a spending limit.", "Raise it or end the run", url)
    if run.state == RunState.PAUSED:
        reason = f": {run.error}" if run.error else "."
        return Todo("pause", name, f"is paused{reason}", "Resume or end it", url)
    calls = "1 call" if run.n_call_errors == 1 else f"{run.n_call_errors:,} calls"
    return Todo("again", name, f"finished, but {calls} failed.", "Ask only those again", url)
