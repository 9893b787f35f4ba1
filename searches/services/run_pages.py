"""What the page of one run shows while it works and after: facts, best sets, log, worker, metrics."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.db.models import QuerySet
from django.utils import timezone

from searches.enums import CONCEPT_METHOD, RunState, TrialStatus, Verdict
from searches.models import Blob, Finding, RunEvent, Sample, SearchRun, Trial
from searches.services.concept_runs import concept_runs
from searches.services.domain_store import find_domain
from searches.services.finding_lists import mark_of, stops_early
from searches.services.navigation import alive_workers
from searches.services.owners import parse_owner
from searches.services.results import (
    ExpectedRow,
    RunOverview,
    best_trials,
    expected_table,
    run_metrics,
    run_overview,
    thin,
)
from searches.services.served_models import other_model_warning
from searches.services.source_obstacles import backend_title
from searches.services.spending import Hold, hold_of, run_cap_of
from vlmlab.core.revelio.metrics import ConvergencePoint, RevelioMetrics
from vlmlab.web.evidence import set_words

BEST_SETS = 8
LOG_LINES = 12
OLDER_LOG_LINES = 100
METRICS_AT_ONCE = 3_000  # sets; above, the metrics come in a request of their own


@dataclass(frozen=True)
class SetLine:
    """One concept set of a table.

    Attributes:
        picture: SHA-256 of a scene answered wrongly, "" where none is kept.
        is_settled: nothing more will be asked of it, so what is missing is not needed.
        has_rate: whether k/n is a rate (the run takes all samples of every set); else only its samples are
            shown.
    """

    trial: Trial
    finding: Finding | None
    picture: str
    is_settled: bool
    has_rate: bool


@dataclass(frozen=True)
class LogPart:
    """Lines of a run's log, newest first; ``before`` is where the older ones start, None at the end."""

    lines: list[RunEvent]
    before: int | None


@dataclass(frozen=True)
class RunCurves:
    """Failure modes against inferences: all, and those that contain no other."""

    modes: list[ConvergencePoint]
    minimal: list[ConvergencePoint]


@dataclass(frozen=True)
class RunNews:
    """A failure mode found since the reader's page was drawn."""

    sentence: str
    finding: Finding


@dataclass(frozen=True)
class RunPage:
    """Everything of a run's page that changes while it works.

    Attributes:
        who: the worker that has it, in words.
        problem: why nothing moves, with what to do; "" when all is well.
        hold: the spending limit that halted it, None for any other run.
        other_model: which other model than the asked one answered, in words; "" when none did.
        n_not_sent: how many call errors are calls that were never sent.
    """

    overview: RunOverview
    best: list[SetLine]
    expected: list[ExpectedRow]
    curves: RunCurves
    log: LogPart
    who: str
    problem: str
    hold: Hold | None
    other_model: str
    n_not_sent: int

    @property
    def run_cap(self) -> float | None:
        """What the run may cost, None without a limit."""
        return run_cap_of(self.run, self.overview.config)

    @property
    def pictures_from(self) -> str:
        """Where its pictures come from, in words."""
        return backend_title(self.overview.config.backend)

    @property
    def cost_a_mode(self) -> float | None:
        """What a failure mode has cost so far; None where nothing was found or spent."""
        return self.run.spend_usd / self.run.n_modes if self.run.spend_usd and self.run.n_modes else None

    @property
    def run(self) -> SearchRun:
        """The run."""
        return self.overview.run


def runs_for_list() -> QuerySet[SearchRun]:
    """Return runs with what a row of a list needs, newest first; every number stands in the row itself."""
    return concept_runs().select_related("campaign", "sut").order_by("-id")


def run_for_page(pk: int) -> SearchRun | None:
    """Return a run of any method with campaign, system and who started it."""
    return SearchRun.objects.select_related("campaign", "sut", "created_by").filter(pk=pk).first()


def concept_run_for_page(pk: int) -> SearchRun | None:
    """Return the same for a search over concept sets only, which alone has sets, findings and metrics."""
    run = run_for_page(pk)
    return run if run is not None and run.campaign.method == CONCEPT_METHOD else None


def run_page(run: SearchRun) -> RunPage:
    """Return what the polled part of a run's page shows.

    Raises:
        VlmLabError: its settings or its domain are not known to this version.
    """
    overview = run_overview(run)
    return RunPage(
        overview=overview,
        best=set_lines(best_trials(run, BEST_SETS), run=run, samples_per_set=overview.config.samples_per_set),
        expected=expected_table(run),
        curves=run_curves(run),
        log=log_part(run, limit=LOG_LINES),
        who=_who(run),
        problem=_problem(run),
        hold=hold_of(run, overview.config, domain=overview.domain),
        other_model=other_model_warning(run.sut, [run.pk]),
        n_not_sent=_n_not_sent(run),
    )


def page_etag(run: SearchRun) -> str:
    """Return a mark that changes whenever the polled part must change, also when its worker falls silent."""
    late = "late" if is_late(run) else "waiting" if run.state == RunState.QUEUED and _nobody(run) else ""
    return f"{run.etag}-{late}"


def is_late(run: SearchRun) -> bool:
    """Whether a worker has the run but did not renew its lease in time."""
    at_work = run.state in (RunState.RUNNING, RunState.CANCELLING)
    return at_work and run.lease_expires is not None and run.lease_expires < timezone.now()


