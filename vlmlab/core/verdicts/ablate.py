"""Paired ablation of suspects: the same scenes with and without each concept, then the smallest failing set.

First every item is asked its planned pairs: the whole set and each comparable drop on the same numbers. Then
items whose set failed on these scenes are reduced, on scenes of their own.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

from vlmlab.core.revelio.racing import fails_needed
from vlmlab.core.scenes.concepts import Key
from vlmlab.core.stats import count_pairs
from vlmlab.core.verdicts.batches import AskedInBatches
from vlmlab.core.verdicts.config import AblateConfig
from vlmlab.core.verdicts.fixed import MOST_TRIES, PASSED, FixedDesignSearch
from vlmlab.core.verdicts.necessity import DropReading, NecessityRules, judge_drops
from vlmlab.core.verdicts.queries import FreshOutcome, FreshQuery, ItemResult, ItemSpec
from vlmlab.core.verdicts.reduce import Judgement, StillFails, judgement_of, smallest_failing


@dataclass
class _Reduction:
    """How far the smallest failing sets of one item are known."""

    item: int
    walk: Generator[Key, Judgement, list[Key]]
    scenes: int
    threshold: float
    at: Key = ()
    test: StillFails = field(init=False)
    tries: int = 0
    judged: dict[Key, Judgement] = field(default_factory=dict)
    found: list[Key] | None = None

    def start(self) -> None:
        """Go to the first set that is to be judged."""
        try:
            self._begin(next(self.walk))
        except StopIteration as done:
            self.found = done.value

    def move_on(self) -> None:
        """Go to the next set once this one is judged, or cannot be asked often enough."""
        if self.found is not None or (self.test.room and self.tries < MOST_TRIES * self.scenes):
            return
        self.judged[self.at] = self.test.judgement
        try:
            self._begin(self.walk.send(self.test.judgement))
        except StopIteration as done:
            self.found = done.value

    def _begin(self, key: Key) -> None:
        self.at, self.test, self.tries = key, StillFails(self.scenes, self.threshold), 0


class AblateSearch(AskedInBatches):
    """Asks pairs, then smaller and smaller sets.

    Args:
        config: pairs, level, margin, threshold, scenes of a smaller set.
        items: suspects; arms are the comparable drops, settings those of ``DropPlan``.
    """

    def __init__(self, config: AblateConfig, *, items: Sequence[ItemSpec]) -> None:
        super().__init__()
        self._config = config
        self._items = items
        # With nothing to leave out there is nothing to compare: such an item asks no scene.
        self._paired = [position for position, item in enumerate(items) if item.arms]
        self._pairs = FixedDesignSearch(
            [items[position] for position in self._paired], n=config.pairs, slots=config.slots
        )
        self._first_number = MOST_TRIES * config.pairs  # scenes of smaller sets are none of the pairs'
        self._reductions: list[_Reduction] | None = None
        self._readings: dict[int, tuple[ItemResult, dict[Key, DropReading]]] = {}
        self._start_reducing_when_paired()

    @property
    def stage(self) -> str:
        """Paired scenes, or smaller sets."""
        return "paired scenes" if self._reductions is None else "smaller sets"

    def _take(self, outcomes: Sequence[FreshOutcome]) -> None:
        if self._reductions is None:
            self._pairs.tell(outcomes)
            self._start_reducing_when_paired()
        else:
            by_item = {one.item: one for one in self._reductions}
            for outcome in outcomes:
                by_item[outcome.query.item].test.take(outcome.verdict)
            for one in self._reductions:
                one.move_on()

    def results(self) -> list[ItemResult]:
        """Return what is said of each concept of each item, and the smaller sets that still fail."""
        paired = dict(zip(self._paired, self._pairs.results(), strict=True))
        return [
            self._result(item, paired[position]) if position in paired else _nothing_comparable(item)
            for position, item in enumerate(self._items)
        ]

    def _next(self) -> list[FreshQuery]:
        """Return the next scenes: all arms of a pair together, then as many of a smaller set as it needs."""
        return self._pairs.ask() if self._reductions is None else self._next_smaller()

    def _start_reducing_when_paired(self) -> None:
        if self._reductions is not None or self._pairs.ask():
            return
        self._reductions = []
        if not self._config.reduces:
            return
        threshold = self._config.failure_rate_threshold
        for position, result in zip(self._paired, self._pairs.results(), strict=True):
            item = self._items[position]
            known = self._known(result)
            if result.samples and known[item.key].still_fails:
                smaller = [tuple(key) for key in item.settings.get("smaller", item.arms)]
                walk = smallest_failing(item.key, smaller, known)
                reduction = _Reduction(item.order, walk, self._config.reduce_scenes, threshold)
                reduction.start()
                self._reductions.append(reduction)

    def _next_smaller(self) -> list[FreshQuery]:
        """Return scenes of the smaller sets being judged, in turn, none that a judgement could make vain."""
        batch: list[FreshQuery] = []
        for one in self._reductions or ():
            if one.found is None and len(batch) < self._config.slots:
                room = min(one.test.room, self._config.slots - len(batch))
                numbers = range(one.tries, one.tries + room)
                batch += [FreshQuery(one.item, one.at, self._first_number + number) for number in numbers]
                one.tries += room
        return batch

    def _known(self, result: ItemResult) -> dict[Key, Judgement]:
        """Return what the pairs say of each set: whether it failed as often as the threshold asks."""
        threshold = self._config.failure_rate_threshold
        needed = fails_needed(max(1, result.samples), threshold)
        return {
            tuple(arm["key"]): judgement_of(
                arm["fails"], result.samples, still_fails=arm["fails"] >= needed, threshold=threshold
            )
            for arm in result.numbers["arms"]
        }

    def _result(self, item: ItemSpec, result: ItemResult) -> ItemResult:
        readings = self._readings_of(item, result)
        reduction = next((one for one in self._reductions or () if one.item == item.order), None)
        known = self._known(result) | (reduction.judged if reduction else {})
        smaller = [] if reduction is None else reduction.found or []
        if reduction is None and known[item.key].still_fails:
            smaller = [key for key in item.arms if known[key].still_fails]
        is_open = (
            result.state == "" or self._reductions is None or bool(reduction and reduction.found is None)
        )
        state, reason = _minimality(result, item=item, known=known, readings=readings, smaller=smaller)
        return ItemResult(
            state="" if is_open else state,
            reason="" if is_open else reason,
            fails=result.fails,
            samples=result.samples,
            numbers={
                **result.numbers,
                "drops": _drop_rows(item, readings),
                "smaller": [] if is_open else [_set_row(key, known[key]) for key in smaller],
                "judged": [
                    _set_row(key, one) for key, one in known.items() if key not in (item.key, *item.arms)
                ],
            },
        )

    def _readings_of(self, item: ItemSpec, result: ItemResult) -> dict[Key, DropReading]:
        """Return what the pairs say of each rest, worked out once for each state of the pairs."""
        known = self._readings.get(item.order)
        if known is not None and known[0] is result:
            return known[1]
        rules = NecessityRules(self._config.level, self._config.margin, self._config.failure_rate_threshold)
        whole, *rests = result.numbers["arms"]
        counts = [
            count_pairs(
                (first != PASSED, second != PASSED)
                for first, second in zip(whole["outcomes"], rest["outcomes"], strict=True)
            )
            for rest in rests
        ]
        keys = [tuple(rest["key"]) for rest in rests]
        readings = dict(zip(keys, judge_drops(counts, rules), strict=True))
        self._readings[item.order] = (result, readings)
        return readings


def _minimality(
    result: ItemResult,
    *,
    item: ItemSpec,
    known: dict[Key, Judgement],
    readings: dict[Key, DropReading],
    smaller: Sequence[Key],
) -> tuple[str, str]:
    """Return whether the set is minimal, and why, as words."""
    if result.reason == "exhausted":
        return "undetermined", "exhausted"
    if not known[item.key].still_fails:
        return "undetermined", "not_failing"
    if smaller:
        return "reducible", "complete"
    if all(reading.rest_passes for reading in readings.values()):
        return "minimal", "complete"
    return "undetermined", "unclear"


def _nothing_comparable(item: ItemSpec) -> ItemResult:
    numbers = {"numbers": [], "arms": [], "drops": _drop_rows(item, {}), "smaller": [], "judged": []}
    return ItemResult("minimal", "nothing_comparable", 0, 0, numbers)


def _drop_rows(item: ItemSpec, readings: dict[Key, DropReading]) -> list[dict[str, Any]]:
    """Return each drop as it was planned, with what is said of it."""
    planned = item.settings.get("drops") or [
        {"concepts": [one for one in item.key if one not in key], "key": list(key), "kind": "comparable"}
        for key in item.arms
    ]
    rows = []
    for drop in planned:
        reading = readings.get(tuple(drop["key"]))
        row = {**drop, "necessity": drop["kind"]}
        if drop["kind"] == "comparable":
            row = (
                {**drop, "necessity": "undetermined"}
                if reading is None
                else {**drop, **_reading_row(reading)}
            )
        rows.append(row)
    return rows


def _reading_row(reading: DropReading) -> dict[str, Any]:
    return {
        "necessity": reading.necessity,
        "n": reading.counts.n,
        "fails_with": reading.counts.first,
        "fails_without": reading.counts.second,
        "only_with": reading.counts.first_only,
        "only_without": reading.counts.second_only,
        "p_value": reading.p_value,
        "adjusted": reading.adjusted,
        "difference": reading.counts.difference,
        "low": reading.difference.low,
        "high": reading.difference.high,
        "level": reading.difference.level,
        "without_low": reading.rest_low,
        "without_high": reading.rest_high,
    }


def _set_row(key: Key, one: Judgement) -> dict[str, Any]:
    return {
        "key": list(key),
        "fails": one.fails,
        "samples": one.samples,
        "still_fails": one.still_fails,
        "is_sure": one.is_sure,
    }
