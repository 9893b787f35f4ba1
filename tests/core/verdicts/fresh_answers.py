"""Systems on paper that answer the questions of a follow-up, and a loop that asks them to the end."""

from collections.abc import Callable, Sequence

from vlmlab.core.revelio.types import Verdict
from vlmlab.core.scenes.concepts import Key
from vlmlab.core.seeding import rng_for
from vlmlab.core.verdicts.queries import FollowUpSearch, FreshOutcome, FreshQuery

Answer = Callable[[FreshQuery], FreshOutcome]


def failing(rate: Callable[[Key], float], *, seed: int = 1) -> Answer:
    """Fail with a rate that depends on the set; one draw a scene, so that arms of a scene are paired."""

    def answer(query: FreshQuery) -> FreshOutcome:
        draw = rng_for(seed, "scene", query.item, query.number).random()
        return FreshOutcome(query, Verdict.FAIL if draw < rate(query.key) else Verdict.PASS)

    return answer


def always(verdict: Verdict) -> Answer:
    return lambda query: FreshOutcome(query, verdict)


def run_to_end(search: FollowUpSearch, answer: Answer) -> list[FreshQuery]:
    asked: list[FreshQuery] = []
    while batch := search.ask():
        assert search.ask() == batch
        search.tell([answer(query) for query in batch])
        asked += batch
    return asked


def told(search: FollowUpSearch, outcomes: Sequence[FreshOutcome]) -> None:
    """Tell stored outcomes again, batch by batch, as a resumed run does."""
    rest = list(outcomes)
    while rest:
        size = len(search.ask())
        search.tell(rest[:size])
        rest = rest[size:]
