"""What every search promises: budgets, batches, call errors, impossible sets, and replay."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.revelio.tiny import TinyDomain, coin, play, tiny_search, words
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.search import build_search
from vlmlab.core.revelio.trials import MAX_UNCHARGED
from vlmlab.core.revelio.types import Outcome, Query, TrialStatus, Verdict
from vlmlab.core.search import ReplayMismatchError, replay

KINDS = [
    {"algorithm": "random"},
    {"algorithm": "random", "curtail": True},
    {"algorithm": "beam"},
    {"algorithm": "beam", "curtail": True},
    {"algorithm": "beam", "beam_literal": True},
    {"algorithm": "gpts"},
    {"algorithm": "gpts", "curtail": True, "pool": "le3"},
    {"algorithm": "sits", "minimal": False},
    {"algorithm": "sits", "minimal": True},
]
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: " ".join(map(str, kind.values())))


def fresh(kind, *, run_seed=0, budget=70, slots=4):
    domain = TinyDomain("abcdefg", max_size=4, forbidden=("ab", "cd"))
    config = RevelioConfig(**kind, inference_budget=budget, slots=slots)
    return build_search(config, domain=domain, run_seed=run_seed)


@kinds
@pytest.mark.parametrize("budget", [5, 13, 70])
def test_observations_never_exceed_the_budget_and_batches_never_the_slots(kind, budget):
    search = fresh(kind, budget=budget)

    batches = play(search, coin(0.4, errors=0.1))

    charged = sum(o.verdict in (Verdict.FAIL, Verdict.PASS) for _, outcomes in batches for o in outcomes)
    assert search.observations == charged
    assert charged <= budget
    assert max((len(queries) for queries, _ in batches), default=0) <= 4


@kinds
def test_each_sample_of_a_set_is_asked_once_and_numbered_from_zero(kind):
    search = fresh(kind)

    batches = play(search, coin(0.5, errors=0.2, impossible=0.05))

    asked = [query for queries, _ in batches for query in queries]
    assert len(asked) == len(set(asked))
    for key in search.trials:
        numbers = [query.number for query in asked if query.key == key]
        assert numbers == list(range(len(numbers)))


@kinds
def test_no_set_gets_more_answers_than_samples_per_set(kind):
    search = fresh(kind)

    play(search, coin(0.5, errors=0.2))

    assert max(state.samples for state in search.trials.values()) <= 5


@kinds
def test_same_seed_asks_the_same_and_another_seed_something_else(kind):
    first, second, other = fresh(kind), fresh(kind), fresh(kind, run_seed=1)

    batches = play(first, coin(0.3))

    assert play(second, coin(0.3)) == batches
    assert play(other, coin(0.3)) != batches


@kinds
def test_replay_of_every_prefix_continues_like_the_undisturbed_run(kind):
    batches = play(fresh(kind, budget=50), coin(0.5, seed=3, errors=0.1, impossible=0.05))

    for cut, (queries, _) in enumerate(batches):
        resumed = fresh(kind, budget=50)
        replay(resumed, batches[:cut])
        assert list(resumed.ask()) == queries


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(KINDS), st.integers(0, 2**31), st.floats(0, 1), st.floats(0, 0.4), st.integers(0, 40))
def test_replay_gives_the_same_run_whatever_the_answers(kind, seed, rate, errors, cut):
    judge = coin(rate, seed=seed, errors=errors, impossible=0.1)
    whole = fresh(kind, run_seed=seed, slots=3)
    batches = play(whole, judge)

    resumed = fresh(kind, run_seed=seed, slots=3)
    replay(resumed, batches[:cut])
    rest = play(resumed, judge)

    assert batches[:cut] + rest == batches
    assert dict(resumed.trials) == dict(whole.trials)


@kinds
def test_curtailed_classes_are_those_of_all_samples(kind):
    judge = coin(0.5)
    search = fresh(kind)

    play(search, judge)

    decided = [state for state in search.trials.values() if state.status.is_decided]
    assert decided
    for state in decided:
        fails = sum(judge(Query(state.key, number)) is Verdict.FAIL for number in range(5))
        assert (state.status is TrialStatus.DECIDED_FAIL) == (fails >= 3)


@kinds
def test_replay_refuses_batches_of_another_seed(kind):
    batches = play(fresh(kind, run_seed=5), coin(0.4))

    with pytest.raises(ReplayMismatchError, match="stored"):
        replay(fresh(kind, run_seed=6), batches)


def test_ask_returns_the_same_batch_until_it_is_told():
    search = fresh({"algorithm": "random"})

    assert search.ask() is search.ask()


def test_tell_refuses_outcomes_of_other_queries():
    search = fresh({"algorithm": "random"})
    query = search.ask()[0]

    with pytest.raises(ValueError, match="batch last asked"):
        search.tell([Outcome(query, Verdict.PASS)])


def test_tell_refuses_outcomes_before_ask():
    with pytest.raises(ValueError, match="batch last asked"):
        fresh({"algorithm": "random"}).tell([])


def test_a_set_is_parked_after_a_third_call_error_and_nothing_is_charged():
    search = tiny_search(TinyDomain("a", max_size=1), algorithm="random", slots=1)

    batches = play(search, lambda query: Verdict.CALL_ERROR)

    assert [queries for queries, _ in batches] == [[Query(("a",), number)] for number in range(3)]
    assert search.trials[("a",)].status is TrialStatus.PARKED
    assert search.observations == 0


def test_a_call_error_is_asked_again_under_a_new_number():
    search = tiny_search(TinyDomain("a", max_size=1), algorithm="random", slots=2, samples_per_set=3)

    batches = play(search, lambda query: Verdict.CALL_ERROR if query.number == 1 else Verdict.FAIL)

    assert [query.number for queries, _ in batches for query in queries] == [0, 1, 2, 3]
    state = search.trials[("a",)]
    assert (state.fails, state.passes, state.call_errors, state.status) == (3, 0, 1, TrialStatus.DECIDED_FAIL)


def test_a_set_that_cannot_be_drawn_ends_uncharged():
    search = tiny_search(TinyDomain("ab", max_size=1), algorithm="random", slots=1, samples_per_set=2)

    play(search, lambda query: Verdict.INCOMPATIBLE if query.key == ("a",) else Verdict.PASS)

    assert {key[0]: state.status for key, state in search.trials.items()} == {
        "a": TrialStatus.INCOMPATIBLE,
        "b": TrialStatus.DECIDED_PASS,
    }
    assert search.observations == 2


@kinds
def test_a_dead_system_is_not_asked_for_ever(kind):
    search = build_search(
        RevelioConfig(**kind, inference_budget=10),
        domain=TinyDomain("abcdefghij", max_size=5),
        run_seed=0,
    )

    batches = play(search, lambda query: Verdict.CALL_ERROR)

    assert sum(len(queries) for queries, _ in batches) <= 10 + MAX_UNCHARGED + 8


def test_no_set_is_begun_that_the_budget_cannot_finish():
    search = tiny_search(algorithm="random", inference_budget=13, samples_per_set=5)

    play(search, coin(0.5))

    assert [state.samples for state in search.trials.values()] == [5, 5]


def test_touched_names_the_sets_of_the_last_batch_in_the_order_asked():
    search = tiny_search(algorithm="random", slots=8, samples_per_set=5)

    batch = search.ask()
    search.tell([Outcome(query, Verdict.PASS) for query in batch])

    assert search.touched() == (batch[0].key, batch[5].key)
    assert [query.key for query in batch] == [batch[0].key] * 5 + [batch[5].key] * 3


def test_trials_say_whether_a_set_was_cut_short():
    search = tiny_search(TinyDomain("a", max_size=1), algorithm="random", curtail=True)

    play(search, lambda query: Verdict.FAIL)

    state = search.trials[("a",)]
    assert (state.samples, state.is_curtailed, state.stage, state.order) == (3, True, "random", 0)
    assert words(search) == ["a"]
