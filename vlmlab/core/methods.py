"""The tables of search methods that a site sees: configuration, search, and how a query is evaluated.

Two kinds of method, because they search different things: sets of concepts of a domain (``METHODS``), and
perturbations of an annotated picture and its prompt (``MODALITY_METHODS``). No name stands in both.
"""

from collections.abc import Callable
from dataclasses import dataclass

from vlmlab.core.most.config import MostConfig
from vlmlab.core.most.evaluate import BoxAnswer, Perturber, read_answer
from vlmlab.core.most.genotype import OperatorSpace
from vlmlab.core.most.search import build_search as build_modality_search
from vlmlab.core.most.search import build_space
from vlmlab.core.most.strategy_search import StrategySearch
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.evaluate import PreparedSample, SampleRecord, prepare_sample, read_reply
from vlmlab.core.revelio.search import build_search
from vlmlab.core.revelio.trials import ConceptSetSearch


@dataclass(frozen=True)
class MethodEntry:
    """One method that searches sets of concepts.

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


@dataclass(frozen=True)
class ModalityEntry:
    """One method that searches perturbations of seed images.

    Attributes:
        name: stored with campaigns.
        title: for people.
        config_type: the frozen settings.
        build_space: ``(config, *, regime, image_operators, text_operators)`` -> the strategies of a regime.
        make_perturber: ``(seed_image, *, space, run_seed, embed, text_operators, on_progress)`` -> what
            strategies do.
        build_search: ``(config, *, target, run_seed)`` -> a fresh search.
        read: ``(reply, *, truth, convention, image_size)`` -> status and boxes, strict and lenient.
    """

    name: str
    title: str
    config_type: type[MostConfig]
    build_space: Callable[..., OperatorSpace]
    make_perturber: Callable[..., Perturber]
    build_search: Callable[..., StrategySearch]
    read: Callable[..., BoxAnswer]


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

MODALITY_METHODS: dict[str, ModalityEntry] = {
    entry.name: entry
    for entry in (
        ModalityEntry(
            name="most",
            title="Modalities (MoST)",
            config_type=MostConfig,
            build_space=build_space,
            make_perturber=Perturber,
            build_search=build_modality_search,
            read=read_answer,
        ),
    )
}

METHOD_TITLES: dict[str, str] = {name: entry.title for name, entry in (METHODS | MODALITY_METHODS).items()}
"""Name of every method of either kind -> its title."""
