"""Playing a confirmation: items and outcomes for tests."""

from collections.abc import Callable, Sequence

from vlmlab.core.revelio.types import Verdict
from vlmlab.core.verdicts.config import ConfirmConfig
from vlmlab.core.verdicts.confirm import ConfirmSearch
from vlmlab.core.verdicts.queries import FreshOutcome, FreshQuery, ItemSpec

Answer = Callable[[FreshQuery], FreshOutcome]


def specs(count: int) -> list[ItemSpec]:
    return [ItemSpec(order, f"block{order}", key=(f"concept_{order}",)) for order in range(count)]


def search_of(count: int, **settings: object) -> ConfirmSearch:
    return ConfirmSearch(ConfirmConfig(**{"family_size": count, **settings}), specs(count))


def answered(query: FreshQuery, letter: str, *, picture: str = "") -> FreshOutcome:
    """F wrong, I wrong because invalid, P right, E call error, X incompatible."""
    verdict = {"P": Verdict.PASS, "E": Verdict.CALL_ERROR, "X": Verdict.INCOMPATIBLE}.get(
        letter, Verdict.FAIL
    )
    return FreshOutcome(query, verdict, is_invalid=letter == "I", picture=picture)


def with_letters(letters: Sequence[str]) -> Answer:
    """Answer each item with its letters, again and again."""
    return lambda query: answered(query, letters[query.item][query.number % len(letters[query.item])])


def play(search: ConfirmSearch, answer: Answer, *, most_batches: int = 10_000) -> list[list[FreshQuery]]:
    """Run to the end; returns the batches."""
    batches = []
    while len(batches) < most_batches and (batch := search.ask()):
        batches.append(list(batch))
        search.tell([answer(query) for query in batch])
    return batches
