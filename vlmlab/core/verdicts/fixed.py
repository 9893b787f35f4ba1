"""A follow-up of a fixed size: the same number of fresh scenes for every item and arm, asked in rounds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vlmlab.core.revelio.types import Verdict
from vlmlab.core.scenes.concepts import Key
from vlmlab.core.verdicts.batches import AskedInBatches
from vlmlab.core.verdicts.queries import FreshOutcome, FreshQuery, ItemResult, ItemSpec, Variant

MOST_TRIES = 3  # scenes tried for each one that is wanted before an item is given up

PASSED, FAILED, INVALID = "P", "F", "I"

Arm = tuple[Key, Variant]


@dataclass
class _Item:
    spec: ItemSpec
    arms: tuple[Arm, ...]
    wanted: int
    next_number: int = 0
    answered: dict[int, dict[Arm, FreshOutcome]] = field(default_factory=dict)
    result: ItemResult | None = None

    def take(self, number: int, outcomes: Mapping[Arm, FreshOutcome]) -> None:
        """Keep a scene whose every arm was answered."""
        if all(outcomes[arm].is_answer for arm in self.arms):
            self.answered[number] = dict(outcomes)
        self.result = None

    @property
    def room(self) -> int:
        """How many scenes are still wanted and may still be had."""
        return max(0, min(self.wanted - len(self.answered), MOST_TRIES * self.wanted - self.next_number))

    @property
    def is_open(self) -> bool:
        """Whether there is room."""
        return self.room > 0


class FixedDesignSearch(AskedInBatches):
    """Asks ``n`` scenes of each item, each in every arm; a scene with a failed call is replaced whole.

    Args:
        items: what to ask about; the first arm of each is the item itself.
        n: scenes for each item.
        variants: how each set is asked.
        slots: questions asked together, about.
    """

    def __init__(
        self, items: Sequence[ItemSpec], *, n: int, variants: Sequence[Variant] = ("",), slots: int = 8
    ) -> None:
        super().__init__()
        self._items = [
            _Item(spec, tuple((key, variant) for key in (spec.key, *spec.arms) for variant in variants), n)
            for spec in items
        ]
        self._by_order = {item.spec.order: item for item in self._items}
        self._slots = slots

    @property
    def stage(self) -> str:
        """The part that asks now."""
        return "fresh scenes"

    def _take(self, outcomes: Sequence[FreshOutcome]) -> None:
        scenes: dict[tuple[int, int], dict[Arm, FreshOutcome]] = {}
        for outcome in outcomes:
            query = outcome.query
            scene = scenes.setdefault((query.item, query.number), {})
            scene[query.key, query.variant] = outcome
        for (order, number), by_arm in scenes.items():
            self._by_order[order].take(number, by_arm)

    def results(self) -> list[ItemResult]:
        """Return fails and samples of each item, and those of each arm by set and variant."""
        found = []
        for item in self._items:
            if item.result is None:
                item.result = self._result(item)
            found.append(item.result)
        return found

    def _next(self) -> list[FreshQuery]:
        """Return the next scenes of the items with the fewest, all arms of a scene together."""
        batch: list[FreshQuery] = []
        line = [
            (item.next_number + ahead, place, item)
            for place, item in enumerate(self._items)
            for ahead in range(min(item.room, self._slots))
        ]
        for number, _, item in sorted(line, key=lambda one: one[:2]):
            if len(batch) >= self._slots:
                break
            item.next_number = number + 1
            batch += [FreshQuery(item.spec.order, key, number, variant) for key, variant in item.arms]
        return batch

    def _result(self, item: _Item) -> ItemResult:
        numbers = sorted(item.answered)
        arms = [
            arm_counts(key, variant, [item.answered[one][key, variant] for one in numbers])
            for key, variant in item.arms
        ]
        is_done = len(numbers) >= item.wanted
        return ItemResult(
            state="" if item.is_open else "measured" if is_done else "undetermined",
            reason="" if item.is_open else "complete" if is_done else "exhausted",
            fails=sum(letter != PASSED for letter in str(arms[0]["outcomes"])),
            samples=len(numbers),
            numbers={"numbers": numbers, "arms": arms},
        )


def letter_of(outcome: FreshOutcome) -> str:
    """Return an answer as a letter: passed, failed, or failed because no option was named."""
    if outcome.verdict is Verdict.PASS:
        return PASSED
    return INVALID if outcome.is_invalid else FAILED


def arm_counts(key: Key, variant: Variant, outcomes: Sequence[FreshOutcome]) -> dict[str, object]:
    """Return what is stored of one arm: its counts, and a letter for each scene in the order of numbers."""
    letters = "".join(letter_of(outcome) for outcome in outcomes)
    return {
        "key": list(key),
        "variant": variant,
        "fails": len(letters) - letters.count(PASSED),
        "invalid": letters.count(INVALID),
        "outcomes": letters,
    }
