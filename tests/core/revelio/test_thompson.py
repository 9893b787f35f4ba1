"""gpts: a beam with half of the budget, then sets that a posterior draw likes."""

import numpy as np
import pytest

from tests.core.revelio.tiny import TinyDomain, coin, fails_with, play, tiny_search
from vlmlab.core.errors import ConfigError
from vlmlab.core.revelio.config import config_from_values
from vlmlab.core.revelio.rbf import draw_rbf


def test_gpts_warms_up_with_a_beam_and_goes_on_with_rounds():
    search = tiny_search(TinyDomain("abcdefgh", max_size=4), algorithm="gpts", inference_budget=200)

    play(search, coin(0.3))

    stages = [state.stage for state in search.trials.values()]
    first_round = stages.index("round 1")
    assert first_round == 20
    assert {stage.split()[0] for stage in stages[:first_round]} == {"level"}
    assert {stage.split()[0] for stage in stages[first_round:]} == {"round"}
    assert len(stages) == 40


def test_gpts_finds_sets_with_the_concept_that_fails():
    search = tiny_search(
        TinyDomain("abcdefgh", max_size=4), algorithm="gpts", inference_budget=300, diversity_weight=0.0
    )

    play(search, fails_with("h"))

    late = [key for key, state in search.trials.items() if state.stage.startswith("round")]
    assert np.mean(["h" in key for key in late]) > 0.8


def test_gpts_with_pool_le3_asks_no_larger_set_in_its_rounds():
    search = tiny_search(
        TinyDomain("abcdefgh", max_size=5), algorithm="gpts", pool="le3", inference_budget=200
    )

    play(search, coin(0.3))

    late = [len(key) for key, state in search.trials.items() if state.stage.startswith("round")]
    assert late
    assert max(late) == 3


def test_gpts_ends_when_every_set_was_tried():
    search = tiny_search(TinyDomain("abcd", max_size=2), algorithm="gpts", samples_per_set=1, pool="all")

    play(search, coin(0.5))

    assert len(search.trials) == 10


def test_gpts_with_the_rbf_kernel_is_deterministic():
    values = {"algorithm": "gpts", "kernel": "rbf", "inference_budget": 60}

    runs = [play(tiny_search(**values), coin(0.4)) for _ in range(2)]

    assert runs[0] == runs[1]


def test_rbf_draws_pass_through_what_was_measured_without_noise():
    features = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    values = np.array([0.0, 1.0, 0.0])

    draw = draw_rbf(features, values, at=features, rng=np.random.default_rng(0))

    assert draw == pytest.approx(values, abs=0.05)


def test_gpts_without_a_warm_start_samples_from_the_first_set_on():
    search = tiny_search(
        TinyDomain("abcdefgh", max_size=4), algorithm="gpts", warm_start_share=0.0, inference_budget=100
    )

    play(search, coin(0.3))

    assert [state.stage for state in search.trials.values()] == [f"round {n}" for n in range(1, 21)]


@pytest.mark.parametrize("budget", [100, 2000])
def test_gpts_with_nothing_but_a_warm_start_is_the_beam(budget):
    domain = TinyDomain("abcdefgh", max_size=3)
    runs = [
        play(tiny_search(domain, inference_budget=budget, **values), coin(0.3))
        for values in ({"algorithm": "gpts", "warm_start_share": 1.0}, {"algorithm": "beam"})
    ]

    assert runs[0] == runs[1]


@pytest.mark.parametrize("share", [-0.01, 1.01])
def test_a_warm_start_outside_the_budget_is_refused(share):
    with pytest.raises(ConfigError, match=r"between 0 and 1|from 0 to 1"):
        config_from_values({"algorithm": "gpts", "warm_start_share": share})
