"""What a search will take before it is started: runs, inferences, sets, time, money, the shell's command."""

from collections.abc import Sequence
from dataclasses import dataclass

from searches.models import SutRecord
from searches.services.domain_store import find_domain
from searches.services.estimates import Estimate, estimate
from vlmlab.core.revelio.bench import algorithm_name
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.space import allowed_masks
from vlmlab.core.scenes.render.backends import EMBEDDED

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


def plan_search(
    config: RevelioConfig, suts: Sequence[SutRecord], *, domain_slug: str, run_seed: int
) -> SearchPlan:
    """Return what a search on these systems will take.

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
            shell_command(config, sut.slug, domain_slug=domain_slug, run_seed=run_seed) for sut in suts
        ),
    )


def shell_command(config: RevelioConfig, sut_slug: str, *, domain_slug: str, run_seed: int) -> str:
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
        f"  --budget {config.inference_budget} --seed {run_seed}{params} \\\n"
        "  --json result.json"
    )


def _shell_value(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value).lower()
