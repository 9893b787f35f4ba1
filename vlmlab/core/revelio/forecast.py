"""What a search will probably ask next, so that its pictures can be drawn while the system still answers."""

import copy
from collections.abc import Sequence

from vlmlab.core.revelio.trials import ConceptSetSearch
from vlmlab.core.revelio.types import Key, Outcome, Query, Verdict

LIKELY_FAIL = 0.5


def forecast(search: ConceptSetSearch, count: int, *, excluded: Sequence[Query] = ()) -> tuple[Query, ...]:
    """Return queries that the search may ask after its pending batch, the most probable first.

    Copies of the search are told three guesses: each set goes on as it went so far, all pass, all fail. What
    all of them ask is certain to be asked. The search itself is not touched, so guessing wrong costs nothing
    but the work that was done ahead.

    Args:
        search: has a pending batch; without one there is nothing to guess from.
        count: how many queries to return at most.
        excluded: queries that need no work, such as those of the pending batch.
    """
    pending = tuple(search.ask())
    if not pending or count < 1:
        return ()
    usual = _usual_outcomes(search, pending)
    guesses = [usual, dict.fromkeys(usual, Verdict.PASS), dict.fromkeys(usual, Verdict.FAIL)]
    asked = [_next_batch(search, pending, guess) for guess in guesses]
    votes: dict[Query, int] = {}
    for batch in asked:
        for query in batch:
            votes[query] = votes.get(query, 0) + 1
    skipped = {*excluded, *pending}
    ranked = sorted((query for query in votes if query not in skipped), key=lambda query: -votes[query])
    return tuple(ranked[:count])


def _usual_outcomes(search: ConceptSetSearch, pending: Sequence[Query]) -> dict[Key, Verdict]:
    """Return for each set of a batch what its samples said more often, at first what all samples said."""
    states = search.trials
    fails = sum(state.fails for state in states.values())
    answered = fails + sum(state.passes for state in states.values())
    overall = fails / answered if answered else 0.0
    outcomes = {}
    for key in dict.fromkeys(query.key for query in pending):
        state = states[key]
        rate = (state.fails + overall) / (state.fails + state.passes + 1)
        outcomes[key] = Verdict.FAIL if rate >= LIKELY_FAIL else Verdict.PASS
    return outcomes


def _next_batch(
    search: ConceptSetSearch, pending: Sequence[Query], guess: dict[Key, Verdict]
) -> Sequence[Query]:
    twin = copy.deepcopy(search, {id(search.space): search.space})
    twin.tell([Outcome(query, guess[query.key]) for query in pending])
    return twin.ask()
