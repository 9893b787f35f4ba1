"""Confirming suspects: fresh scenes of each until the evidence decides, with errors held over all."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from vlmlab.core.revelio.types import Verdict
from vlmlab.core.verdicts.batches import AskedInBatches
from vlmlab.core.verdicts.config import ConfirmConfig
from vlmlab.core.verdicts.fixed import FixedDesignSearch
from vlmlab.core.verdicts.queries import FollowUpSearch, FreshOutcome, FreshQuery, ItemResult, ItemSpec
from vlmlab.core.verdicts.settling import (
    FreshCounts,
    Settlement,
    family_level,
    settle_family,
)
from vlmlab.core.verdicts.stopping import stopping_table

MOST_TRIES = 3  # scenes tried for each sample that an item may have
MOST_IDLE_TRIES = 25  # scenes in a row that brought no evidence, after which an item is given up
MOST_AT_ONCE = 8  # questions about one item in a batch, so that few are asked beyond the decision
MOST_TRAIL_POINTS = 200


@dataclass
class _Item:
    spec: ItemSpec
    place: int | None
    fails: int = 0
    samples: int = 0
    invalid: int = 0
    repeats: int = 0
    call_errors: int = 0
    incompatible: int = 0
    tries: int = 0
    idle_tries: int = 0
    chance: float = 1.0
    pictures: set[str] = field(default_factory=set)
    trail: list[tuple[int, int, float, float]] = field(default_factory=list)

    def take(self, outcome: FreshOutcome) -> bool:
        """Count an outcome; returns whether it is evidence."""
        is_new = not outcome.picture or outcome.picture not in self.pictures
        if outcome.is_answer and is_new:
            self.pictures |= {outcome.picture} - {""}
            self.samples += 1
            self.fails += outcome.verdict is Verdict.FAIL
            self.invalid += outcome.is_invalid
            self.idle_tries = 0
            return True
        self.repeats += outcome.is_answer
        self.call_errors += outcome.verdict is Verdict.CALL_ERROR
        self.incompatible += outcome.verdict is Verdict.INCOMPATIBLE
        self.idle_tries += 1
        return False


class ConfirmSearch(AskedInBatches):
    """Asks fresh scenes of each item in turn until its e-process confirms or refutes it.

    An item is left alone once it is decided, has all its samples, has no more scenes that say anything, or
    has too little chance of being decided. That chance rises when the confirmation of others lowers the bar;
    the item is then taken up again. With a budget an item is only begun once what is left suffices for it and
    for all before it, so those that matter most come first. Neither the choice of items nor stopping changes
    the error rates, because an e-process may be stopped at any time (Ville 1939).

    Args:
        config: with the family's size, fixed before the first question.
        items: suspects of this run; the others of the family may belong to other runs.

    Raises:
        ValueError: more items than the family holds, or two in one place of the line.
    """

    def __init__(self, config: ConfirmConfig, items: Sequence[ItemSpec]) -> None:
        super().__init__()
        self._config = config
        self._items = [_Item(spec, _place_of(spec, config)) for spec in items]
        self._settled: list[Settlement] = []
        self._decide()

    @property
    def stage(self) -> str:
        """The part that asks now."""
        return "fresh scenes"

    def _take(self, outcomes: Sequence[FreshOutcome]) -> None:
        by_order = {item.spec.order: item for item in self._items}
        grown = {outcome.query.item for outcome in outcomes if by_order[outcome.query.item].take(outcome)}
        self._decide()
        for item, settled in zip(self._items, self._settled, strict=True):
            if item.spec.order in grown:
                item.trail.append(_point(item, settled))

    def results(self) -> list[ItemResult]:
        """Return state, counts and evidence of each item; the keys of ``numbers`` are in the manual."""
        return [self._result(item, settled) for item, settled in zip(self._items, self._settled, strict=True)]

    def _next(self) -> list[FreshQuery]:
        """Return the next scenes, of the items that were tried least often."""
        left = self._budget_left()
        wanted = self._config.slots if left is None else min(self._config.slots, left)
        open_items = [
            item
            for item, settled in zip(self._items, self._settled, strict=True)
            if not self._reason(item, settled)
        ]
        if left is not None:
            open_items = self._affordable(open_items, left)
        planned: Counter[int] = Counter()
        batch: list[FreshQuery] = []
        while len(batch) < wanted:
            able = [item for item in open_items if self._may_plan(item, planned[item.spec.order])]
            if not able:
                break
            item = min(able, key=lambda one: (one.tries, one.spec.order))
            planned[item.spec.order] += 1
            batch.append(FreshQuery(item.spec.order, item.spec.key, item.tries))
            item.tries += 1
        return batch

    def _affordable(self, open_items: Sequence[_Item], left: int) -> list[_Item]:
        """Return the first items that the budget can ask to the end, and one in any case.

        All in turn, a budget too small for the family would decide none of them.
        """
        chosen: list[_Item] = []
        need = 0
        for item in open_items:
            need += self._config.max_samples - item.samples
            if chosen and need > left:
                break
            chosen.append(item)
        return chosen

    def _may_plan(self, item: _Item, planned: int) -> bool:
        most = self._config.max_samples
        return planned < MOST_AT_ONCE and item.samples + planned < most and item.tries < MOST_TRIES * most

    def _budget_left(self) -> int | None:
        budget = self._config.inference_budget
        return None if budget is None else max(0, budget - self._observations)

    def _decide(self) -> None:
        """Settle the items of this run; predict for open ones whether more scenes decide them."""
        counts = [FreshCounts(item.fails, item.samples, item.place, is_open=True) for item in self._items]
        self._settled = settle_family(counts, self._config)
        for item, settled in zip(self._items, self._settled, strict=True):
            if settled.state == "suspected":
                table = stopping_table(
                    self._config.failure_rate_threshold,
                    self._config.max_samples,
                    confirm_bar=settled.log_e_needed,
                    refute_bar=settled.log_e_against_needed,
                )
                item.chance = table.chance(item.fails, item.samples)

    def _reason(self, item: _Item, settled: Settlement) -> str:
        """Return why nothing more is asked of an item; "" while there is more to ask."""
        most = self._config.max_samples
        if settled.state != "suspected":
            return "crossed"
        if item.samples >= most:
            return "cap"
        if item.tries >= MOST_TRIES * most or item.idle_tries >= MOST_IDLE_TRIES:
            return "exhausted"
        if item.chance == 0.0 or item.chance < self._config.futility:
            return "futile"
        return "budget" if self._budget_left() == 0 else ""

    def _result(self, item: _Item, settled: Settlement) -> ItemResult:
        reason = self._reason(item, settled)
        state = settled.state if reason == "crossed" else "undetermined" if reason else ""
        return ItemResult(state, reason, item.fails, item.samples, self._numbers(item, settled))

    def _numbers(self, item: _Item, settled: Settlement) -> dict[str, Any]:
        interval = settled.interval
        return {
            "log_e": round(settled.log_e, 6),
            "log_e_against": round(settled.log_e_against, 6),
            "log_e_needed": round(settled.log_e_needed, 6),
            "log_e_against_needed": round(settled.log_e_against_needed, 6),
            "interval": {"low": interval.low, "high": interval.high, "level": interval.level},
            "invalid": item.invalid,
            "without_invalid": {"fails": item.fails - item.invalid, "samples": item.samples - item.invalid},
            "repeats": item.repeats,
            "call_errors": item.call_errors,
            "incompatible": item.incompatible,
            "chance": round(item.chance, 6) if settled.state == "suspected" else None,
            "threshold": self._config.failure_rate_threshold,
            "family_size": self._config.family_size if item.place is None else None,
            "place": item.place,
            "level": round(family_level(self._config), 12),
            "trail": [list(point) for point in _thinned(item.trail)],
        }


def build_confirm(config: ConfirmConfig, *, items: Sequence[ItemSpec], run_seed: int) -> FollowUpSearch:
    """Return the search: sequential, or the paper's fixed number of scenes for every item."""
    if config.protocol == "paper":
        return FixedDesignSearch(items, n=config.paper_samples, slots=config.slots)
    return ConfirmSearch(config, items)


def _place_of(spec: ItemSpec, config: ConfirmConfig) -> int | None:
    """Return the place in the line of later suspects; None for the family."""
    if config.later_index is None:
        return None
    return int(spec.settings.get("place", config.later_index + spec.order))


def _point(item: _Item, settled: Settlement) -> tuple[int, int, float, float]:
    return item.samples, item.fails, round(settled.log_e, 4), round(settled.log_e_against, 4)


def _thinned(trail: Sequence[tuple[int, int, float, float]]) -> list[tuple[int, int, float, float]]:
    """Return at most about ``MOST_TRAIL_POINTS`` points, evenly spaced and with the last one."""
    step = -(-len(trail) // MOST_TRAIL_POINTS) or 1
    return [*trail[(len(trail) - 1) % step :: step]] if trail else []
