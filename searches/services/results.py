"""What the pages of a run show: numbers with their counts, curves of at most 500 points, best sets first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from searches.enums import KEY_SEPARATOR, Verdict
from searches.models import Finding, SearchRun, Trial
from searches.services.endings import budget_ending
from searches.services.live import config_of
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.metrics import ConvergencePoint, RevelioMetrics, SetResult, measure
from vlmlab.core.revelio.metrics import convergence as mode_curve
from vlmlab.core.revelio.types import TrialStatus as CoreStatus
from vlmlab.core.scenes.catalogue import load_domain
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

    @property
    def overhead_share(self) -> float | None:
        """Part of the working time that was neither drawing nor the system's, in [0, 1]."""
        if self.run.active_seconds <= 0:
            return None
        busy = self.run.render_seconds + self.run.sut_seconds
        return max(0.0, 1.0 - busy / self.run.active_seconds)


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

    @property
    def failed_share(self) -> float | None:
        """Wrong answers among all answers."""
        return self.fails / self.answers if self.answers else None

    @property
    def mode_share(self) -> float | None:
        """Failure modes among decided sets (PFM)."""
        return self.modes / self.decided if self.decided else None


@dataclass(frozen=True)
class Comparison:
    """Two runs side by side.

    Attributes:
        shared: concept sets that are failure modes in both.
        only_first, only_second: those in one of them alone.
        warnings: sentences on what is not alike.
    """

    first: RunOverview
    second: RunOverview
    first_metrics: RevelioMetrics
    second_metrics: RevelioMetrics
    first_curve: list[ConvergencePoint]
    second_curve: list[ConvergencePoint]
    shared: list[tuple[str, ...]]
    only_first: list[tuple[str, ...]]
    only_second: list[tuple[str, ...]]
    warnings: list[str]


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
        run, config, load_domain(run.campaign.domain), share, left, pace * 60 if pace is not None else None
    )


def best_trials(run: SearchRun, limit: int = 10) -> list[Trial]:
    """Return the sets with the most wrong answers, fewest right ones first among equals."""
    rows = run.trials.filter(fails__gt=0).order_by("-fails", "passes", "order")
    return list(rows.select_related("finding")[:limit])


def convergence(run: SearchRun) -> list[ConvergencePoint]:
    """Return failure modes against inferences, from the findings alone; at most 500 points."""
    found = run.findings.order_by("found_at_inference", "id").values_list("found_at_inference", flat=True)
    points = [ConvergencePoint(0, 0)]
    points += [ConvergencePoint(at, number) for number, at in enumerate(found, start=1)]
    if points[-1].inferences < run.n_inferences:
        points.append(ConvergencePoint(run.n_inferences, points[-1].modes))
    return thin(points)


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
    labels = load_domain(run.campaign.domain).actions
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


def compare_runs(first: SearchRun, second: SearchRun) -> Comparison:
    """Set two runs side by side; what makes them unlike is said in ``warnings``."""
    heads = run_overview(first), run_overview(second)
    modes = [_mode_keys(run) for run in (first, second)]
    return Comparison(
        first=heads[0],
        second=heads[1],
        first_metrics=run_metrics(first),
        second_metrics=run_metrics(second),
        first_curve=convergence(first),
        second_curve=convergence(second),
        shared=_sorted(modes[0] & modes[1]),
        only_first=_sorted(modes[0] - modes[1]),
        only_second=_sorted(modes[1] - modes[0]),
        warnings=_unlike(*heads),
    )


def _mode_keys(run: SearchRun) -> set[tuple[str, ...]]:
    return {
        tuple(concepts) for concepts in Finding.objects.filter(run=run).values_list("concepts", flat=True)
    }


def _sorted(keys: set[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return sorted(keys, key=lambda key: (len(key), key))


def _word(value: object) -> object:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value


def _unlike(first: RunOverview, second: RunOverview) -> list[str]:
    warnings = []
    if first.run.campaign.domain != second.run.campaign.domain:
        warnings.append("The runs search different domains; their sets have nothing in common.")
    elif first.run.campaign.domain_version != second.run.campaign.domain_version:
        warnings.append("The domain changed between the runs.")
    if first.config.algorithm != second.config.algorithm:
        warnings.append(
            f"The algorithms differ ({first.config.algorithm} and {second.config.algorithm}): compare "
            f"failure modes for the same number of inferences, not PFM. {PFM_NOTE}"
        )
    for name in ("failure_rate_threshold", "samples_per_set", "strict", "minimal", "ask_reason"):
        if name == "minimal" and {first.config.algorithm, second.config.algorithm} != {"sits"}:
            continue
        values = getattr(first.config, name), getattr(second.config, name)
        if values[0] != values[1]:
            title = RevelioConfig.model_fields[name].title or name
            warnings.append(f"{title} differs: {_word(values[0])} and {_word(values[1])}.")
    sizes = [f"{side.config.image_width} × {side.config.image_height}" for side in (first, second)]
    if sizes[0] != sizes[1]:
        warnings.append(f"The scenes differ in size: {sizes[0]} and {sizes[1]} pixels.")
    if first.config.is_curtailed != second.config.is_curtailed:
        warnings.append("Only one of the runs stops sets early, so their failure rates cannot be compared.")
    if first.run.n_observations != second.run.n_observations:
        spent = f"{first.run.n_observations:,} and {second.run.n_observations:,}"
        warnings.append(f"They took different numbers of inferences: {spent}.")
    return warnings
