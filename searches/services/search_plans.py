"""What a search will take before it is started: runs, inferences, sets, time, money, the shell's command."""

from collections.abc import Sequence
from dataclasses import dataclass

from searches.models import SutRecord
from searches.services.domain_store import find_domain
from searches.services.estimates import Estimate, estimate
from searches.services.wanted_confirmations import WantedConfirmation, with_confirmation
from vlmlab.core.complaints import checked_settings
from vlmlab.core.revelio.bench import algorithm_name
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.space import allowed_masks
from vlmlab.core.scenes.render.backends import EMBEDDED
from vlmlab.core.verdicts.config import ConfirmConfig
from vlmlab.web.numbers import write_many

NAMED_BY_OPTIONS = frozenset({"algorithm", "inference_budget", "backend"})


@dataclass(frozen=True)
class SutEstimate:
    """What the run of one system will take."""

    sut: SutRecord
    estimate: Estimate


@dataclass(frozen=True)
class SearchPlan:
    """Everything a person should know before the search starts.

    Attributes:
        n_inferences: at most, in all runs.
        n_sets: valid concept sets under the settings.
        seconds: sum over the runs.
        cost_usd, most_usd: expected cost and its upper bound, summed over the runs whose price is known.
        unpriced: names of the systems whose price is unknown.
        lines: one for each system.
        shell: the commands that start the same.
        confirmation: what a confirmation of what is found adds, "" without one.
    """

    n_runs: int
    n_inferences: int
    n_sets: int
    seconds: float
    cost_usd: float
    most_usd: float
    unpriced: tuple[str, ...]
    lines: tuple[SutEstimate, ...]
    shell: tuple[str, ...]
    confirmation: str = ""


def plan_search(
    config: RevelioConfig,
    suts: Sequence[SutRecord],
    *,
    domain_slug: str,
    run_seed: int,
    wanted: WantedConfirmation | None = None,
) -> SearchPlan:
    """Return what a search on these systems will take, with a confirmation that has a share of its budget.

    Raises:
        VlmLabError: the domain is unknown, or no set is left to search.
    """
    lines = tuple(SutEstimate(sut, estimate(sut, config, domain_slug=domain_slug)) for sut in suts)
    return SearchPlan(
        n_runs=len(lines),
        n_inferences=len(lines) * config.inference_budget,
        n_sets=len(allowed_masks(find_domain(domain_slug), config)),
        seconds=sum(line.estimate.seconds for line in lines),
        cost_usd=sum(line.estimate.cost_usd or 0.0 for line in lines),
        most_usd=sum(line.estimate.most_usd or 0.0 for line in lines),
        unpriced=tuple(line.sut.name for line in lines if line.estimate.cost_usd is None),
        lines=lines,
        shell=tuple(
            shell_command(config, sut.slug, domain_slug=domain_slug, run_seed=run_seed, wanted=wanted)
            for sut in suts
        ),
        confirmation=_confirmation(config, wanted, n_runs=len(lines)),
    )


def _confirmation(config: RevelioConfig, wanted: WantedConfirmation | None, *, n_runs: int) -> str:
    """Return what a confirmation adds to a search, in words."""
    if wanted is None:
        return ""
    searched = with_confirmation(config, wanted)[0]
    kept = config.inference_budget - searched.inference_budget
    if kept:
        return (
            f"Of these inferences up to {n_runs * kept:,} are kept for the confirmation; what it does not "
            "need is not spent."
        )
    settings = checked_settings(ConfirmConfig, wanted.values)
    return (
        f"The confirmation comes on top: at most {write_many(settings.max_samples, 'fresh scene')} for each "
        "failure mode, fewer where the evidence is clear."
    )


def shell_command(
    config: RevelioConfig,
    sut_slug: str,
    *,
    domain_slug: str,
    run_seed: int,
    wanted: WantedConfirmation | None = None,
) -> str:
    """Return the command that starts the same run from a shell."""
    settings = {
        name: value
        for name, value in config.model_dump().items()
        if value != type(config).model_fields[name].default and name not in NAMED_BY_OPTIONS
    }
    backend = "" if config.backend == EMBEDDED else f" --backend {config.backend}"
    params = "".join(f" \\\n  --param {name}={_shell_value(value)}" for name, value in settings.items())
    return (
        f"python manage.py run_search --method revelio --sut {sut_slug} \\\n"
        f"  --domain {domain_slug}{backend} --algorithm {algorithm_name(config)} \\\n"
        f"  --budget {config.inference_budget} --seed {run_seed}{_confirm_option(wanted)}{params} \\\n"
        "  --json result.json"
    )


def _confirm_option(wanted: WantedConfirmation | None) -> str:
    if wanted is None:
        return ""
    return " --confirm extra" if wanted.mode == "extra" else f" --confirm share={wanted.share:g}"


def _shell_value(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value).lower()
