"""The one table of search methods that a site sees: configuration, search, and how a query is evaluated."""

from collections.abc import Callable
from dataclasses import dataclass

from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.evaluate import PreparedSample, SampleRecord, prepare_sample, read_reply
from vlmlab.core.revelio.search import build_search
from vlmlab.core.revelio.trials import ConceptSetSearch


@dataclass(frozen=True)
class MethodEntry:
    """One method.

    Attributes:
        name: stored with campaigns.
        title: for people.
        config_type: the frozen settings.
        build_search: ``(config, *, domain, run_seed)`` -> a fresh search.
        prepare: ``(query, *, domain, source, config, run_seed)`` -> scene and question.
        read: ``(prepared, reply)`` -> verdict and all that a finding shows.
    """

    name: str
    title: str
    config_type: type[RevelioConfig]
    build_search: Callable[..., ConceptSetSearch]
    prepare: Callable[..., PreparedSample]
    read: Callable[..., SampleRecord]


METHODS: dict[str, MethodEntry] = {
    entry.name: entry
    for entry in (
        MethodEntry(
            name="revelio",
            title="Concept sets (Revelio)",
            config_type=RevelioConfig,
            build_search=build_search,
            prepare=prepare_sample,
            read=read_reply,
        ),
    )
}
