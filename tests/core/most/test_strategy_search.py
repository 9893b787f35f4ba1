"""What every search promises: budgets, batches, failed calls, when it ends, and replay."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.most.tiny import (
    boxes,
    fails_from,
    harmless,
    landscape_search,
    play,
    robust,
    strategies,
    tiny_search,
    tiny_space,
)
from vlmlab.core.most.admission import FidelityMemory
from vlmlab.core.most.landscapes import landscape
from vlmlab.core.most.search import build_search
from vlmlab.core.most.strategy_search import MAX_UNCHARGED, EndReason
from vlmlab.core.most.types import AnswerStatus, Outcome, Query
from vlmlab.core.search import ReplayMismatchError, replay
from vlmlab.core.seeding import rng_for

SMALL = {"population_size": 6, "generations": 4, "inference_budget": 40, "give_up_after": None, "slots": 4}
KINDS = [
    {**SMALL, "algorithm": "random"},
    {**SMALL, "algorithm": "random", "fidelity_first": False},
    {**SMALL, "algorithm": "nsga2"},
    {**SMALL, "algorithm": "nsga2", "fidelity_first": False},
    {**SMALL, "algorithm": "screen"},
    {**SMALL, "algorithm": "screen", "early_stop": False},
    {**SMALL, "algorithm": "screen", "early_stop": False, "refine": True},
]
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: " ".join(map(str, list(kind.values())[5:])))


def coin(seed: int = 0, *, errors: float = 0.0, silence: float = 0.1, fails: float = 0.05):
    """Answers at random, the same for the same query."""

    def answer(query: Query) -> Outcome:
        draw = rng_for(seed, repr(query)).random(3)
        if draw[0] < errors:
            return Outcome(query, AnswerStatus.CALL_ERROR, 0.0, harmless(query.strategy))
        if draw[0] > 1.0 - silence:
            return Outcome(query, AnswerStatus.EMPTY, 0.0, harmless(query.strategy))
        return boxes(query, 0.5 * draw[2] if draw[1] < fails else 0.5 + 0.5 * draw[2])

    return answer


def fresh(kind, *, run_seed=0, **values):
    return tiny_search(tiny_space(5), run_seed=run_seed, **{**kind, **values})


@kinds
@pytest.mark.parametrize("budget", [1, 13, 40])
def test_answers_never_exceed_the_budget_and_batches_never_the_slots(kind, budget):
    search = fresh(kind, inference_budget=budget)

    played = play(search, coin(errors=0.1))

    charged = sum(one.status is not AnswerStatus.CALL_ERROR for _, outcomes in played for one in outcomes)
    assert search.evaluations == charged
    assert charged <= budget
    assert max(len(queries) for queries, _ in played) <= 4


@kinds
def test_no_strategy_is_asked_twice_unless_its_call_failed(kind):
    search = fresh(kind)

    played = play(search, coin(errors=0.2))

    asked = [query for queries, _ in played for query in queries]
    assert len(asked) == len(set(asked))
    for strategy in strategies(played):
        attempts = [query.attempt for query in asked if query.strategy == strategy]
        assert attempts == list(range(len(attempts)))


@kinds
def test_every_strategy_is_one_that_the_space_allows(kind):
    search = fresh(kind)

    asked = strategies(play(search, coin()))

    assert [tuple(row) for row in search.target.space.repair(asked)] == asked


@kinds
def test_same_seed_asks_the_same_and_another_seed_something_else(kind):
    played = play(fresh(kind), coin())

    assert play(fresh(kind), coin()) == played
    assert play(fresh(kind, run_seed=1), coin()) != played


@kinds
def test_replay_of_every_prefix_continues_like_the_undisturbed_run(kind):
    played = play(fresh(kind), coin(3, errors=0.1))

    for cut, (queries, _) in enumerate(played):
        resumed = fresh(kind)
        replay(resumed, played[:cut])
        assert list(resumed.ask()) == queries


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(KINDS), st.integers(0, 2**31), st.floats(0, 0.4), st.floats(0, 1), st.integers(0, 20))
def test_replay_gives_the_same_run_whatever_the_answers(kind, seed, errors, silence, cut):
    answer = coin(seed, errors=errors, silence=silence)
    whole = fresh(kind, run_seed=seed)
    played = play(whole, answer)

    resumed = fresh(kind, run_seed=seed)
    replay(resumed, played[:cut])
    rest = play(resumed, answer)

    assert played[:cut] + rest == played
    assert dict(resumed.outcomes) == dict(whole.outcomes)
    assert (resumed.first_hit, resumed.end_reason) == (whole.first_hit, whole.end_reason)


@kinds
def test_replay_refuses_batches_of_another_seed(kind):
    played = play(fresh(kind, run_seed=5), coin(), batches=3)

    with pytest.raises(ReplayMismatchError, match="stored"):
        replay(fresh(kind, run_seed=6), played)


@kinds
def test_ask_returns_the_same_batch_until_it_is_told(kind):
    search = fresh(kind)

    assert search.ask() is search.ask()


@kinds
def test_tell_refuses_what_does_not_answer_the_batch(kind):
    search = fresh(kind)
    query = search.ask()[0]

    with pytest.raises(ValueError, match="batch last asked"):
        search.tell([robust(query)])


def test_tell_refuses_outcomes_before_ask():
    with pytest.raises(ValueError, match="batch last asked"):
        fresh(KINDS[0]).tell([])


@pytest.mark.parametrize("clean_iou", [0.0, -0.1, 1.1, float("nan")])
def test_a_target_without_a_clean_answer_is_refused(clean_iou):
    with pytest.raises(ValueError, match="clean_iou must be above 0"):
        tiny_search(clean_iou=clean_iou)


@kinds
def test_a_strategy_whose_call_fails_three_times_is_left_alone(kind):
    search = fresh(kind, slots=1)
    broken = search.ask()[0].strategy

    def answer(query):
        if query.strategy == broken:
            return Outcome(query, AnswerStatus.CALL_ERROR, 0.0, harmless(query.strategy))
        return robust(query)

    played = play(search, answer, batches=10)

    assert [q for queries, _ in played for q in queries if q.strategy == broken] == [
        Query(broken, attempt) for attempt in range(3)
    ]
    assert search.outcomes[broken].status is AnswerStatus.CALL_ERROR
    assert broken not in [outcome.query.strategy for outcome in search.answered]


@pytest.mark.parametrize("algorithm", ["random", "screen"])
def test_a_system_that_never_answers_is_not_asked_for_ever(algorithm):
    search = tiny_search(tiny_space(9), algorithm=algorithm, inference_budget=10, give_up_after=None)

    played = play(search, coin(errors=1.0))

    assert search.evaluations == 0
    assert len(strategies(played)) <= 10 + MAX_UNCHARGED + 8


def test_random_ends_as_unanswered_when_no_call_is_answered():
    search = tiny_search(algorithm="random", inference_budget=10, slots=1)

    played = play(search, coin(errors=1.0))

    assert search.end_reason is EndReason.UNANSWERED
    assert len(strategies(played)) == 10 + MAX_UNCHARGED


@kinds
def test_a_search_without_a_failure_gives_up_after_exactly_that_many_answers(kind):
    search = fresh(kind, give_up_after=17)

    play(search, robust)

    assert (search.evaluations, search.end_reason) == (17, EndReason.GAVE_UP)
    assert search.first_hit is None


@kinds
def test_a_search_that_has_failures_does_not_give_up(kind):
    search = fresh(kind, give_up_after=5, early_stop=False)

    play(search, lambda query: boxes(query, 0.1 if any(query.strategy) else 0.8))

    assert search.first_hit in (1, 2)
    assert search.evaluations > 5


def test_a_spent_budget_is_why_a_search_ends():
    search = tiny_search(algorithm="random", inference_budget=7)

    play(search, robust)

    assert search.end_reason is EndReason.BUDGET_SPENT


@pytest.mark.parametrize("algorithm", ["random", "nsga2"])
def test_an_early_stop_ends_with_the_batch_of_the_first_failure(algorithm):
    search = fresh({**SMALL, "algorithm": algorithm})

    played = play(search, fails_from(0, 0.05))

    hits = [
        number
        for number, outcome in enumerate((one for _, outcomes in played for one in outcomes), start=1)
        if search.thresholds.is_hit(outcome)
    ]
    assert search.first_hit == hits[0]
    assert search.evaluations - search.first_hit < 4
    assert search.end_reason is EndReason.FAILURE_FOUND


def test_wrong_boxes_on_an_input_that_changed_too_much_are_no_failure():
    far = {"fidelity_first": False, "algorithm": "random", "inference_budget": 30}
    search = tiny_search(fidelity=lambda strategy: harmless((5.0,)), **far)

    play(search, lambda query: boxes(query, 0.0, lambda strategy: harmless((5.0,))))

    assert search.first_hit is None


@pytest.mark.parametrize("algorithm", ["random", "nsga2", "screen"])
@pytest.mark.parametrize("family", ["few_strong", "falls_silent"])
def test_with_fidelity_first_every_strategy_is_within_the_thresholds(algorithm, family):
    world = landscape(family, regime="joint", seed=4)
    search = landscape_search(world, algorithm=algorithm, inference_budget=120, early_stop=False, slots=16)

    asked = strategies(play(search, world.answer))

    assert len(asked) == 120
    assert all(search.thresholds.admits(world.fidelity(strategy)) for strategy in asked)


def test_a_search_returns_the_failure_with_the_highest_swtd_that_no_other_beats():
    search = fresh(KINDS[4], bisection_steps=5)

    play(search, fails_from(2, 0.3))

    case = search.returned_case()
    failures = [outcome for outcome in search.answered if search.thresholds.is_hit(outcome)]
    assert case.outcome == min(failures, key=lambda outcome: outcome.query.strategy[2])
    assert case.objectives.iou_ratio == pytest.approx(0.125)
    assert search.returned_case(lambda outcome: -outcome.query.strategy[2]) == case


def test_a_search_without_any_answer_returns_nothing():
    assert fresh(KINDS[0]).returned_case() is None


@pytest.mark.parametrize("algorithm", ["random", "nsga2", "screen"])
def test_a_replay_with_stored_fidelities_measures_nothing(algorithm):
    world = landscape("additive", regime="text", seed=2)
    values = {"algorithm": algorithm, "inference_budget": 80, "early_stop": False, "population_size": 10}
    search = landscape_search(world, **values)
    played = play(search, world.answer)
    stored = FidelityMemory(lambda strategy: pytest.fail("measured"), known=search.target.fidelity.known)

    resumed = build_search(search.config, target=replace(search.target, fidelity=stored), run_seed=0)
    replay(resumed, played[:5])

    assert list(resumed.ask()) == played[5][0]
    assert stored.measured == 0
