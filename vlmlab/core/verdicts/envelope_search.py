"""The questions of a decision card: each a fresh set, drawn by the weights of its cell, on a fresh scene."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vlmlab.core.revelio.types import Verdict
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.seeding import derive_seed
from vlmlab.core.verdicts.batches import AskedInBatches
from vlmlab.core.verdicts.envelope import CellMembers, EnvelopeSpec, draw_sets
from vlmlab.core.verdicts.envelope_cards import (
    CellCounts,
    fewest_failing,
    judge_cell,
    level_each,
    planned_samples,
)
from vlmlab.core.verdicts.queries import FreshOutcome, FreshQuery, ItemResult, ItemSpec, block_of

LEAST_SPARE = 10  # draws beyond the planned ones, for scenes that cannot be drawn or asked


@dataclass(frozen=True)
class CellItem:
    """A cell as an item of a follow-up, before it is stored.

    Attributes:
        block: seeds its scenes.
        arms: the sets of scene 0, 1, ..., as drawn; half as many again as planned, to replace scenes that
            fail.
        settings: title, planned scenes, limit, counted errors, level of its bounds.
    """

    block: str
    arms: tuple[Key, ...]
    settings: Mapping[str, Any]


def cell_items(
    domain: Domain, spec: EnvelopeSpec, members: Mapping[str, CellMembers], *, level: float, run_seed: int
) -> list[CellItem]:
    """Return the items of a card, one a cell, with every set drawn before the first question.

    Args:
        domain: of the envelope.
        spec: cells and limits.
        members: of each cell (``check_envelope``).
        level: at which all bounds hold together.
        run_seed: of the card's runs; all systems of a card see the same draws.
    """
    each = level_each(level, len(spec.cells))
    items = []
    for cell, planned in zip(spec.cells, planned_samples(spec, level), strict=True):
        block = block_of("cell", cell.id)
        wanted = planned + max(LEAST_SPARE, planned // 2)
        seed = derive_seed(run_seed, "cell", block)
        settings = {
            "cell": cell.id,
            "title": cell.title,
            "requirement": cell.requirement,
            "n": planned,
            "limit": cell.limit,
            "counts": list(cell.counts),
            "level": each,
            "members": len(members[cell.id]),
        }
        arms = draw_sets(domain, members[cell.id], n=wanted, seed=seed)
        items.append(CellItem(block, arms, settings))
    return items


@dataclass
class _Cell:
    spec: ItemSpec
    next_number: int = 0
    answers: int = 0
    fails: int = 0
    invalid: int = 0
    errors: int = 0
    sets: set[Key] = field(default_factory=set)
    lost: dict[str, int] = field(default_factory=dict)

    @property
    def planned(self) -> int:
        return int(self.spec.settings["n"])

    def take(self, outcome: FreshOutcome) -> None:
        """Count an outcome; one without an answer is only counted as lost."""
        if not outcome.is_answer:
            self.lost[outcome.verdict] = self.lost.get(outcome.verdict, 0) + 1
            return
        kinds = self.spec.settings["counts"]
        is_fail = outcome.verdict is Verdict.FAIL
        self.answers += 1
        self.fails += is_fail
        self.invalid += outcome.is_invalid
        self.errors += is_fail and (not kinds or _kind_of(outcome) in kinds)
        self.sets.add(outcome.query.key)


class EnvelopeSearch(AskedInBatches):
    """Asks each cell its planned scenes; a scene that cannot be drawn or asked is replaced by the next draw.

    Args:
        items: one a cell, with its draws as arms (``cell_items``).
        slots: questions asked together.
        stops_failed: end a cell once its errors suffice for "fail" whatever the other scenes say. The verdict
            is the one that all planned scenes would give; the rate is not known then.
    """

    def __init__(self, items: Sequence[ItemSpec], *, slots: int = 8, stops_failed: bool = False) -> None:
        super().__init__()
        self._cells = [_Cell(item) for item in items]
        self._slots = slots
        self._limits = [
            fewest_failing(cell.planned, float(cell.spec.settings["limit"]), level=_level(cell))
            if stops_failed
            else cell.planned + 1
            for cell in self._cells
        ]

    @property
    def stage(self) -> str:
        """The part that asks now."""
        return "fresh draws"

    def _take(self, outcomes: Sequence[FreshOutcome]) -> None:
        for outcome in outcomes:
            self._cells[outcome.query.item].take(outcome)

    def results(self) -> list[ItemResult]:
        """Return verdict, bounds and counts of each cell."""
        return [self._result(index) for index in range(len(self._cells))]

    def _is_failed(self, index: int) -> bool:
        return self._cells[index].errors >= self._limits[index]

    def _is_open(self, index: int) -> bool:
        cell = self._cells[index]
        return (
            cell.answers < cell.planned
            and cell.next_number < len(cell.spec.arms)
            and not self._is_failed(index)
        )

    def _next(self) -> list[FreshQuery]:
        """Return the next draws of the cells with the fewest answers, relative to their plans."""
        batch: list[FreshQuery] = []
        given = [cell.answers for cell in self._cells]
        while len(batch) < self._slots:
            wanting = [
                index
                for index, cell in enumerate(self._cells)
                if self._is_open(index) and given[index] < cell.planned
            ]
            if not wanting:
                break
            index = min(wanting, key=lambda one: given[one] / self._cells[one].planned)
            cell = self._cells[index]
            key = cell.spec.arms[cell.next_number]
            batch.append(FreshQuery(cell.spec.order, key, cell.next_number))
            cell.next_number += 1
            given[index] += 1
        return batch

    def _result(self, index: int) -> ItemResult:
        cell = self._cells[index]
        n = cell.answers
        is_stopped = self._is_failed(index) and n < cell.planned
        reading = judge_cell(
            CellCounts(cell.errors, n, is_stopped),
            limit=float(cell.spec.settings["limit"]),
            level=_level(cell),
            planned=cell.planned,
        )
        is_open = self._is_open(index)
        return ItemResult(
            state="" if is_open else reading.verdict,
            reason=""
            if is_open
            else "decided"
            if is_stopped
            else "complete"
            if n >= cell.planned
            else "exhausted",
            fails=cell.fails,
            samples=n,
            numbers={
                "errors": cell.errors,
                "invalid": cell.invalid,
                "planned": cell.planned,
                "low": reading.low,
                "high": reading.high,
                "is_stopped": is_stopped,
                "sets": len(cell.sets),
                "lost": dict(sorted(cell.lost.items())),
            },
        )


def _kind_of(outcome: FreshOutcome) -> str:
    return "invalid" if outcome.is_invalid else outcome.direction


def _level(cell: _Cell) -> float:
    return float(cell.spec.settings["level"])
