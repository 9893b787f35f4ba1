"""sits: warm-up, parking, minimal preset, and independence from threads."""

import pytest
from threadpoolctl import threadpool_limits

from tests.core.revelio.tiny import TinyDomain, coin, fails_with, play, tiny_search, words
from vlmlab.core.revelio.bench import sample
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.search import build_search
from vlmlab.core.revelio.types import Outcome, TrialStatus, Verdict
from vlmlab.core.scenes.catalogue import load_domain


def test_warm_up_tries_every_single_concept_then_random_pairs():
    search = tiny_search(TinyDomain("abcdefgh", max_size=3), algorithm="sits", inference_budget=400)

    play(search, fails_with("abc"))

    warm = ["".join(key) for key, state in search.trials.items() if state.stage == "warm-up"]
    assert sorted(warm[:8]) == list("abcdefgh")
    assert {len(word) for word in warm[8:]} == {2}
    # Each passes once and is parked: 5 % of 400 = 20 inferences.
    assert len(warm) == 20


def test_a_set_is_parked_as_soon_as_it_is_unlikely_to_fail_often_enough():
    search = tiny_search(TinyDomain("a", max_size=1), algorithm="sits")

    play(search, lambda query: Verdict.PASS)

    state = search.trials[("a",)]
    # Beta(0.6, 2.4) after one pass: P(3 fails before 3 passes) = 0.09 < 0.30.
    assert (state.fails, state.passes, state.status, state.is_curtailed) == (0, 1, TrialStatus.PARKED, True)


def test_a_set_that_fails_is_followed_until_it_is_decided():
    search = tiny_search(TinyDomain("a", max_size=1), algorithm="sits")

    play(search, lambda query: Verdict.PASS if query.number == 1 else Verdict.FAIL)

    state = search.trials[("a",)]
    assert (state.fails, state.passes, state.status) == (3, 1, TrialStatus.DECIDED_FAIL)


def test_keep_probability_zero_parks_nothing():
    search = tiny_search(algorithm="sits", keep_probability=0.0, inference_budget=5000)

    play(search, coin(0.4))

    assert {state.status for state in search.trials.values()} == {
        TrialStatus.DECIDED_FAIL,
        TrialStatus.DECIDED_PASS,
    }


@pytest.mark.parametrize("minimal", [True, False])
def test_sits_finds_the_sets_that_hold_the_pair_that_fails(minimal):
    domain = TinyDomain("abcdefghijkl", max_size=4)
    search = tiny_search(domain, algorithm="sits", minimal=minimal, inference_budget=400)

    play(search, fails_with("be"))

    failing = [key for key, state in search.trials.items() if state.status is TrialStatus.DECIDED_FAIL]
    assert len(failing) > 30
    assert all({"b", "e"} <= set(key) for key in failing)


def test_minimal_preset_reaches_the_pair_itself_early():
    domain = TinyDomain("abcdefghijkl", max_size=4)

    def place(minimal, seed):
        search = tiny_search(
            domain,
            algorithm="sits",
            minimal=minimal,
            inference_budget=300,
            run_seed=seed,
            keep_probability=0.3,
        )
        play(search, fails_with("be"))
        asked = words(search)
        return asked.index("be") if "be" in asked else len(asked)

    wins = [place(True, seed) < place(False, seed) for seed in range(6)]

    assert sum(wins) >= 5


def subsets_tried_next(*, minimal, run_seed):
    """Count the sets opened right after a new mode that lack one concept of it; only the rule differs."""
    search = tiny_search(
        TinyDomain("abcdefghijkl", max_size=4),
        algorithm="sits",
        minimal=minimal,
        novelty=0.0,
        size_penalty=0.0,
        inference_budget=120,
        run_seed=run_seed,
    )
    count = 0
    while batch := search.ask():
        search.tell([Outcome(q, Verdict.FAIL if len(q.key) >= 3 else Verdict.PASS) for q in batch])
        failing = {key for key, state in search.trials.items() if state.status is TrialStatus.DECIDED_FAIL}
        hits = [set(key) for key in search.touched() if key in failing]
        before = set(search.trials)
        search.ask()
        opened = [set(key) for key in search.trials if key not in before]
        count += sum(one < hit and len(one) == len(hit) - 1 for hit in hits for one in opened)
    return count


@pytest.mark.parametrize("run_seed", range(3))
def test_minimal_preset_tries_the_subsets_of_a_new_mode_first(run_seed):
    with_rule, without_rule = (subsets_tried_next(minimal=one, run_seed=run_seed) for one in (True, False))

    assert with_rule >= without_rule + 3


def test_sits_tries_every_set_when_the_budget_allows():
    search = tiny_search(algorithm="sits", inference_budget=5000)

    play(search, coin(0.3))

    assert len(search.trials) == 6 + 15 + 20


def driving_run(threads):
    domain = load_domain("driving")
    with threadpool_limits(limits=threads):
        search = build_search(
            RevelioConfig(algorithm="sits", minimal=False, inference_budget=250), domain=domain, run_seed=4
        )
        return play(
            search,
            lambda query: sample(
                4, domain.mask(query.key), number=query.number, rate=0.8 if "cone" in query.key else 0.2
            ),
        )


def test_asks_do_not_depend_on_the_threads_of_the_linear_algebra_library():
    assert driving_run(1) == driving_run(2)
