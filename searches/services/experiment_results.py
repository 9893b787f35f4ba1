"""What the runs of an experiment found, as the core's facts; read with few queries, kept while runs stand."""

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db.models import Count, Q

from searches.enums import FINAL_STATES, KEY_SEPARATOR, FindingState
from searches.models import Experiment, Finding, SearchRun, Trial
from searches.services.experiments import experiment_runs
from searches.services.finding_lists import mark_of
from vlmlab.core.errors import ConfigError
from vlmlab.core.revelio.arm_summaries import RunFacts, tau_shares
from vlmlab.core.revelio.config import RevelioConfig, config_from_values
from vlmlab.core.revelio.metrics import ConvergencePoint, SetResult, measure
from vlmlab.core.revelio.types import TrialStatus as CoreStatus

KEPT_RUNS = 1_000
TRIAL_COLUMNS = (
    "run_id", "key", "fails", "passes", "invalid", "status", "is_curtailed", "expected_action",
)  # fmt: skip

_kept: OrderedDict[str, RunFacts] = OrderedDict()
_lock = threading.Lock()


@dataclass(frozen=True)
class ExperimentRun:
    """A run of an experiment with what it found.

    Attributes:
        facts: what is counted; None where this version does not understand its settings.
    """

    run: SearchRun
    arm: str
    run_seed: int
    facts: RunFacts | None


def experiment_results(experiment: Experiment) -> list[ExperimentRun]:
    """Return all runs of an experiment with what they found (at most four queries)."""
    rows = experiment_runs(experiment).select_related("campaign", "sut")
    runs = list(rows.order_by("sut__name", "sut_id", "campaign_id", "pk"))
    known = _facts(runs)
    confirmed = _confirmed(runs)
    return [
        ExperimentRun(
            run,
            str(run.campaign.arm.get("name", "")),
            run.run_seed,
            replace(known[run.pk], confirmed=confirmed.get(run.pk)) if run.pk in known else None,
        )
        for run in runs
    ]


def _facts(runs: Sequence[SearchRun]) -> dict[int, RunFacts]:
    marks = {run.pk: f"{mark_of(run)}-{run.n_inferences}" for run in runs}
    found = {pk: _kept[mark] for pk, mark in marks.items() if mark in _kept}
    missing = [run for run in runs if run.pk not in found]
    fresh = _counted(missing) if missing else {}
    with _lock:
        for pk, facts in fresh.items():
            _kept[marks[pk]] = facts
        while len(_kept) > KEPT_RUNS:
            _kept.popitem(last=False)
    return found | fresh


def _counted(runs: Sequence[SearchRun]) -> dict[int, RunFacts]:
    sets: dict[int, list[SetResult]] = defaultdict(list)
    trials = Trial.objects.filter(run__in=runs).order_by("run_id", "order").values_list(*TRIAL_COLUMNS)
    for run_id, key, fails, passes, invalid, status, is_curtailed, action in trials.iterator(chunk_size=5000):
        sets[run_id].append(
            SetResult(
                tuple(key.split(KEY_SEPARATOR)), fails, passes, invalid, CoreStatus(status), is_curtailed,
                action,
            )
        )  # fmt: skip
    found: dict[int, list[int]] = defaultdict(list)
    at = Finding.objects.filter(run__in=runs).order_by("run_id", "found_at_inference", "id")
    for run_id, inference in at.values_list("run_id", "found_at_inference"):
        found[run_id].append(inference)
    counted = {}
    for run in runs:
        config = _config(run)
        if config is not None:
            counted[run.pk] = _run_facts(run, config, sets[run.pk], found[run.pk])
    return counted


def _run_facts(
    run: SearchRun, config: RevelioConfig, sets: Sequence[SetResult], found: Sequence[int]
) -> RunFacts:
    points = [ConvergencePoint(0, 0)]
    points += [ConvergencePoint(at, number) for number, at in enumerate(found, start=1)]
    if points[-1].inferences < run.n_inferences:
        points.append(ConvergencePoint(run.n_inferences, points[-1].modes))
    return RunFacts(
        arm=str(run.campaign.arm.get("name", "")),
        run_seed=run.run_seed,
        is_final=run.state in FINAL_STATES,
        metrics=measure(sets, needed=config.fails_needed, is_curtailed=config.is_curtailed),
        confirmed=None,
        curve=tuple(points),
        tau_shares=tau_shares(sets, is_curtailed=config.is_curtailed),
        budget=config.inference_budget,
    )


def _config(run: SearchRun) -> RevelioConfig | None:
    try:
        return config_from_values(run.campaign.config)
    except ConfigError:
        return None


def _confirmed(runs: Sequence[SearchRun]) -> dict[int, int]:
    """Return confirmed findings by run, for runs of which any finding was settled."""
    rows = Finding.objects.filter(run__in=runs).exclude(state=FindingState.SUSPECTED).order_by()
    counted = rows.values_list("run_id").annotate(n=Count("pk", filter=Q(state=FindingState.CONFIRMED)))
    return {int(run_id): int(number) for run_id, number in counted}
