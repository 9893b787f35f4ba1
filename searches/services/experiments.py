"""Experiments: groups of ordinary campaigns that differ in known settings; stored, listed, steered."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, QuerySet, Sum
from django.utils import timezone

from searches.enums import ExperimentKind, RunState
from searches.models import Campaign, Experiment, SearchRun, SutRecord, User
from searches.services.audit import record
from searches.services.domain_store import find_domain
from searches.services.modality_progress import state_of
from searches.services.run_states import move_runs
from searches.services.runs import MAX_NAME, RESUMABLE, create_campaign
from vlmlab.core.complaints import checked_settings
from vlmlab.core.errors import ConfigError, VlmLabError
from vlmlab.core.revelio.experiments import ExperimentSpec
from vlmlab.web.numbers import write_many

MOST_RUNS = 300
SENT_TWICE_WITHIN = timedelta(minutes=1)
AT_WORK = frozenset({RunState.QUEUED, RunState.RUNNING})
FRESH: dict[str, Any] = {
    "stalls": 0, "error": "", "hint": "", "error_reference": "", "ending": "", "dispatched_at": None,
}  # fmt: skip


@dataclass(frozen=True)
class ExperimentWish:
    """What somebody wants to find out.

    Attributes:
        spec: domain, systems, arms and run seeds.
        suts: the systems of the specification.
        preset: what it reproduces, "" for nothing.
    """

    name: str
    spec: ExperimentSpec
    suts: Sequence[SutRecord]
    preset: str = ""

    @property
    def kind(self) -> ExperimentKind:
        """What it is for."""
        if self.preset:
            return ExperimentKind.REPRODUCTION
        return ExperimentKind.ABLATION if self.spec.axis else ExperimentKind.COMPARISON


@dataclass(frozen=True)
class ExperimentLine:
    """One row of the list; every number comes from one query for all rows."""

    experiment: Experiment
    spec: ExperimentSpec | None
    by_state: Mapping[str, int]
    n_inferences: int

    @property
    def n_runs(self) -> int:
        """All runs."""
        return sum(self.by_state.values())

    @property
    def n_ended(self) -> int:
        """Runs that have ended by themselves."""
        return self.by_state.get(RunState.SUCCEEDED, 0)

    @property
    def state(self) -> RunState:
        """Its state as a whole, in the words of runs."""
        return state_of(dict(self.by_state))


@transaction.atomic
def create_experiment(wish: ExperimentWish, *, by: User | None) -> Experiment:
    """Store an experiment with a campaign for each run seed and arm, seed by seed.

    Raises:
        VlmLabError: it has too many runs, or a campaign cannot be stored (see ``runs.create_campaign``).
    """
    spec = wish.spec
    if spec.n_runs > MOST_RUNS:
        raise ConfigError(
            f"These are {spec.n_runs} runs; one experiment has at most {MOST_RUNS}.",
            hint="Take fewer run seeds, values, algorithms or systems.",
            field="n_seeds",
        )
    name = wish.name[:MAX_NAME]
    experiment = Experiment.objects.create(
        name=name, kind=wish.kind, preset=wish.preset, spec=spec.model_dump(mode="json"), created_by=by
    )
    for run_seed in spec.run_seeds:
        for arm in spec.arms:
            campaign = create_campaign(
                config=arm.config,
                suts=wish.suts,
                domain_slug=find_domain(spec.domain).slug,
                name=f"{name}: {arm.name}, seed {run_seed}"[:MAX_NAME],
                run_seed=run_seed,
                by=by,
            )
            told = {"name": arm.name, "algorithm": arm.algorithm, "value": arm.value, "seed": run_seed}
            Campaign.objects.filter(pk=campaign.pk).update(experiment=experiment, arm=told)
    record(by, "started", experiment, after={"runs": spec.n_runs, "spec": experiment.spec})
    return experiment


def just_started(wish: ExperimentWish, *, by: User | None) -> Experiment | None:
    """Return the very same experiment if this person started it a moment ago: a form that was sent twice."""
    if by is None:
        return None
    User.objects.select_for_update().get(pk=by.pk)
    recent = Experiment.objects.filter(
        created_by=by, name=wish.name[:MAX_NAME], preset=wish.preset,
        created_at__gt=timezone.now() - SENT_TWICE_WITHIN,
    )  # fmt: skip
    spec = wish.spec.model_dump(mode="json")
    return next((one for one in recent.order_by("-pk")[:5] if one.spec == spec), None)


def spec_of(experiment: Experiment) -> ExperimentSpec:
    """Return what an experiment was made from.

    Raises:
        ConfigError: this version does not understand what is stored.
    """
    return checked_settings(ExperimentSpec, experiment.spec)


def experiments() -> QuerySet[Experiment]:
    """Return all experiments with who made them, newest first."""
    return Experiment.objects.select_related("created_by").order_by("-id")


def find_experiment(pk: int) -> Experiment | None:
    """Return one experiment."""
    return experiments().filter(pk=pk).first() if pk < 2**63 else None


def experiment_runs(experiment: Experiment) -> QuerySet[SearchRun]:
    """Return the runs of an experiment; follow-ups of them are none."""
    return SearchRun.objects.filter(campaign__experiment=experiment)


def experiment_lines(rows: Sequence[Experiment]) -> list[ExperimentLine]:
    """Return the rows of a list (one query however many they are)."""
    states: dict[int, dict[str, int]] = defaultdict(dict)
    spent: dict[int, int] = defaultdict(int)
    counted = SearchRun.objects.filter(campaign__experiment__in=rows).order_by()
    for row in counted.values("campaign__experiment", "state").annotate(
        n=Count("pk"), asked=Sum("n_inferences")
    ):
        states[row["campaign__experiment"]][str(row["state"])] = int(row["n"])
        spent[row["campaign__experiment"]] += int(row["asked"] or 0)
    return [ExperimentLine(one, _readable(one), states[one.pk], spent[one.pk]) for one in rows]


@transaction.atomic
def pause_experiment(experiment: Experiment, *, by: User | None) -> int:
    """Halt all runs that wait or work, and return how many; batches in hand are still kept.

    Raises:
        VlmLabError: nothing of it waits or works.
    """
    moved = move_runs(experiment_runs(experiment), frm=AT_WORK, to=RunState.PAUSED, error="", hint="")
    return _told(experiment, moved, by=by, verb="paused")


@transaction.atomic
def resume_experiment(experiment: Experiment, *, by: User | None) -> int:
    """Queue all runs again that were paused, failed or ended early, and return how many.

    Raises:
        VlmLabError: there is none.
    """
    moved = move_runs(experiment_runs(experiment), frm=RESUMABLE, to=RunState.QUEUED, **FRESH)
    return _told(experiment, moved, by=by, verb="resumed")


@transaction.atomic
def cancel_experiment(experiment: Experiment, *, by: User | None) -> int:
    """End all runs that have not ended, those at work after the batch in hand, and return how many.

    Raises:
        VlmLabError: all have ended already.
    """
    rows = experiment_runs(experiment)
    moved = move_runs(rows, frm=(RunState.QUEUED, RunState.PAUSED), to=RunState.CANCELLED)
    moved += move_runs(rows, frm=RunState.RUNNING, to=RunState.CANCELLING)
    return _told(experiment, moved, by=by, verb="ended")


def default_name(spec: ExperimentSpec) -> str:
    """Return a name that says what is varied: ``Beam width k, driving``."""
    domain = find_domain(spec.domain).title
    if spec.axis:
        return f"{spec.axis_title}, {domain}"
    return f"{write_many(len(spec.arms), 'algorithm')}, {domain}"


def _told(experiment: Experiment, moved: int, *, by: User | None, verb: str) -> int:
    if not moved:
        raise VlmLabError(
            f"No run of this experiment can be {verb}.",
            hint="Reload the page to see what happened meanwhile.",
        )
    record(by, verb, experiment, after={"runs": moved})
    return moved


def _readable(experiment: Experiment) -> ExperimentSpec | None:
    try:
        return spec_of(experiment)
    except ConfigError:
        return None
