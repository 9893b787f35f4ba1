"""What an experiment will take before it is started: runs, inferences, time, money."""

from collections.abc import Sequence
from dataclasses import dataclass

from searches.models import SutRecord
from searches.services.estimates import Estimate, estimate, round_duration
from searches.services.experiments import MOST_RUNS
from vlmlab.core.revelio.experiments import ExperimentSpec


@dataclass(frozen=True)
class SystemPlan:
    """What one system will take: ``first`` is the estimate of one run of the first arm."""

    sut: SutRecord
    seconds: float
    cost_usd: float | None
    first: Estimate


@dataclass(frozen=True)
class ExperimentPlan:
    """Everything a person should know before an experiment starts.

    Attributes:
        seconds: sum over all runs, on one worker.
        cost_usd, most_usd: expected cost and its upper bound over systems whose price is known.
        unpriced: names of the systems whose price is unknown.
        is_too_large: whether it has more runs than one experiment may have.
    """

    spec: ExperimentSpec
    seconds: float
    cost_usd: float
    most_usd: float
    unpriced: tuple[str, ...]
    lines: tuple[SystemPlan, ...]

    @property
    def is_too_large(self) -> bool:
        """Whether it has more runs than one experiment may have."""
        return self.spec.n_runs > MOST_RUNS


def plan_experiment(spec: ExperimentSpec, suts: Sequence[SutRecord]) -> ExperimentPlan:
    """Return what an experiment will take; arms with the same budget are estimated once.

    Raises:
        VlmLabError: the domain is unknown.
    """
    n_seeds = len(spec.run_seeds)
    lines, most, unpriced = [], 0.0, []
    for sut in suts:
        known: dict[tuple[object, ...], Estimate] = {}
        found = []
        for arm in spec.arms:
            config = arm.config
            key = (config.inference_budget, config.ask_reason, config.wall_clock_budget_s, config.slots)
            if key not in known:
                known[key] = estimate(sut, config, domain_slug=spec.domain)
            found.append(known[key])
        costs = [one.cost_usd for one in found if one.cost_usd is not None]
        if len(costs) < len(found):
            unpriced.append(sut.name)
        most += n_seeds * sum(one.most_usd or 0.0 for one in found)
        cost = n_seeds * sum(costs) if len(costs) == len(found) else None
        lines.append(SystemPlan(sut, n_seeds * sum(one.seconds for one in found), cost, found[0]))
    return ExperimentPlan(
        spec=spec,
        seconds=round_duration(sum(line.seconds for line in lines)),
        cost_usd=sum(line.cost_usd or 0.0 for line in lines),
        most_usd=most,
        unpriced=tuple(unpriced),
        lines=tuple(lines),
    )
