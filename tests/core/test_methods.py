"""The table of methods is complete and works."""

from vlmlab.core.methods import METHODS
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.trials import ConceptSetSearch
from vlmlab.core.scenes.catalogue import load_domain


def test_revelio_is_registered_under_its_name():
    assert {name: entry.name for name, entry in METHODS.items()} == {"revelio": "revelio"}
    assert METHODS["revelio"].config_type is RevelioConfig


def test_a_registered_search_asks_sets_of_the_domain():
    domain = load_domain("driving")

    search = METHODS["revelio"].build_search(RevelioConfig(), domain=domain, run_seed=1)

    assert isinstance(search, ConceptSetSearch)
    assert all(domain.is_compatible(query.key) for query in search.ask())
