"""Experiments from a shell: settings as options, found again by number, and how they ended."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from searches.models import Experiment, SutRecord
from searches.services.domain_store import find_domain
from searches.services.experiments import (
    ExperimentWish,
    default_name,
    experiment_runs,
    find_experiment,
    resume_experiment,
)
from searches.services.runs import RESUMABLE
from searches.services.shell_work import check_all_ended, free_the_dead
from vlmlab.core.errors import ConfigError
from vlmlab.core.revelio.experiments import MOST_SEEDS, make_arms, make_spec, read_values
from vlmlab.core.revelio.published import published
from vlmlab.core.verdicts.reproduction import REPRODUCTIONS

DEFAULT_ALGORITHMS = "random,beam,gpts,sits-minimal"
DEFAULT_BUDGET = 200
DEFAULT_SEEDS = 3


@dataclass(frozen=True)
class ShellExperiment:
    """What somebody at a shell wants to find out; empty texts and None stand for the preset's, or defaults.

    Attributes:
        suts, algorithms, values: names or values with commas.
        scale: part of the published budget, where a preset is named.
        params: further settings of every arm.
    """

    suts: str
    domain: str = ""
    preset: str = ""
    scale: float = 1.0
    algorithms: str = ""
    axis: str = ""
    values: str = ""
    n_seeds: int = DEFAULT_SEEDS
    first_seed: int = 0
    budget: int | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""


def shell_wish(asked: ShellExperiment) -> ExperimentWish:
    """Return what is to be stored.

    Raises:
        VlmLabError: a name or value is unknown or out of range; ``field`` names the option.
    """
    found = REPRODUCTIONS.get(asked.preset)
    if asked.preset and (found is None or not found.starts_experiment):
        known = ", ".join(slug for slug, one in REPRODUCTIONS.items() if one.starts_experiment)
        raise ConfigError(f"Nothing is called “{asked.preset}”.", hint=f"Known: {known}.", field="preset")
    if not 1 <= asked.n_seeds <= MOST_SEEDS or asked.first_seed < 0:
        raise ConfigError(
            f"--seeds takes a whole number from 1 to {MOST_SEEDS}, --first-seed one from 0.", field="seeds"
        )
    suts = _suts(asked.suts)
    domain = find_domain(asked.domain or (found.domains[0] if found else "driving"))
    algorithms = read_values(asked.algorithms) or list(found.algorithms if found else ())
    axis = asked.axis or (found.axis if found else "")
    values = read_values(asked.values) or list(found.values if found else ())
    full = published().setting.inference_budget if found else DEFAULT_BUDGET
    budget = asked.budget if asked.budget is not None else max(1, round(asked.scale * full))
    arms = make_arms(
        {"inference_budget": budget, **asked.params},
        algorithms or read_values(DEFAULT_ALGORITHMS),
        axis=axis,
        values=values,
    )
    spec = make_spec(
        domain=domain.ref,
        suts=tuple(sut.slug for sut in suts),
        axis=axis,
        arms=arms,
        run_seeds=tuple(asked.first_seed + number for number in range(asked.n_seeds)),
    )
    name = asked.name or (f"{found.paper}, {found.label}: {found.title}" if found else default_name(spec))
    return ExperimentWish(name, spec, suts, asked.preset)


def open_experiment(number: int) -> Experiment:
    """Return an experiment whose halted runs are queued again.

    Raises:
        VlmLabError: there is none of this number.
    """
    free_the_dead()
    experiment = find_experiment(number)
    if experiment is None:
        raise ConfigError(f"There is no experiment {number}.", hint="Look at the list of experiments.")
    if experiment_runs(experiment).filter(state__in=RESUMABLE).exists():
        resume_experiment(experiment, by=None)
    return experiment


def check_ended(experiment: Experiment) -> None:
    """Make sure that every run of an experiment has ended by itself.

    Raises:
        VlmLabError: some have not; the message says why.
    """
    check_all_ended(experiment_runs(experiment), go_on=f"--resume {experiment.pk}")


def _suts(text: str) -> Sequence[SutRecord]:
    slugs = read_values(text)
    if not slugs:
        raise ConfigError("No system is named.", hint="Name one with --sut, such as pocket.", field="sut")
    found = {sut.slug: sut for sut in SutRecord.objects.filter(slug__in=slugs)}
    missing = [slug for slug in slugs if slug not in found]
    if missing:
        known = ", ".join(SutRecord.objects.order_by("slug").values_list("slug", flat=True)[:20])
        hint = f"Registered: {known}." if known else "Run `manage.py load_sample_data` or register one."
        raise ConfigError(f"There is no system called “{missing[0]}”.", hint=hint, field="sut")
    return [found[slug] for slug in slugs]
