"""What the page of a transfer shows: the matrix of sources and targets, and every set on every target."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from searches.enums import FOLLOW_UP_METHOD, FollowUpName, RunState
from searches.models import Campaign, FollowUpItem, FollowUpSource, SutRecord
from searches.services.domain_store import find_domain
from searches.services.exports import csv_lines
from searches.services.follow_up_progress import FollowUpProgress, follow_up_progress
from searches.services.follow_up_wished import COVERAGE
from searches.services.modality_progress import progress_of_many, state_of
from vlmlab.core.revelio.metrics import Share
from vlmlab.core.revelio.published import PAPER_DOMAINS, TransferRow, published
from vlmlab.core.verdicts.config import TransferConfig
from vlmlab.core.verdicts.transfer import SetCounts, TransferMatrix, transfer_matrix
from vlmlab.web.figures import distinct_names

MOST_LISTED = 50
RANDOM = "Random sets"
FORMATS = {"csv": "text/csv", "json": "application/json"}
COLUMNS = (
    "set", "sources", "target", "fails", "answers", "invalid", "state", "expected_action",
)  # fmt: skip


@dataclass(frozen=True)
class TransferLine:
    """One transfer in a list."""

    campaign: Campaign
    state: RunState
    n_items: int
    n_settled: int


@dataclass(frozen=True)
class SetLine:
    """One set: who suggested it, and how each target answered (None while nothing was answered).

    Attributes:
        ranks: name of each source with the place of the set in its list.
    """

    concepts: tuple[str, ...]
    ranks: tuple[tuple[str, int], ...]
    cells: tuple[FollowUpItem | None, ...]

    @property
    def is_random(self) -> bool:
        """Whether it was drawn, not suggested."""
        return not self.ranks


@dataclass(frozen=True)
class ExpectedLine:
    """Answers by one expected answer: of suggested or of random sets, one share a target."""

    label: str
    is_random: bool
    cells: tuple[Share, ...]


@dataclass(frozen=True)
class TransferPage:
    """Everything of the page of a transfer.

    Attributes:
        names: of systems by slug.
        published: the published table, for domains that it has.
    """

    campaign: Campaign
    config: TransferConfig
    progress: FollowUpProgress
    matrix: TransferMatrix
    names: dict[str, str]
    targets: tuple[SutRecord, ...]
    sets: tuple[SetLine, ...]
    expected: tuple[ExpectedLine, ...]
    published: tuple[TransferRow, ...]

    @property
    def published_rows(self) -> list[dict[str, object]]:
        """The published table of this domain: target and rates."""
        if self.campaign.domain not in PAPER_DOMAINS:
            return []
        return [{"target": row.target, "rates": row.on(self.campaign.domain)} for row in self.published]

    @property
    def sentence(self) -> str:
        """What it found so far, in one sentence."""
        cells = [one for one in self.matrix.cells.values() if not one.is_own and one.rate.value is not None]
        if not cells:
            return "No system has answered the sets of another one yet."
        most = max(cells, key=lambda one: one.rate.value or 0.0)
        if not most.rate.fails:
            return "Carried over, no set has failed on another system."
        return (
            f"Carried over, sets of {self.names.get(most.source, most.source)} fail most often on "
            f"{self.names.get(most.target, most.target)}: {most.rate.fails:,} of {most.rate.samples:,}."
        )


def transfer_campaign(pk: int) -> Campaign | None:
    """Return a transfer by number."""
    return _transfers().select_related("follows", "source").filter(pk=pk).first() if pk < 2**63 else None


def transfer_lines() -> list[TransferLine]:
    """Return the newest transfers (three queries)."""
    counted = (
        _transfers()
        .annotate(n_items=Count("items"), n_settled=Count("items", filter=~Q(items__state="")))
        .order_by("-pk")[:MOST_LISTED]
    )
    campaigns = list(counted)
    states = progress_of_many(campaigns)
    return [TransferLine(one, state_of(states[one.pk]), one.n_items, one.n_settled) for one in campaigns]


def transfer_page(campaign: Campaign) -> TransferPage:
    """Return the page of a transfer; numbers are those of fresh scenes alone."""
    items = _items(campaign)
    targets = tuple({one.run.sut_id: one.run.sut for one in items}.values())
    names = {sut.slug: sut.name for sut in targets}
    missing = {slug for one in items for slug in _sources(one)} - set(names)
    names |= dict(SutRecord.objects.filter(slug__in=missing).values_list("slug", "name")) if missing else {}
    names = distinct_names(names)
    return TransferPage(
        campaign=campaign,
        config=TransferConfig.model_validate(campaign.config),
        progress=follow_up_progress(campaign),
        matrix=transfer_matrix(_counts(items)),
        names=names,
        targets=targets,
        sets=tuple(_set_lines(items, targets, names)),
        expected=tuple(_expected_lines(items, targets, campaign)),
        published=published().table_3 if campaign.domain in PAPER_DOMAINS else (),
    )


def transfer_csv(campaign: Campaign) -> Iterator[str]:
    """Yield every set on every target as CSV."""
    return csv_lines(COLUMNS, ([row[name] for name in COLUMNS] for row in transfer_rows(campaign)))


def transfer_rows(campaign: Campaign) -> list[dict[str, object]]:
    """Return every set on every target as plain rows."""
    return [
        {
            "set": one.key,
            "sources": " ".join(_sources(one)) or "random",
            "target": one.run.sut.slug,
            "fails": one.fails,
            "answers": one.n,
            "invalid": invalid_of(one),
            "state": one.state,
            "expected_action": one.expected_action,
        }
        for one in _items(campaign)
    ]


def invalid_of(item: FollowUpItem) -> int:
    """Return how many answers of an item named no option; they are among its wrong ones."""
    arms = item.numbers.get("arms") or [{}]
    return int(arms[0].get("invalid", 0))


def _items(campaign: Campaign) -> list[FollowUpItem]:
    rows = FollowUpItem.objects.filter(campaign=campaign).select_related("run__sut")
    return list(rows.order_by("run__sut__name", "run_id", "order"))


def _sources(item: FollowUpItem) -> list[str]:
    return [str(one) for one in item.spec.get("settings", {}).get("sources", [])]


def _transfers() -> QuerySet[Campaign]:
    """Return transfers between systems; sets that fill gaps of coverage are asked in the same way."""
    rows = Campaign.objects.filter(method=FOLLOW_UP_METHOD, kind=FollowUpName.TRANSFER)
    fills = FollowUpSource.objects.filter(spec__purpose=COVERAGE)
    return rows.exclude(pk__in=fills.values("campaign"))


def _counts(items: Sequence[FollowUpItem]) -> Iterator[SetCounts]:
    for one in items:
        for source in _sources(one) or [""]:
            yield SetCounts(source, one.run.sut.slug, one.fails, one.n)


def _set_lines(
    items: Sequence[FollowUpItem], targets: Sequence[SutRecord], names: dict[str, str]
) -> Iterator[SetLine]:
    by_set: dict[int, dict[int, FollowUpItem]] = {}
    for one in items:
        by_set.setdefault(one.order, {})[one.run.sut_id] = one
    for order in sorted(by_set):
        cells = by_set[order]
        first = next(iter(cells.values()))
        ranks = first.spec.get("settings", {}).get("ranks", {})
        yield SetLine(
            tuple(first.concepts),
            tuple((names.get(slug, slug), int(rank)) for slug, rank in ranks.items()),
            tuple(cells.get(sut.pk) for sut in targets),
        )


def _expected_lines(
    items: Sequence[FollowUpItem], targets: Sequence[SutRecord], campaign: Campaign
) -> Iterator[ExpectedLine]:
    labels = find_domain(campaign.domain_ref).actions
    order = {action: place for place, action in enumerate(labels)}
    groups = {(one.expected_action, not _sources(one)) for one in items if one.n}
    for action, is_random in sorted(groups, key=lambda one: (order.get(one[0], len(order)), one)):
        mine = [one for one in items if (one.expected_action, not _sources(one)) == (action, is_random)]
        cells = tuple(
            Share(
                sum(one.fails for one in mine if one.run.sut_id == sut.pk),
                sum(one.n for one in mine if one.run.sut_id == sut.pk),
            )
            for sut in targets
        )
        yield ExpectedLine(labels.get(action, action), is_random, cells)
