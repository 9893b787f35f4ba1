"""The table of algorithms, and the one way to build a modality search."""

from collections.abc import Callable

from vlmlab.core.most.config import Algorithm, MostConfig
from vlmlab.core.most.nsga2 import Nsga2Search
from vlmlab.core.most.random_search import RandomSearch
from vlmlab.core.most.screen import ScreenSearch
from vlmlab.core.most.strategy_search import StrategySearch
from vlmlab.core.most.types import SearchTarget

SEARCHES: dict[Algorithm, Callable[..., StrategySearch]] = {
    "screen": ScreenSearch,
    "nsga2": Nsga2Search,
    "random": RandomSearch,
}


def build_search(config: MostConfig, *, target: SearchTarget, run_seed: int) -> StrategySearch:
    """Return a fresh search; the same arguments give the same asks.

    Args:
        config: what to search and how.
        target: the strategies of the regime, their fidelity, and the clean IoU.
        run_seed: the number all randomness of the run comes from.
    """
    return SEARCHES[config.algorithm](config, target=target, run_seed=run_seed)
