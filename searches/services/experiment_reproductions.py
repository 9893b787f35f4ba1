"""What of the papers can be done again: cards with what was started so far, and one of them in full."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import NoReverseMatch, reverse

from searches.models import Experiment
from searches.services.experiment_published import inconsistencies_of, write_measure
from searches.services.experiments import ExperimentLine, experiment_lines
from vlmlab.core.revelio.inconsistencies import Inconsistency
from vlmlab.core.revelio.published import (
    PAPER_ALGORITHMS,
    PAPER_DOMAINS,
    ConceptRow,
    PairRow,
    PublishedTables,
    RetestRow,
    TopSets,
    TransferRow,
    published,
)
from vlmlab.core.revelio.published_cells import published_rows
from vlmlab.core.verdicts.reproduction import REPRODUCTIONS, WAYS, Reproduction

DOMAIN_TITLES = {"driving": "Driving", "indoor": "Kitchen"}
ALGORITHM_TITLES = {"random": "Random", "bs": "Beam", "gpts": "gpts"}
MOST_LISTED = 20
MOST_WORDS = {
    "models": "Systems",
    "scene_types": "Scene types",
    "regimes": "Regimes",
    "seeds_per_scene": "Seed images a scene type",
    "runs": "Runs in all",
    "population": "Population",
    "generations": "Generations",
    "max_evals": "Evaluations a run, at most",
    "B_total": "Perturbation budget",
    "baseline_iou": "IoU of the clean answer, at least",
}


@dataclass(frozen=True)
class ReproductionCard:
    """One card: how often it was started here, and how much in it does not fit."""

    reproduction: Reproduction
    n_started: int
    n_inconsistencies: int

    @property
    def way(self) -> str:
        """How it is done, in words."""
        return WAYS[self.reproduction.way]


@dataclass(frozen=True)
class PaperTable:
    """A published table as text: title, head, rows."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class ReproductionPage:
    """Everything of one of them.

    Attributes:
        address: of the page that shows or starts it, where that is no experiment.
        tables: as published; empty where no numbers come with the lab.
        lines: experiments that reproduce it, newest first.
        base: what it builds on.
    """

    reproduction: Reproduction
    way: str
    address: str
    tables: tuple[PaperTable, ...]
    inconsistencies: tuple[Inconsistency, ...]
    lines: tuple[ExperimentLine, ...]
    base: Reproduction | None


def reproduction_cards() -> list[tuple[str, list[ReproductionCard]]]:
    """Return the cards by paper (one query)."""
    started = Counter(Experiment.objects.exclude(preset="").values_list("preset", flat=True))
    papers: dict[str, list[ReproductionCard]] = {}
    for one in REPRODUCTIONS.values():
        card = ReproductionCard(one, started[one.slug], len(inconsistencies_of(one)))
        papers.setdefault(one.paper, []).append(card)
    return list(papers.items())


def reproduction_page(slug: str) -> ReproductionPage | None:
    """Return one of them in full, None for an unknown name (two queries)."""
    found = REPRODUCTIONS.get(slug)
    if found is None:
        return None
    slugs = [slug, found.builds_on] if found.builds_on and not found.starts_experiment else [slug]
    rows = Experiment.objects.filter(preset__in=slugs).order_by("-pk")[:MOST_LISTED]
    return ReproductionPage(
        reproduction=found,
        way=WAYS[found.way],
        address=_address(found.page),
        tables=tuple(paper_tables(found)),
        inconsistencies=tuple(inconsistencies_of(found)),
        lines=tuple(experiment_lines(list(rows))),
        base=REPRODUCTIONS.get(found.builds_on),
    )


