"""Guessing what a search asks next changes nothing and is right where nothing is left to chance."""

import pytest

from vlmlab.core.revelio.config import config_from_values
from vlmlab.core.revelio.forecast import forecast
from vlmlab.core.revelio.search import build_search
from vlmlab.core.revelio.types import Outcome, Verdict
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.seeding import rng_for

DOMAIN = load_domain("driving")


def fresh(algorithm, **values):
    config = config_from_values({"algorithm": algorithm, "inference_budget": 60, **values})
    return build_search(config, domain=DOMAIN, run_seed=5)


def told(search, batches, *, fail_share=0.3, seed=1):
    """Run some batches with random outcomes and return all that was asked."""
    rng = rng_for(seed, "test")
    asked = []
    for _ in range(batches):
        queries = search.ask()
        asked += queries
        draws = rng.random(len(queries))
        search.tell(
            [
                Outcome(query, Verdict.FAIL if draw < fail_share else Verdict.PASS)
                for query, draw in zip(queries, draws, strict=True)
            ]
        )
    return asked


@pytest.mark.parametrize("algorithm", ["random", "beam", "gpts", "sits"])
def test_a_search_that_is_guessed_at_asks_the_same_as_one_that_is_not(algorithm):
    watched, alone = fresh(algorithm), fresh(algorithm)
    for _ in range(4):
        forecast(watched, 16)
        assert watched.ask() == alone.ask()
        told(watched, 1)
        told(alone, 1)


def test_the_next_batch_of_a_search_that_does_not_learn_is_foreseen_whole():
    search = fresh("random")
    guessed = forecast(search, 8)
    told(search, 1)
    assert set(search.ask()) == set(guessed)


@pytest.mark.parametrize("algorithm", ["beam", "sits"])
def test_most_of_what_a_learning_search_asks_next_was_foreseen(algorithm):
    search = fresh(algorithm)
    foreseen = asked = 0
    for seed in range(5):
        guessed = set(forecast(search, 24))
        told(search, 1, seed=seed)
        queries = search.ask()
        foreseen += len(guessed.intersection(queries))
        asked += len(queries)
    assert foreseen >= 0.6 * asked


def test_what_is_being_asked_or_excluded_is_not_foreseen():
    search = fresh("random")
    pending = search.ask()
    every = forecast(search, 100)
    assert not set(every) & set(pending)
    assert not set(forecast(search, 100, excluded=every[:3])) & set(every[:3])
    assert len(forecast(search, 2)) == 2


def test_nothing_is_foreseen_when_the_search_has_ended():
    search = fresh("random", inference_budget=5, samples_per_set=5)
    told(search, 1)
    assert search.ask() == ()
    assert forecast(search, 8) == ()
