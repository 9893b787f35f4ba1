"""Random: as many operators as any number, all shares as likely, and an end when all is asked."""

import numpy as np
import pytest

from tests.core.most.tiny import play, robust, strategies, tiny_search, tiny_space
from vlmlab.core.most.random_search import spread_budget
from vlmlab.core.most.strategy_search import EndReason
from vlmlab.core.most.types import Fidelity


def asked(space=None, **values):
    search = tiny_search(space, algorithm="random", give_up_after=None, slots=64, **values)
    return np.array(strategies(play(search, robust)))


def test_every_number_of_operators_up_to_the_most_is_as_likely():
    rows = asked(tiny_space(12, smallest_severity=0.0), most_operators=4, inference_budget=2000)

    sizes = (rows > 0.0).sum(axis=1)

    assert [np.mean(sizes == size) for size in (1, 2, 3, 4)] == pytest.approx([0.25] * 4, abs=0.04)


def test_every_operator_is_as_likely():
    rows = asked(tiny_space(6, smallest_severity=0.0), most_operators=3, inference_budget=2000)

    assert (rows > 0.0).mean(axis=0) == pytest.approx([2 / 6] * 6, abs=0.04)


def test_the_budget_spent_is_uniform():
    rows = asked(tiny_space(6, smallest_severity=0.0), perturbation_budget=0.5, inference_budget=2000)

    assert np.quantile(rows.sum(axis=1), [0.1, 0.5, 0.9]) == pytest.approx([0.05, 0.25, 0.45], abs=0.03)


def test_a_budget_is_shared_by_all_splits_alike():
    rng = np.random.default_rng(0)

    rows = np.array([spread_budget([0, 2], count=3, budget=0.8, rng=rng) for _ in range(2000)])

    assert rows.sum(axis=1) == pytest.approx(np.full(2000, 0.8))
    assert not rows[:, 1].any()
    assert np.quantile(rows[:, 0], [0.25, 0.5, 0.75]) == pytest.approx([0.2, 0.4, 0.6], abs=0.04)


def test_the_clean_input_is_never_asked():
    rows = asked(tiny_space(4), inference_budget=300)

    assert rows.any(axis=1).all()


def test_a_search_whose_every_strategy_changes_too_much_ends():
    search = tiny_search(algorithm="random", fidelity=lambda strategy: Fidelity(float(any(strategy)), 0.0))

    assert search.ask() == ()
    assert search.end_reason is EndReason.NOTHING_LEFT