def paper_tables(one: Reproduction) -> list[PaperTable]:
    """Return the published numbers of a table, one table a domain."""
    if one.paper == "MoST":
        return [] if one.way == "unknown" else [_most_setting()]
    if not one.number:
        return []
    tables, number = published(), one.number
    if number in (2, 6, 7, 8, 9, 10):
        return [found for domain in one.domains if (found := _measured(tables, number, domain))]
    simple: dict[int, list[PaperTable]] = {
        1: [_retests([row for row in tables.table_1 if row.domain == one], one) for one in PAPER_DOMAINS],
        3: [_transfer(tables.table_3)],
        11: _top_sets(tables.table_11),
        12: _top_sets(tables.table_12),
        13: [_concepts(tables.table_13)],
        14: [_concepts(tables.table_14)],
        15: [_pairs(tables.table_15)],
        16: [_pairs(tables.table_16)],
    }
    return simple.get(number, [])


def _most_setting() -> PaperTable:
    """Return what is known of the published searches of MoST; no numbers of its tables are."""
    known = published().most
    return PaperTable(
        "Setting of the searches; no result is at hand",
        ("Setting", "Value"),
        tuple((MOST_WORDS[name], _plain(known[name])) for name in MOST_WORDS),
    )


def _plain(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def _measured(tables: PublishedTables, number: int, domain: Any) -> PaperTable | None:
    rows = published_rows(tables, number, domain)
    if not rows:
        return None
    keys = list(rows[0].cells)
    head = tuple(
        f"{key.algorithm}{f', {key.value}' if key.value else ''}: "
        f"{ {'pfm': 'PFM', 'mfr': 'MFR', 'diversity': 'Div'}[key.measure] }"
        for key in keys
    )
    return PaperTable(
        DOMAIN_TITLES[domain],
        ("System", *head),
        tuple((row.model, *(write_measure(key.measure, row.cells.get(key)) for key in keys)) for row in rows),
    )


def _retests(rows: Sequence[RetestRow], domain: str) -> PaperTable:
    return PaperTable(
        DOMAIN_TITLES[domain],
        ("System", *(ALGORITHM_TITLES[name] for name in PAPER_ALGORITHMS)),
        tuple(
            (
                row.model,
                *(
                    f"{row.of(name).mean:g} ± {row.of(name).sd:g} %, {row.of(name).reached} of "
                    f"{row.of(name).sets}"
                    for name in PAPER_ALGORITHMS
                ),
            )
            for row in rows
        ),
    )


def _transfer(rows: Sequence[TransferRow]) -> PaperTable:
    head = [f"{DOMAIN_TITLES[domain]}: {ALGORITHM_TITLES[name]}" for domain in PAPER_DOMAINS
            for name in PAPER_ALGORITHMS]  # fmt: skip
    return PaperTable(
        "Top sets of Gemini (medium) on other systems",
        ("Target", *head),
        tuple(
            (
                row.target,
                *(
                    f"{getattr(row.on(domain), name):g} %"
                    for domain in PAPER_DOMAINS
                    for name in PAPER_ALGORITHMS
                ),
            )
            for row in rows
        ),
    )


def _top_sets(blocks: Sequence[TopSets]) -> list[PaperTable]:
    rows = tuple(
        (block.model, ALGORITHM_TITLES[name], " + ".join(one))
        for block in blocks
        for name in PAPER_ALGORITHMS
        for one in block.of(name)
    )
    return [PaperTable("Five sets a search, as printed", ("System", "Search", "Concept set"), rows)]


def _concepts(rows: Sequence[ConceptRow]) -> PaperTable:
    return PaperTable(
        "Concepts",
        ("Concept", "R", "F", "Sets", "Regime"),
        tuple(
            (row.concept, f"{row.recognition:g} %", f"{row.failure:g} %", str(row.n), row.regime)
            for row in rows
        ),
    )


def _pairs(rows: Sequence[PairRow]) -> PaperTable:
    return PaperTable(
        "Pairs",
        ("Pair", "Failure rate", "Held against", "Lift", "Sets", "Kind"),
        tuple(
            (
                f"{row.a} + {row.b}", f"{row.sfr:g} %", f"{row.base:g} %", f"{row.lift:+g}".replace("-", "−"),
                str(row.n), row.kind,
            )
            for row in rows
        ),
    )  # fmt: skip


def _address(name: str) -> str:
    """Return the address of a page by its name; "" where this version has none of it."""
    if not name:
        return ""
    try:
        return reverse(name)
    except NoReverseMatch:
        return ""
