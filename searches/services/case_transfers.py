"""Whether test cases transfer: how many of each system fail on each other one, beside random strategies."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from searches.models import Campaign, FollowUpItem
from vlmlab.core.stats import Bounds, wilson_interval
from vlmlab.web.figures import distinct_names


@dataclass
class TransferCell:
    """The cases found on one system, shown to one system.

    Attributes:
        fails, n: cases whose own input is answered wrongly, of those that count: the clean picture is
            answered rightly and the input was answered at all.
        ineligible: cases on pictures that the system answers wrongly without a perturbation.
        unanswered: cases whose calls failed, or whose input cannot be made.
        waiting: cases not settled yet.
        fresh_fails, fresh_n: wrong answers and answers to fresh draws, over the cases that count.
        random_fails, random_n: of random strategies on the same pictures, with the same budget.
    """

    fails: int = 0
    n: int = 0
    ineligible: int = 0
    unanswered: int = 0
    waiting: int = 0
    fresh_fails: int = 0
    fresh_n: int = 0
    random_fails: int = 0
    random_n: int = 0

    @property
    def share(self) -> float | None:
        """Share of the cases that fail; None where none counts."""
        return self.fails / self.n if self.n else None

    @property
    def interval(self) -> Bounds | None:
        """Wilson interval of that share; cases are the unit."""
        return wilson_interval(self.fails, self.n) if self.n else None


@dataclass(frozen=True)
class TransferMatrix:
    """Cases by the system on which they were found and the system that was asked.

    Attributes:
        sources: short names of the systems on which cases were found.
        targets: short names of the systems asked.
        cells: source, target -> numbers.
        names: short name -> what to call the system; no two are called the same.
        has_random: whether random strategies were asked, too.
        has_fresh: whether fresh draws were asked, too.
    """

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    cells: dict[tuple[str, str], TransferCell] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)

    @property
    def rows(self) -> list[tuple[str, list[tuple[str, TransferCell]]]]:
        """The cells by source, in the order of the targets."""
        return [(one, [(to, self.cells[one, to]) for to in self.targets]) for one in self.sources]

    @property
    def has_random(self) -> bool:
        """Whether random strategies were asked, too."""
        return any(cell.random_n for cell in self.cells.values())

    @property
    def has_fresh(self) -> bool:
        """Whether fresh draws were asked, too."""
        return any(cell.fresh_n for cell in self.cells.values())


def transfer_matrix(campaign: Campaign) -> TransferMatrix:
    """Return how the cases of a follow-up did on its systems (one query)."""
    items = FollowUpItem.objects.filter(campaign=campaign, case__isnull=False)
    items = items.select_related("run__sut", "case__modality_run__sut").order_by("run_id", "order")
    return matrix_of(items)


def matrix_of(items: Iterable[FollowUpItem]) -> TransferMatrix:
    """Return the matrix of items with their run, system and case."""
    cells: dict[tuple[str, str], TransferCell] = defaultdict(TransferCell)
    sources: dict[str, None] = {}
    targets: dict[str, None] = {}
    names: dict[str, str] = {}
    for item in items:
        if item.case is None:
            continue
        found_on, asked = item.case.modality_run.sut, item.run.sut
        names |= {found_on.slug: found_on.name, asked.slug: asked.name}
        source, target = found_on.slug, asked.slug
        sources[source] = targets[target] = None
        _count(cells[source, target], item)
    for source in sources:
        for target in targets:
            cells[source, target]
    return TransferMatrix(tuple(sources), tuple(targets), dict(cells), distinct_names(names))


def fresh_counts(item: FollowUpItem) -> tuple[int, int]:
    """Return wrong answers and answers to the fresh draws of an item, its own input left out."""
    stored = item.numbers.get("fresh") or {}
    return int(stored.get("fails", 0)), int(stored.get("n", 0))


def _count(cell: TransferCell, item: FollowUpItem) -> None:
    if item.state == "ineligible":
        cell.ineligible += 1
        return
    if not item.state:
        cell.waiting += 1
        return
    if not item.n:
        cell.unanswered += 1
        return
    cell.n += 1
    cell.fails += item.fails
    (fresh_fails, fresh_n), random = fresh_counts(item), (item.numbers.get("parts") or {}).get("random")
    cell.fresh_fails += fresh_fails
    cell.fresh_n += fresh_n
    if random in ("pass", "fail"):
        cell.random_n += 1
        cell.random_fails += random == "fail"
