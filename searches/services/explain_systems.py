"""Concepts across systems: failure rate, rank and recognition of each concept on each system."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from django.db.models import Q

from searches.enums import CONCEPT_METHOD, FOLLOW_UP_METHOD
from searches.models import SearchRun, SutRecord
from searches.services.concept_runs import concept_runs
from searches.services.domain_store import find_domain
from searches.services.explain_concepts import Reply, replies
from searches.services.explain_sets import Counted, Source, counted, merged, rated_trials
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.stats import Interval
from vlmlab.core.verdicts.concept_rates import concept_rates, ranks
from vlmlab.core.verdicts.regimes import MeanRate, Recognition, recognise

Measure = Literal["failure", "rank", "recognition"]
MEASURES: Mapping[Measure, str] = {
    "failure": "Failure rate F",
    "rank": "Rank by F",
    "recognition": "Recognition R",
}
LEAST_SETS, LEAST_SYSTEMS = 5, 3


@dataclass(frozen=True)
class SystemCell:
    """One concept on one system.

    Attributes:
        value: in [0, 1] or a rank from 1; None where there is too little, then ``reason`` says what is there.
        shown: how it is written in the cell, "" for none.
        interval: of a rate; None for ranks and empty cells.
        count: sets, or replies, behind it.
    """

    value: float | None
    shown: str
    reason: str
    interval: Interval | None
    count: int


@dataclass(frozen=True)
class SystemGrid:
    """Concepts in rows, systems in columns.

    Attributes:
        rows: concept id, label, a cell a system; only concepts with enough on enough systems.
        left_out: concepts with something on fewer systems.
    """

    domain: Domain
    measure: Measure
    suts: tuple[SutRecord, ...]
    rows: tuple[tuple[str, str, tuple[SystemCell, ...]], ...]
    left_out: int
    least_sets: int
    least_systems: int


@dataclass(frozen=True)
class DomainChoice:
    """A version of a domain that was searched, with how many systems were."""

    ref: str
    title: str
    suts: int


def searched_domains() -> list[DomainChoice]:
    """Return every version of a domain with answers, most systems first (one query, and one a new domain)."""
    rows = concept_runs().filter(n_observations__gt=0).order_by("-pk")
    fields = ("campaign__domain", "campaign__domain_version", "sut_id")
    systems: dict[str, set[int]] = defaultdict(set)
    for slug, version, sut_id in rows.values_list(*fields):
        systems[f"{slug}@{version}"].add(sut_id)
    slugs = Counter(ref.partition("@")[0] for ref in systems)
    found = []
    for ref, own in systems.items():
        slug, _, version = ref.partition("@")
        title = find_domain(ref).title
        found.append(DomainChoice(ref, f"{title} ({version})" if slugs[slug] > 1 else title, len(own)))
    return sorted(found, key=lambda one: -one.suts)


def system_grid(
    ref: str,
    *,
    measure: Measure = "failure",
    least_sets: int = LEAST_SETS,
    least_systems: int = LEAST_SYSTEMS,
    source: Source = "all",
) -> SystemGrid:
    """Return a measure of every concept on every system that was searched in a domain (five queries).

    Args:
        ref: version of a domain.
        measure: what the cells hold.
        least_sets: sets with the concept (replies, for recognition) below which a cell stays empty.
        least_systems: systems with a filled cell below which a concept is left out.
        source: answers of searches, of follow-ups, or both.
    """
    domain = find_domain(ref)
    runs = _runs(domain)
    suts = tuple(sorted({run.sut_id: run.sut for run in runs}.values(), key=lambda sut: sut.name))
    cells = (
        _recognition_cells(runs, suts, least_sets)
        if measure == "recognition"
        else _failure_cells(runs, suts, least_sets, source, is_rank=measure == "rank")
    )
    rows, left_out = [], 0
    for concept in domain.concepts:
        own = tuple(cells[sut.pk].get(concept.id, _nothing()) for sut in suts)
        filled = sum(cell.value is not None for cell in own)
        if filled >= max(1, least_systems):
            rows.append((concept.id, concept.label, own))
        else:
            left_out += any(cell.count for cell in own)
    return SystemGrid(domain, measure, suts, tuple(rows), left_out, least_sets, least_systems)


def _runs(domain: Domain) -> list[SearchRun]:
    rows = SearchRun.objects.filter(
        Q(campaign__method=CONCEPT_METHOD) | Q(campaign__method=FOLLOW_UP_METHOD),
        campaign__domain=domain.slug,
        campaign__domain_version=domain.version,
    )
    return list(rows.select_related("campaign", "sut").order_by("pk"))


def _failure_cells(
    runs: Sequence[SearchRun],
    suts: Sequence[SutRecord],
    least: int,
    source: Source,
    *,
    is_rank: bool,
) -> dict[int, dict[str, SystemCell]]:
    searches = [run for run in runs if run.campaign.method == CONCEPT_METHOD and source != "fresh"]
    fresh = [run for run in runs if run.campaign.method == FOLLOW_UP_METHOD and source != "search"]
    sut_of = {run.pk: run.sut_id for run in runs}
    by_sut: dict[int, list[Counted]] = defaultdict(list)
    for row in counted(rated_trials(searches, fresh)):
        by_sut[sut_of[row.run_id]].append(row)
    fresh_ids = {run.pk for run in fresh}
    found = {}
    for sut in suts:
        rates = concept_rates(merged(by_sut[sut.pk], fresh_runs=fresh_ids))
        enough = {
            one: rate.value for one, rate in rates.items() if rate.sets >= least and rate.value is not None
        }
        places = ranks(enough) if is_rank else {}
        found[sut.pk] = {
            concept: _failure_cell(rate, places.get(concept), least=least, is_rank=is_rank)
            for concept, rate in rates.items()
        }
    return found


def _failure_cell(rate: MeanRate, place: int | None, *, least: int, is_rank: bool) -> SystemCell:
    if rate.sets < least or rate.value is None:
        return SystemCell(None, "", f"{rate.sets} of {least} sets", None, rate.sets)
    if is_rank:
        return SystemCell(float(place or 0), str(place), "", None, rate.sets)
    return SystemCell(rate.value, f"{round(100 * rate.value)}", "", rate.interval(), rate.sets)


def _recognition_cells(
    runs: Sequence[SearchRun], suts: Sequence[SutRecord], least: int
) -> dict[int, dict[str, SystemCell]]:
    sut_of = {run.pk: run.sut_id for run in runs}
    by_sut: dict[int, list[Reply]] = defaultdict(list)
    for one in replies([run for run in runs if run.campaign.method == FOLLOW_UP_METHOD]):
        by_sut[sut_of[one.run_id]].append(one)
    return {
        sut.pk: {
            concept: _recognition_cell(seen, least)
            for concept, seen in recognise(one.said for one in by_sut[sut.pk]).items()
        }
        for sut in suts
    }


def _recognition_cell(seen: Recognition, least: int) -> SystemCell:
    if seen.replies < least or seen.value is None:
        return SystemCell(None, "", f"{seen.replies} of {least} replies", None, seen.replies)
    return SystemCell(seen.value, f"{round(100 * seen.value)}", "", seen.interval(), seen.replies)


def _nothing() -> SystemCell:
    return SystemCell(None, "", "not asked", None, 0)
