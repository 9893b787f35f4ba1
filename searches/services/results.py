"""What the pages of a run show: numbers with their counts, curves of at most 500 points, best sets first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from searches.enums import KEY_SEPARATOR, Verdict
from searches.models import SearchRun, Trial
from searches.services.domain_store import find_domain
from searches.services.endings import budget_ending
from searches.services.live import config_of
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.metrics import ConvergencePoint, RevelioMetrics, SetResult, measure
from vlmlab.core.revelio.metrics import convergence as mode_curve
from vlmlab.core.revelio.types import TrialStatus as CoreStatus
from vlmlab.core.scenes.concepts import Domain

MAX_POINTS = 500
PFM_NOTE = (
    "Parked sets are left out of PFM, and sits parks the sets that would likely pass: its PFM comes close to "
    "100 % whatever the system does."
)


@dataclass(frozen=True)
class RunOverview:
    """The head of a run's page; everything comes from the run's own row.

    Attributes:
        share_done: part of the budget that is used up, in [0, 1].
        seconds_left: what the rest takes at the pace so far; None before the first batch or at the end.
        pace: inferences a minute of work.
    """

    run: SearchRun
    config: RevelioConfig
    domain: Domain
    share_done: float
    seconds_left: float | None
    pace: float | None


@dataclass(frozen=True)
class ExpectedRow:
    """Counts of one expected action."""

    action: str
    label: str
    answers: int
    fails: int
    invalid: int
    decided: int
    modes: int


def run_overview(run: SearchRun) -> RunOverview:
    """Return the head of a run's page.

    Raises:
        VlmLabError: its settings or its domain are not known to this version.
    """
    config = config_of(run)
    share = min(1.0, run.n_observations / config.inference_budget)
    pace = run.n_observations / run.active_seconds if run.active_seconds > 0 and run.n_observations else None
    left = None
    if pace is not None and not run.is_final and not budget_ending(run, config):
        left = (config.inference_budget - run.n_observations) / pace
        if config.wall_clock_budget_s is not None:
            left = min(left, config.wall_clock_budget_s - run.active_seconds)
    return RunOverview(
        run,
        config,
        find_domain(run.campaign.domain_ref),
        share,
        left,
        pace * 60 if pace is not None else None,
    )


def best_trials(run: SearchRun, limit: int = 10) -> list[Trial]:
    """Return the sets with the most wrong answers, fewest right ones first among equals."""
    rows = run.trials.filter(fails__gt=0).order_by("-fails", "passes", "order")
    return list(rows.select_related("finding")[:limit])


def exact_convergence(run: SearchRun) -> list[ConvergencePoint]:
    """Return the curve recounted from every sample; for exports and checks."""
    config = config_of(run)
    rows = run.samples.filter(told_verdict__in=(Verdict.PASS, Verdict.FAIL)).order_by("step", "position")
    told = rows.values_list("trial__key", "told_verdict").iterator(chunk_size=2000)
    return mode_curve(
        (((key,), verdict == Verdict.FAIL) for key, verdict in told), needed=config.fails_needed
    )


def thin(points: Sequence[ConvergencePoint]) -> list[ConvergencePoint]:
    """Return at most ``MAX_POINTS`` of the points, evenly chosen, with the first and the last."""
    if len(points) <= MAX_POINTS:
        return list(points)
    step = (len(points) - 1) / (MAX_POINTS - 1)
    return [points[round(number * step)] for number in range(MAX_POINTS)]


def expected_table(run: SearchRun) -> list[ExpectedRow]:
    """Return the counts by expected action, in the domain's order of severity."""
    labels = find_domain(run.campaign.domain_ref).actions
    order = {action: place for place, action in enumerate(labels)}
    rows: Mapping[str, Mapping[str, int]] = run.by_expected
    return [
        ExpectedRow(action=action, label=labels.get(action, action), **rows[action])
        for action in sorted(rows, key=lambda action: (order.get(action, len(order)), action))
    ]


def run_metrics(run: SearchRun) -> RevelioMetrics:
    """Return PFM, MFR and Div with numerators, in all and by expected action."""
    config = config_of(run)
    rows = run.trials.order_by("order").values_list(
        "key", "fails", "passes", "invalid", "status", "is_curtailed", "expected_action"
    )
    sets = [
        SetResult(
            tuple(key.split(KEY_SEPARATOR)), fails, passes, invalid, CoreStatus(status), is_curtailed, action
        )
        for key, fails, passes, invalid, status, is_curtailed, action in rows.iterator(chunk_size=2000)
    ]
    return measure(sets, needed=config.fails_needed, is_curtailed=config.is_curtailed)
