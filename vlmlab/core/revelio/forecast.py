"""What a search will probably ask next, so that its pictures can be drawn while the system still answers."""

import copy
from collections.abc import Sequence

from vlmlab.core.revelio.trials import ConceptSetSearch
from vlmlab.core.revelio.types import Key, Outcome, Query, Verdict
from vlmlab.core.seeding import rng_for

LIKELY_FAIL = 0.5
PRIOR_SAMPLES = 2.0
PRIOR_RATE = 0.3
MOST_FUTURES = 12
FUTURES_TIMES_TRIALS = 1200  # copying a search takes the longer, the more it has tried


def forecast(search: ConceptSetSearch, count: int, *, excluded: Sequence[Query] = ()) -> tuple[Query, ...]:
    """Return queries that the search may ask after its pending batch, the most probable first.

    Copies of the search are told guesses: each set goes on as it went so far, all pass, all fail, and a few
    random futures at the rates seen so far. What most of them ask comes first. The search itself is not
    touched, so guessing wrong costs nothing but the work that was done ahead.

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
    plain = [[Outcome(query, guess[query.key]) for query in pending] for guess in guesses]
    asked = [_next_batch(search, future) for future in (*plain, *_random_futures(search, pending))]
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


def _random_futures(search: ConceptSetSearch, pending: Sequence[Query]) -> list[list[Outcome]]:
    """Return outcomes of a batch drawn at the rate of each set, shrunk towards that of all."""
    states = search.trials
    fails = sum(state.fails for state in states.values()) + PRIOR_SAMPLES * PRIOR_RATE
    overall = fails / (PRIOR_SAMPLES + sum(state.fails + state.passes for state in states.values()))
    rates = []
    for query in pending:
        state = states[query.key]
        rates.append((state.fails + overall) / (state.fails + state.passes + 1))
    rng = rng_for(search.run_seed, "forecast", search.observations)
    count = min(MOST_FUTURES, FUTURES_TIMES_TRIALS // (len(states) + 1))
    draws = rng.random((count, len(pending)))
    return [
        [
            Outcome(query, Verdict.FAIL if draw < rate else Verdict.PASS)
            for query, draw, rate in zip(pending, row, rates, strict=True)
        ]
        for row in draws
    ]


def _next_batch(search: ConceptSetSearch, outcomes: Sequence[Outcome]) -> Sequence[Query]:
    twin = copy.deepcopy(search, {id(search.space): search.space})
    twin.tell(outcomes)
    return twin.ask()
