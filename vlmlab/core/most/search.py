"""The table of algorithms, and the one way to build a modality search."""

from collections.abc import Callable, Sequence

from vlmlab.core.errors import ConfigError
from vlmlab.core.most.config import Algorithm, MostConfig
from vlmlab.core.most.genotype import OperatorSpace, operator_space
from vlmlab.core.most.nsga2 import Nsga2Search
from vlmlab.core.most.random_search import RandomSearch
from vlmlab.core.most.screen import ScreenSearch
from vlmlab.core.most.strategy_search import StrategySearch
from vlmlab.core.most.sweep import SweepSearch
from vlmlab.core.most.types import Regime, SearchTarget

SEARCHES: dict[Algorithm, Callable[..., StrategySearch]] = {
    "screen": ScreenSearch,
    "nsga2": Nsga2Search,
    "random": RandomSearch,
    "sweep": SweepSearch,
}


def build_space(
    config: MostConfig, *, regime: Regime, image_operators: Sequence[str], text_operators: Sequence[str]
) -> OperatorSpace:
    """Return the strategies that a configuration allows in one regime.

    Args:
        config: budget, severities, and operators to leave out.
        regime: what may be perturbed.
        image_operators: all names, in their physical order.
        text_operators: all names, in their order.

    Raises:
        ConfigError: an operator to leave out is unknown, or none is left.
    """
    excluded = set(config.excluded_operators)
    known = [*image_operators, *text_operators]
    unknown = sorted(excluded - set(known))
    if unknown:
        raise ConfigError(
            f"There is no operator called “{unknown[0]}”.",
            hint=f"Known: {', '.join(known)}.",
            field="excluded_operators",
        )
    active = {"image": image_operators, "text": text_operators, "joint": known}[regime]
    if excluded >= set(active):
        raise ConfigError(
            f"No operator is left for the regime {regime}.",
            hint="Leave out fewer operators, or leave out the regime.",
            field="excluded_operators",
        )
    return operator_space(
        regime,
        image_operators=image_operators,
        text_operators=text_operators,
        excluded=config.excluded_operators,
        perturbation_budget=config.perturbation_budget,
        smallest_severity=config.smallest_severity,
        largest_initial_severity=config.largest_initial_severity,
    )


def build_search(config: MostConfig, *, target: SearchTarget, run_seed: int) -> StrategySearch:
    """Return a fresh search; the same arguments give the same asks.

    Args:
        config: what to search and how.
        target: the strategies of the regime, their fidelity, and the clean IoU.
        run_seed: the number all randomness of the run comes from.
    """
    return SEARCHES[config.algorithm](config, target=target, run_seed=run_seed)