def set_lines(trials: Sequence[Trial], *, run: SearchRun, samples_per_set: int) -> list[SetLine]:
    """Return rows for concept sets whose findings are fetched, with one picture each (one query)."""
    pictures = _pictures([trial.pk for trial in trials if trial.fails])
    return [_line(trial, pictures, run=run, samples_per_set=samples_per_set) for trial in trials]


def news_of(run: SearchRun, known_modes: int | None) -> RunNews | None:
    """Return what was found since a page showed ``known_modes`` failure modes; None when nothing was."""
    if known_modes is None or run.n_modes <= known_modes:
        return None
    newest = run.findings.order_by("-id").first()
    if newest is None:
        return None
    more = run.n_modes - known_modes
    words = set_words(newest.concepts, newest.domain_ref)
    sentence = (
        f"New suspected mode: {words}." if more == 1 else f"{more} new suspected modes, such as {words}."
    )
    return RunNews(sentence, newest)


def run_curves(run: SearchRun) -> RunCurves:
    """Return the curves of a run from its findings alone, at most 500 points each."""
    return _curves(run.pk, mark_of(run), run.n_inferences)


def log_part(run: SearchRun, *, before: int | None = None, limit: int = OLDER_LOG_LINES) -> LogPart:
    """Return lines of the log, newest first, older than ``before``."""
    rows = run.events.order_by("-id")
    if before is not None:
        rows = rows.filter(pk__lt=before)
    lines = list(rows[: limit + 1])
    shown = lines[:limit]
    return LogPart(shown, shown[-1].pk if len(lines) > limit else None)


def cached_metrics(run: SearchRun) -> RevelioMetrics:
    """Return the metrics of a run; kept in memory until the run changes."""
    return _metrics(run.pk, mark_of(run))


def metrics_by_expected(run: SearchRun, metrics: RevelioMetrics) -> list[tuple[str, RevelioMetrics]]:
    """Return label and metrics of each expected answer, in the domain's order of severity."""
    actions = find_domain(run.campaign.domain_ref).actions
    order = {action: place for place, action in enumerate(actions)}
    parts = sorted(metrics.by_expected.items(), key=lambda part: order.get(part[0], len(order)))
    return [(actions.get(action, action), part) for action, part in parts if action]


def comes_later(run: SearchRun) -> bool:
    """Whether the metrics take so long that the page must not wait for them."""
    return run.n_trials > METRICS_AT_ONCE


@lru_cache(maxsize=64)
def _metrics(run_id: int, mark: str) -> RevelioMetrics:
    return run_metrics(SearchRun.objects.select_related("campaign").get(pk=run_id))


@lru_cache(maxsize=64)
def _curves(run_id: int, mark: str, last: int) -> RunCurves:
    rows = Finding.objects.filter(run_id=run_id).order_by("found_at_inference", "id")
    found = list(rows.values_list("found_at_inference", "is_minimal_in_run"))
    return RunCurves(
        modes=_curve([at for at, _ in found], last),
        minimal=_curve([at for at, is_minimal in found if is_minimal], last),
    )


def _curve(found: Sequence[int], last: int) -> list[ConvergencePoint]:
    points = [ConvergencePoint(0, 0)]
    points += [ConvergencePoint(at, number) for number, at in enumerate(found, start=1)]
    if points[-1].inferences < last:
        points.append(ConvergencePoint(last, points[-1].modes))
    return thin(points)


def _pictures(trial_ids: Sequence[int]) -> dict[int, str]:
    rows = Sample.objects.filter(
        trial__in=trial_ids, verdict=Verdict.FAIL, image_sha256__in=Blob.objects.values("pk")
    ).order_by("-number")
    return dict(rows.values_list("trial_id", "image_sha256"))


def _line(trial: Trial, pictures: dict[int, str], *, run: SearchRun, samples_per_set: int) -> SetLine:
    is_curtailed = trial.is_curtailed or stops_early(run.campaign.config)
    is_decided = trial.status in (TrialStatus.DECIDED_FAIL, TrialStatus.DECIDED_PASS)
    return SetLine(
        trial=trial,
        finding=getattr(trial, "finding", None),
        picture=pictures.get(trial.pk, ""),
        is_settled=trial.status != TrialStatus.OPEN,
        has_rate=is_decided and not is_curtailed and trial.answers >= samples_per_set,
    )


def _n_not_sent(run: SearchRun) -> int:
    """Return how many calls were given up before they were sent, because all before them had failed."""
    if not run.n_call_errors:
        return 0
    return run.samples.filter(verdict=Verdict.CALL_ERROR, n_attempts=0).count()


def _who(run: SearchRun) -> str:
    if not run.owner:
        return ""
    owner = parse_owner(run.owner)
    return f"{owner.host}, process {owner.pid}"


def _nobody(run: SearchRun) -> bool:
    queues = alive_workers().values_list("queues", flat=True)
    return not any(run.queue in served for served in queues)


def _problem(run: SearchRun) -> str:
    if is_late(run):
        return (
            "The worker that had this run fell silent. Nothing is lost: another worker takes it over within "
            "a minute or so."
        )
    if run.state == RunState.QUEUED and _nobody(run):
        return (
            f"No worker serves the {run.get_queue_display()} queue, so the run waits. It begins by itself as "
            "soon as one starts."
        )
    return ""
