"""The table of algorithms, and the one way to build a concept-set search."""

from collections.abc import Callable

from vlmlab.core.revelio.baseline import RandomSearch
from vlmlab.core.revelio.beam import BeamSearch
from vlmlab.core.revelio.config import Algorithm, RevelioConfig
from vlmlab.core.revelio.sits import SitsSearch
from vlmlab.core.revelio.space import SearchDomain, SearchSpace, build_space
from vlmlab.core.revelio.thompson import GptsSearch
from vlmlab.core.revelio.trials import ConceptSetSearch

SEARCHES: dict[Algorithm, Callable[..., ConceptSetSearch]] = {
    "random": RandomSearch,
    "beam": BeamSearch,
    "gpts": GptsSearch,
    "sits": SitsSearch,
}


def build_search(
    config: RevelioConfig, *, domain: SearchDomain, run_seed: int, space: SearchSpace | None = None
) -> ConceptSetSearch:
    """Return a fresh search; the same arguments give the same asks.

    Args:
        config: what to search and how.
        domain: catalogue and valid sets.
        run_seed: the number all randomness of the run comes from.
        space: the sets to search, when they are not all that domain and configuration allow.

    Raises:
        ConfigError: the configuration leaves no set to search.
        ConceptError: it names an unknown concept.
    """
    searched = build_space(domain, config) if space is None else space
    return SEARCHES[config.algorithm](config, space=searched, run_seed=run_seed)
