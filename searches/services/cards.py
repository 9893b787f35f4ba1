"""A decision card: what fresh draws from an envelope say of one system, with what was not tested."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Count, Q

from searches.enums import FINAL_STATES, FindingState, FollowUpName, RunState, Verdict
from searches.models import (
    Campaign,
    Envelope,
    Finding,
    FollowUpItem,
    FollowUpSource,
    Sample,
    SearchRun,
    Trial,
)
from searches.services.card_words import card_sentence, cell_sentence, fine_percent
from searches.services.domain_store import find_domain
from searches.services.envelopes import StoredEnvelope
from searches.services.scene_flags import EXCLUDING, flagged_samples
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.verdicts.envelope import CellMembers, EnvelopeCell, check_envelope, envelope_coverage
from vlmlab.core.verdicts.envelope_cards import CardReading, CellCounts, CellReading, judge_card

MOST_MODES = 10
HALTED = "halted"
"""Stored instead of a verdict where a run was cancelled or broke: whoever ends it early saw its answers."""


@dataclass(frozen=True)
class Expected:
    """Answers of a card, or of a cell, where one answer was expected."""

    action: str
    fails: int
    n: int


@dataclass(frozen=True)
class CardCell:
    """One cell of a card.

    Attributes:
        reading: verdict and bounds; None while answers are still coming.
        fails: wrong answers of any kind; ``reading.errors`` are those that count.
        members, drawn: valid sets of the cell, and how many of them were drawn and answered.
        never_drawn: concepts of its sets that stood in no scene.
        lost: scenes that could not be drawn or answered.
        flagged: scenes left out because a person flagged them.
    """

    cell: EnvelopeCell
    item: FollowUpItem
    reading: CellReading | None
    counts: CellCounts
    planned: int
    fails: int
    invalid: int
    members: int
    drawn: int
    never_drawn: tuple[str, ...]
    lost: int
    flagged: int

    @property
    def verdict(self) -> str:
        """The word, "" while there is none."""
        return self.reading.verdict if self.reading else ""

    @property
    def sentence(self) -> str:
        """What can be said of the cell, always with its bound."""
        return cell_sentence(self)


@dataclass(frozen=True)
class ConfirmedMode:
    """A confirmed failure mode of the system that lies inside the envelope."""

    finding: Finding
    cells: tuple[str, ...]


@dataclass(frozen=True)
class CardPage:
    """A card as page, print and files show it.

    Attributes:
        reading: verdict, bounds and totals; None until the run has asked everything, and for ever where it
            was halted.
        modes: worst confirmed failure modes inside, at most ten; ``n_modes`` how many there are.
        sets, covered: valid sets of the domain, and those inside some cell.
    """

    run: SearchRun
    campaign: Campaign
    envelope: Envelope | None
    stored: StoredEnvelope
    domain: Domain
    cells: tuple[CardCell, ...]
    reading: CardReading | None
    expected: tuple[Expected, ...]
    modes: tuple[ConfirmedMode, ...]
    n_modes: int
    sets: int
    covered: int

    @property
    def verdict(self) -> str:
        """The word, "" while there is none."""
        return self.reading.verdict if self.reading else ""

    @property
    def planned(self) -> int:
        """Scenes planned in all."""
        return sum(cell.planned for cell in self.cells)

    @property
    def answers(self) -> int:
        """Answers that count."""
        return sum(cell.counts.n for cell in self.cells)

    @property
    def sentence(self) -> str:
        """The verdict in one sentence, with its bound."""
        return card_sentence(self)

    @property
    def scale(self) -> float:
        """Share at the right end of every bar: the largest bound or limit, with a little room."""
        ends = [end for cell in self.cells if cell.reading for end in (cell.reading.high, cell.cell.limit)]
        return min(1.0, 1.1 * max(ends, default=1.0))

    @property
    def level_each_words(self) -> str:
        """Confidence of each bound alone."""
        each = 1.0 - (1.0 - self.stored.level) / len(self.cells)
        return f"{100 * each:.4g} %"

    @property
    def level_words(self) -> str:
        """Confidence of all bounds together."""
        return fine_percent(self.stored.level)


def find_card(pk: int) -> SearchRun | None:
    """Return a run that makes a card."""
    rows = SearchRun.objects.filter(campaign__kind=FollowUpName.ENVELOPE).select_related(
        "sut", "campaign__source__envelope", "campaign__created_by"
    )
    return rows.filter(pk=pk).first() if pk < 2**63 else None


def card_page(run: SearchRun) -> CardPage | None:
    """Return what a card says (six queries, whatever its size); None where its declaration is gone."""
    source = FollowUpSource.objects.select_related("envelope").filter(campaign_id=run.campaign_id).first()
    if source is None or "envelope" not in source.spec:
        return None
    stored = StoredEnvelope.model_validate(source.spec["envelope"])
    domain = find_domain(run.campaign.domain_ref)
    members = check_envelope(domain, stored.spec)
    items = {item.spec["settings"]["cell"]: item for item in run.items.order_by("order")}
    flagged, drawn = _flagged(run), _drawn(run)
    counts = [_counts(items[cell.id], cell, flagged) for cell in stored.cells]
    is_whole = run.state == RunState.SUCCEEDED
    reading = judge_card(stored.spec, counts, level=stored.level) if is_whole else None
    cells = tuple(
        _cell(
            domain, cell, items[cell.id], counts=counts[at], members=members[cell.id],
            reading=reading.cells[at] if reading else None, drawn=drawn.get(items[cell.id].block, set()),
            flagged=[one for one in flagged if one.block == items[cell.id].block], planned=stored.planned[at],
        )
        for at, cell in enumerate(stored.cells)
    )  # fmt: skip
    modes = _confirmed(run, domain, stored, members)
    coverage = envelope_coverage(domain, members)
    return CardPage(
        run=run,
        campaign=run.campaign,
        envelope=source.envelope,
        stored=stored,
        domain=domain,
        cells=cells,
        reading=reading,
        expected=_by_expected(run),
        modes=tuple(modes[:MOST_MODES]),
        n_modes=len(modes),
        sets=coverage.sets,
        covered=coverage.covered,
    )


@transaction.atomic
def settle_cards(campaign: Campaign) -> None:
    """Keep the verdicts of the cards of a follow-up that have ended, for lists."""
    source = FollowUpSource.objects.select_for_update().filter(campaign=campaign).first()
    if source is None:
        return
    verdicts = dict(source.spec.get("verdicts", {}))
    for run in campaign.runs.select_related("sut", "campaign"):
        page = card_page(run) if run.state in FINAL_STATES else None
        if page is not None:
            verdicts[str(run.pk)] = page.verdict or HALTED
    source.spec = dict(source.spec) | {"verdicts": verdicts}
    source.save(update_fields=["spec"])


@dataclass(frozen=True)
class _Flagged:
    block: str
    is_fail: bool
    kind: str


def _flagged(run: SearchRun) -> list[_Flagged]:
    """Return the answered scenes that a person flagged."""
    answered = Q(verdict__in=(Verdict.PASS, Verdict.FAIL))
    said = Q(flags__withdrawn_at=None, flags__kind__in=EXCLUDING)
    rows = Sample.objects.filter(answered, said, run=run).distinct()
    values = rows.values_list("pk", "trial__block", "verdict", "answer_status", "direction")
    return [
        _Flagged(block, verdict == Verdict.FAIL, "invalid" if status == "invalid" else direction)
        for _, block, verdict, status, direction in values
    ]


def _drawn(run: SearchRun) -> dict[str, set[Key]]:
    """Return the answered sets of each block."""
    found: dict[str, set[Key]] = {}
    rows = Trial.objects.filter(run=run).exclude(fails=0, passes=0).order_by()
    for block, concepts in rows.values_list("block", "concepts"):
        found.setdefault(block, set()).add(tuple(concepts))
    return found


def _counts(item: FollowUpItem, cell: EnvelopeCell, flagged: list[_Flagged]) -> CellCounts:
    own = [one for one in flagged if one.block == item.block]
    wrong = sum(one.is_fail and (not cell.counts or one.kind in cell.counts) for one in own)
    errors = int(item.numbers.get("errors", 0)) - wrong
    return CellCounts(max(0, errors), max(0, item.n - len(own)), bool(item.numbers.get("is_stopped")))


def _cell(
    domain: Domain,
    cell: EnvelopeCell,
    item: FollowUpItem,
    *,
    counts: CellCounts,
    members: CellMembers,
    reading: CellReading | None,
    drawn: set[Key],
    flagged: list[_Flagged],
    planned: int,
) -> CardCell:
    possible = int(np.bitwise_or.reduce(members.masks))
    seen = {concept for key in drawn for concept in key}
    lost: Mapping[str, Any] = item.numbers.get("lost", {})
    return CardCell(
        cell=cell,
        item=item,
        reading=reading,
        counts=counts,
        planned=planned,
        fails=item.fails - sum(one.is_fail for one in flagged),
        invalid=int(item.numbers.get("invalid", 0)) - sum(one.kind == "invalid" for one in flagged),
        members=len(members),
        drawn=len(drawn),
        never_drawn=tuple(one for one in domain.key_of(possible) if one not in seen),
        lost=sum(int(number) for number in lost.values()),
        flagged=len(flagged),
    )


def _by_expected(run: SearchRun) -> tuple[Expected, ...]:
    answered = Sample.objects.filter(run=run, verdict__in=(Verdict.PASS, Verdict.FAIL))
    rows = (
        answered.exclude(pk__in=flagged_samples(answered).values("pk"))
        .order_by()
        .values("expected_action")
        .annotate(n=Count("pk"), fails=Count("pk", filter=Q(verdict=Verdict.FAIL)))
    )
    found = [Expected(row["expected_action"], row["fails"], row["n"]) for row in rows]
    return tuple(sorted(found, key=lambda one: (-one.n, one.action)))


def _confirmed(
    run: SearchRun, domain: Domain, stored: StoredEnvelope, members: Mapping[str, CellMembers]
) -> list[ConfirmedMode]:
    """Return the confirmed failure modes of the system that belong to a cell, the worst first."""
    rows = Finding.objects.filter(
        sut=run.sut, state=FindingState.CONFIRMED, domain=domain.slug, domain_version=domain.version
    ).select_related("sut")
    found: dict[str, ConfirmedMode] = {}
    for finding in rows:
        mask = domain.mask(finding.concepts)
        inside = tuple(cell.title for cell in stored.cells if _holds(members[cell.id], mask))
        if inside and (finding.key not in found or _rate(finding) > _rate(found[finding.key].finding)):
            found[finding.key] = ConfirmedMode(finding, inside)
    return sorted(found.values(), key=lambda one: (-_rate(one.finding), one.finding.pk))


def _holds(members: CellMembers, mask: int) -> bool:
    return bool((members.masks == mask).any())


def _rate(finding: Finding) -> float:
    return (finding.fresh_fails or 0) / finding.fresh_n if finding.fresh_n else 0.0
