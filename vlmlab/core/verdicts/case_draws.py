"""Follow-ups of MoST test cases: the input as it was, the picture without a perturbation, and fresh draws.

A test case is a strategy on a seed image. Its operators can be drawn anew at the same severities: a fresh
draw. A follow-up of cases first asks fixed inputs (the parts), then hands the rest to a search over draws.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from vlmlab.core.revelio.types import Verdict
from vlmlab.core.verdicts.batches import AskedInBatches
from vlmlab.core.verdicts.config import FollowUpConfig
from vlmlab.core.verdicts.fixed import FixedDesignSearch, arm_counts
from vlmlab.core.verdicts.follow_ups import FOLLOW_UPS
from vlmlab.core.verdicts.queries import FollowUpSearch, FreshOutcome, FreshQuery, ItemResult, ItemSpec

TRIES = 3
"""How often a fixed input is asked until its call is answered."""


class Part(StrEnum):
    """What of a case is shown.

    CLEAN is the seed image without a perturbation; EXACT the very input of the case; RANDOM a strategy drawn
    at random on the same seed image with the same budget; FRESH the strategy of the case with its operators
    drawn anew.
    """

    CLEAN = "clean"
    EXACT = "exact"
    RANDOM = "random"
    FRESH = "fresh"


_FIXED = (Part.CLEAN, Part.EXACT, Part.RANDOM)
FIRST_FRESH = TRIES * len(_FIXED)
"""Number of the first fresh draw; below it stand the fixed inputs, ``TRIES`` numbers each."""


def part_of(number: int) -> tuple[Part, int]:
    """Return what the question with a number shows, and which try, or which draw, it is (from 0)."""
    if number >= FIRST_FRESH:
        return Part.FRESH, number - FIRST_FRESH
    return _FIXED[number // TRIES], number % TRIES


def number_of(part: Part, index: int) -> int:
    """Return the number of a question: the inverse of ``part_of``."""
    return FIRST_FRESH + index if part is Part.FRESH else TRIES * _FIXED.index(part) + index


def case_search(
    kind: str, config: FollowUpConfig, *, items: Sequence[ItemSpec], run_seed: int
) -> "CaseSearch":
    """Return the search of a follow-up of cases.

    Args:
        kind: "confirm": the input once more, then fresh draws until the evidence decides. "transfer",
            "regress": the clean picture, the input, with the setting ``random`` a random strategy, then as
            many fresh draws as the setting ``draws`` says.
        config: the settings.
        items: the cases, in order from 0.
        run_seed: the number all randomness of the run comes from.

    Raises:
        ValueError: cases have no follow-up of this kind.
    """
    if kind == "confirm":

        def sequential(eligible: Sequence[ItemSpec]) -> FollowUpSearch:
            return FOLLOW_UPS["confirm"].build_search(config, items=eligible, run_seed=run_seed)

        return CaseSearch(items, parts=(Part.EXACT,), fresh=sequential, slots=config.slots, is_settled=True)
    if kind not in ("transfer", "regress"):
        raise ValueError(f"kind must be confirm, transfer or regress, got {kind!r}")
    draws = max((int(item.settings.get("draws", 0)) for item in items), default=0)
    has_random = any(item.settings.get("random") for item in items)
    parts = (Part.CLEAN, Part.EXACT, *((Part.RANDOM,) if has_random else ()))

    def fixed(eligible: Sequence[ItemSpec]) -> FollowUpSearch:
        return FixedDesignSearch(eligible, n=draws, slots=config.slots)

    return CaseSearch(items, parts=parts, fresh=fixed if draws else None, slots=config.slots)


@dataclass
class _Case:
    spec: ItemSpec
    told: dict[Part, list[FreshOutcome]] = field(default_factory=dict)

    def answer(self, part: Part) -> FreshOutcome | None:
        """Return the answer to a fixed input, None while there is none."""
        return next((one for one in self.told.get(part, []) if one.is_answer), None)

    def is_over(self, part: Part) -> bool:
        """Whether a fixed input is not asked again: answered, tried often enough, or not to be made."""
        told = self.told.get(part, [])
        is_unmade = any(one.verdict is Verdict.INCOMPATIBLE for one in told)
        return self.answer(part) is not None or is_unmade or len(told) >= TRIES

    @property
    def is_eligible(self) -> bool:
        """Whether nothing says that the seed image is beyond the system to begin with."""
        if Part.CLEAN not in self.told:
            return True
        clean = self.answer(Part.CLEAN)
        return clean is not None and clean.verdict is Verdict.PASS


class CaseSearch(AskedInBatches):
    """Asks the fixed inputs of every case, then what a search over fresh draws asks (a ``FollowUpSearch``).

    Args:
        items: the cases, in order from 0.
        parts: fixed inputs, in the order asked; a case whose clean picture is answered wrongly is asked
            nothing further.
        fresh: eligible cases -> the search over their draws; None without draws.
        slots: questions asked together.
        is_settled: whether the state of a case is that of the search over its draws.
    """

    def __init__(
        self,
        items: Sequence[ItemSpec],
        *,
        parts: Sequence[Part],
        fresh: Callable[[Sequence[ItemSpec]], FollowUpSearch] | None,
        slots: int,
        is_settled: bool = False,
    ) -> None:
        super().__init__()
        self._cases = [_Case(spec) for spec in items]
        self._parts = tuple(parts)
        self._make_fresh = fresh
        self._slots = slots
        self._is_settled = is_settled
        self._fresh: FollowUpSearch | None = None
        self._eligible: list[int] = []

    @property
    def stage(self) -> str:
        """The part that asks now."""
        return "fresh draws" if self._fresh is not None else "inputs as they were"

    def _take(self, outcomes: Sequence[FreshOutcome]) -> None:
        if self._fresh is not None:
            self._fresh.tell([replace(one, query=self._inner(one.query)) for one in outcomes])
        else:
            for one in outcomes:
                part, _ = part_of(one.query.number)
                self._cases[one.query.item].told.setdefault(part, []).append(one)

    def results(self) -> list[ItemResult]:
        """Return what is known of each case.

        ``numbers`` has ``parts``, how each fixed input was answered, and what the draws say. Where the state
        of a case is not that of its draws, ``numbers`` and ``arms`` are those of a fixed design: over the
        draws, or over the one input of the case where nothing was drawn; ``fails`` and ``samples`` are of
        that one input.
        """
        drawn = self._fresh.results() if self._fresh is not None else []
        by_case = dict(zip(self._eligible, drawn, strict=True))
        return [self._result(case, by_case.get(at)) for at, case in enumerate(self._cases)]

    def _next(self) -> list[FreshQuery]:
        """Return the next fixed inputs, one a case, or the next fresh draws."""
        batch: list[FreshQuery] = []
        for case in self._cases:
            part = self._next_part(case)
            if part is not None and len(batch) < self._slots:
                number = number_of(part, len(case.told.get(part, [])))
                batch.append(FreshQuery(case.spec.order, (), number))
        if batch or self._make_fresh is None:
            return batch
        if self._fresh is None:
            self._eligible = [at for at, case in enumerate(self._cases) if case.is_eligible]
            specs = [replace(self._cases[at].spec, order=place) for place, at in enumerate(self._eligible)]
            self._fresh = self._make_fresh(specs)
        return [
            replace(query, item=self._eligible[query.item], number=number_of(Part.FRESH, query.number))
            for query in self._fresh.ask()
        ]

    def _next_part(self, case: _Case) -> Part | None:
        for part in self._parts:
            if part is Part.RANDOM and not case.spec.settings.get("random"):
                continue
            if not case.is_over(part):
                return part
            if part is Part.CLEAN and not case.is_eligible:
                return None
        return None

    def _inner(self, query: FreshQuery) -> FreshQuery:
        return replace(query, item=self._eligible.index(query.item), number=part_of(query.number)[1])

    def _result(self, case: _Case, drawn: ItemResult | None) -> ItemResult:
        parts = {part.value: _word(case, part) for part in self._parts if case.told.get(part)}
        numbers = {"parts": parts, **(drawn.numbers if drawn else {})}
        if self._is_settled:
            if drawn is None:
                return ItemResult("", "", 0, 0, numbers)
            return replace(drawn, numbers=numbers)
        exact = case.answer(Part.EXACT)
        if drawn is not None:
            numbers["fresh"] = {"fails": drawn.fails, "n": drawn.samples}
        if exact is not None and (drawn is None or not drawn.samples):
            numbers |= {"numbers": [0], "arms": [arm_counts((), "", [exact])]}
        state, reason = self._fixed_state(case, drawn)
        fails = int(exact is not None and exact.verdict is Verdict.FAIL)
        return ItemResult(state, reason, fails, int(exact is not None), numbers)

    def _fixed_state(self, case: _Case, drawn: ItemResult | None) -> tuple[str, str]:
        if self._next_part(case) is not None:
            return "", ""
        if not case.is_eligible:
            was_asked = case.answer(Part.CLEAN) is not None
            return ("ineligible", "clean") if was_asked else ("undetermined", "unanswered")
        if self._make_fresh is not None and (drawn is None or not drawn.state):
            return "", ""
        exact = case.answer(Part.EXACT)
        if exact is None:
            return "undetermined", "unanswered"
        return ("fails", "complete") if exact.verdict is Verdict.FAIL else ("holds", "complete")


def _word(case: _Case, part: Part) -> str:
    """Return how a fixed input was answered: pass, fail, or why there is no answer."""
    answer = case.answer(part)
    return (answer or case.told[part][-1]).verdict.value
