"""A follow-up of a fixed size: the same number of fresh scenes for every item and arm, asked in rounds."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from vlmlab.core.revelio.types import Verdict
from vlmlab.core.scenes.concepts import Key
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
    outcomes: dict[int, dict[Arm, FreshOutcome]] = field(default_factory=dict)

    def complete(self) -> list[int]:
        """Return the numbers whose every arm was answered."""
        return [
            number
            for number, by_arm in sorted(self.outcomes.items())
            if all(arm in by_arm and by_arm[arm].is_answer for arm in self.arms)
        ]

    @property
    def is_open(self) -> bool:
        """Whether scenes are still wanted and may still be had."""
        return len(self.complete()) < self.wanted and self.next_number < MOST_TRIES * self.wanted


class FixedDesignSearch:
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
        self._items = [
            _Item(spec, tuple((key, variant) for key in (spec.key, *spec.arms) for variant in variants), n)
            for spec in items
        ]
        self._by_order = {item.spec.order: item for item in self._items}
        self._slots = slots
        self._asked: list[FreshQuery] | None = None
        self._observations = 0

    @property
    def stage(self) -> str:
        """The part that asks now."""
        return "fresh scenes"

    @property
    def observations(self) -> int:
        """Answers told so far."""
        return self._observations

    def ask(self) -> list[FreshQuery]:
        """Return the next scenes of the items with the fewest, all arms of a scene together."""
        if self._asked is None:
            self._asked = self._next()
        return self._asked

    def tell(self, outcomes: Sequence[FreshOutcome]) -> None:
        """Take the outcomes of the batch last asked.

        Raises:
            ValueError: the outcomes do not answer the batch last asked.
        """
        if [outcome.query for outcome in outcomes] != self._asked:
            raise ValueError("outcomes must answer the batch last asked, in its order")
        for outcome in outcomes:
            query = outcome.query
            by_arm = self._by_order[query.item].outcomes.setdefault(query.number, {})
            by_arm[(query.key, query.variant)] = outcome
            self._observations += outcome.is_answer
        self._asked = None

    def results(self) -> list[ItemResult]:
        """Return fails and samples of each item, and those of each arm by set and variant."""
        return [self._result(item) for item in self._items]

    def _next(self) -> list[FreshQuery]:
        batch: list[FreshQuery] = []
        order = sorted((item for item in self._items if item.is_open), key=lambda item: item.next_number)
        for item in order:
            if len(batch) >= self._slots:
                break
            number = item.next_number
            item.next_number += 1
            batch += [FreshQuery(item.spec.order, key, number, variant) for key, variant in item.arms]
        return batch

    def _result(self, item: _Item) -> ItemResult:
        numbers = item.complete()
        arms = [
            arm_counts(key, variant, [item.outcomes[one][key, variant] for one in numbers])
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
