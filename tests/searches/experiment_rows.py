"""Experiments and transfers with rows as if their runs had ended; counts are said, nothing is random."""

from collections.abc import Callable, Sequence
from typing import Any

from django.utils import timezone

from searches.enums import RunState, TrialStatus
from searches.models import Experiment, Finding, FollowUpItem, SearchRun, SutRecord, Trial
from searches.services.experiments import ExperimentWish, create_experiment
from tests.factories import make_sut
from vlmlab.core.revelio.experiments import make_arms, make_spec
from vlmlab.core.scenes.catalogue import load_domain

KEYS = ("cone", "debris_far", "cyclist", "obstruction_near", "chain_barrier_far", "bus_stop", "garbage_bin")


def make_wish(
    suts: Sequence[SutRecord] = (),
    *,
    algorithms: Sequence[str] = ("random", "beam"),
    axis: str = "",
    values: Sequence[str] = (),
    seeds: Sequence[int] = (1, 2, 3),
    domain: str = "driving",
    preset: str = "",
    name: str = "Beam against random",
    **base: Any,
) -> ExperimentWish:
    suts = list(suts) or [make_sut()]
    spec = make_spec(
        domain=load_domain(domain).ref,
        suts=tuple(sut.slug for sut in suts),
        axis=axis,
        arms=make_arms({"inference_budget": 35} | base, algorithms, axis=axis, values=values),
        run_seeds=tuple(seeds),
    )
    return ExperimentWish(name, spec, suts, preset)


def fill_run(run: SearchRun, fails: Sequence[int], *, m: int = 5, is_curtailed: bool = False) -> None:
    """Write a full set for each number of wrong answers; the first half expects a stop, the rest to go on."""
    modes = 0
    for order, wrong in enumerate(fails):
        is_mode = wrong >= 3
        trial = Trial.objects.create(
            run=run, order=order, key=KEYS[order], concepts=[KEYS[order]], size=1, fails=wrong,
            passes=m - wrong,
            expected_action="emergency_stop" if order < len(fails) / 2 else "continue",
            status=TrialStatus.DECIDED_FAIL if is_mode else TrialStatus.DECIDED_PASS,
            is_curtailed=is_curtailed,
        )  # fmt: skip
        if is_mode:
            modes += 1
            Finding.objects.create(
                run=run, trial=trial, sut=run.sut, domain=run.campaign.domain,
                domain_version=run.campaign.domain_version, key=trial.key, concepts=trial.concepts, size=1,
                fails=wrong, n=m, expected_action=trial.expected_action, found_at_inference=5 * (order + 1),
                is_curtailed=is_curtailed,
            )  # fmt: skip
    asked = m * len(fails)
    SearchRun.objects.filter(pk=run.pk).update(
        state=RunState.SUCCEEDED, finished_at=timezone.now(), n_inferences=asked, n_observations=asked,
        n_trials=len(fails), n_decided=len(fails), n_modes=modes, step=1, active_seconds=10.0,
    )  # fmt: skip


def by_arm(run: SearchRun) -> Sequence[int]:
    """Return wrong answers: the beam finds one mode more than random, the seed adds some."""
    seed = run.run_seed % 3
    return (5, 4 if run.campaign.arm["algorithm"] == "beam" else 1, 3 if seed else 0, 0, 1, 0, 0)


def make_experiment(
    suts: Sequence[SutRecord] = (),
    *,
    fails: Callable[[SearchRun], Sequence[int]] | None = by_arm,
    **wish: Any,
) -> Experiment:
    """Make an experiment; its runs wait where ``fails`` is None."""
    experiment = create_experiment(make_wish(suts, **wish), by=None)
    if fails is not None:
        rows = SearchRun.objects.filter(campaign__experiment=experiment).select_related("campaign", "sut")
        for run in rows:
            fill_run(run, fails(run), m=run.campaign.config["samples_per_set"])
    return experiment


def answer_items(campaign: Any, rate_of: Callable[[FollowUpItem], int], *, n: int = 20) -> None:
    """Write measured counts for all items of a follow-up and end its runs."""
    for item in FollowUpItem.objects.filter(campaign=campaign).select_related("run__sut"):
        fails = rate_of(item)
        FollowUpItem.objects.filter(pk=item.pk).update(
            state="measured", reason="complete", fails=fails, n=n,
            numbers={"arms": [{"key": item.concepts, "variant": "", "fails": fails, "invalid": 0}]},
        )  # fmt: skip
    campaign.runs.update(state=RunState.SUCCEEDED, n_inferences=n * 10)
