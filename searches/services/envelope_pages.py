"""What pages of envelopes show: the list, one envelope, and what a declaration means before it is kept."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import Count, QuerySet

from searches.enums import FollowUpName
from searches.models import Envelope, FollowUpSource, SearchRun, SutRecord
from searches.services.call_costs import most_an_inference_costs
from searches.services.envelopes import StoredEnvelope
from vlmlab.core.errors import VlmLabError
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.verdicts.envelope import CellMembers, EnvelopeCell, check_envelope, envelope_coverage
from vlmlab.core.verdicts.envelope_cards import level_each

EXAMPLES = 3
SHOWN_CARDS = 50


@dataclass(frozen=True)
class CellPreview:
    """What one cell means.

    Attributes:
        members: valid sets that fit.
        sizes: size -> how many of them.
        examples: a few of them, from small to large.
        by_expected: expected answer -> share of draws.
        planned: scenes that it takes to pass.
    """

    cell: EnvelopeCell
    members: int
    sizes: tuple[tuple[int, int], ...]
    examples: tuple[Key, ...]
    by_expected: tuple[tuple[str, float], ...]
    planned: int


@dataclass(frozen=True)
class EnvelopePreview:
    """What an envelope means: its cells, what it takes, and how much of the domain it speaks of.

    Attributes:
        level_each: level of each bound, so that all hold together.
        overlaps: titles of two cells and the sets in both.
    """

    domain: Domain
    cells: tuple[CellPreview, ...]
    planned: int
    level: float
    level_each: float
    sets: int
    covered: int
    overlaps: tuple[tuple[str, str, int], ...]


@dataclass(frozen=True)
class CardLine:
    """One card in a list: a run of a follow-up on one system, with the stored verdict."""

    run: SearchRun
    verdict: str
    envelope: Envelope | None = None


@dataclass(frozen=True)
class SystemCost:
    """The most that a card costs on a system; None where a price is unknown."""

    sut: SutRecord
    usd: float | None


def preview_envelope(domain: Domain, stored: StoredEnvelope) -> EnvelopePreview:
    """Return what a declaration means.

    Raises:
        VlmLabError: a concept is unknown or nothing fits a cell.
    """
    members = check_envelope(domain, stored.spec)
    coverage = envelope_coverage(domain, members)
    planned = stored.planned
    titles = {cell.id: cell.title for cell in stored.cells}
    return EnvelopePreview(
        domain=domain,
        cells=tuple(
            _cell(domain, cell, members[cell.id], planned=number)
            for cell, number in zip(stored.cells, planned, strict=True)
        ),
        planned=sum(planned),
        level=stored.level,
        level_each=level_each(stored.level, len(stored.cells)),
        sets=coverage.sets,
        covered=coverage.covered,
        overlaps=tuple((titles[one], titles[two], n) for (one, two), n in coverage.overlaps.items()),
    )


def listed_envelopes(*, with_archived: bool = False) -> QuerySet[Envelope]:
    """Return envelopes with the number of their cards."""
    rows = Envelope.objects.order_by("name").annotate(
        n_cards=Count("follow_ups__campaign__runs", distinct=True)
    )
    return rows if with_archived else rows.filter(is_archived=False)


def find_envelope(slug: str) -> Envelope | None:
    """Return an envelope by its short name."""
    return Envelope.objects.select_related("created_by").filter(slug=slug).first()


def cards_of(envelope: Envelope) -> list[CardLine]:
    """Return the cards of an envelope, the newest first (two queries)."""
    sources = {
        one.campaign_id: one
        for one in FollowUpSource.objects.filter(envelope=envelope, campaign__kind=FollowUpName.ENVELOPE)
    }
    runs = SearchRun.objects.filter(campaign__in=sources).select_related("sut", "campaign")
    return [
        CardLine(run, str(sources[run.campaign_id].spec.get("verdicts", {}).get(str(run.pk), "")))
        for run in runs.order_by("-campaign_id", "sut__name")[:SHOWN_CARDS]
    ]


def costs_of(suts: Sequence[SutRecord], stored: StoredEnvelope, domain: Domain) -> list[SystemCost]:
    """Return the most that a card costs on each system."""
    planned, config = sum(stored.planned), stored.config()
    found = []
    for sut in suts:
        try:
            each = most_an_inference_costs(sut, config, domain=domain)
        except VlmLabError:
            each = None
        found.append(SystemCost(sut, None if each is None else each * planned))
    return found


def _cell(domain: Domain, cell: EnvelopeCell, members: CellMembers, *, planned: int) -> CellPreview:
    sizes = np.bitwise_count(members.masks).astype(int)
    chosen = np.unique(np.linspace(0, len(members) - 1, EXAMPLES).astype(int))
    return CellPreview(
        cell=cell,
        members=len(members),
        sizes=tuple((int(size), int((sizes == size).sum())) for size in np.unique(sizes)),
        examples=tuple(domain.key_of(int(members.masks[at])) for at in chosen),
        by_expected=expected_shares(domain, members),
        planned=planned,
    )


def expected_shares(domain: Domain, members: CellMembers) -> tuple[tuple[str, float], ...]:
    """Return which share of a cell's draws expects each answer, the largest first."""
    from vlmlab.core.scenes.domain_decisions import deciding_rules

    deciding = deciding_rules(domain, members.masks)
    shares: dict[str, float] = {}
    for at, rule in enumerate(domain.rules):
        weight = float(members.weights[deciding == at].sum())
        if weight:
            shares[rule.action] = shares.get(rule.action, 0.0) + weight
    return tuple(sorted(shares.items(), key=lambda one: -one[1]))
