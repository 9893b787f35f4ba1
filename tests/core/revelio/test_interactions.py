"""The logistic pair model: mode, pairs, draws and scores against slow, obvious versions."""

import numpy as np
import pytest
from scipy.optimize import minimize

from vlmlab.core.revelio.interactions import Counts, InteractionModel, gram, pair_cells

CONCEPTS = 6


def counts_of(sets, fails, samples):
    width = max(len(one) for one in sets)
    members = np.full((len(sets), width), CONCEPTS, dtype=np.uint8)
    for row, one in enumerate(sets):
        members[row, : len(one)] = sorted(one)
    return Counts(members, np.array(fails, dtype=float), np.array(samples, dtype=float))


def together(seed=0, rows=150):
    """Sets that fail mostly when 1 and 4 are both present."""
    rng = np.random.default_rng(seed)
    sets = [rng.choice(CONCEPTS, size=rng.integers(1, 4), replace=False).tolist() for _ in range(rows)]
    fails = [rng.binomial(5, 0.9 if {1, 4} <= set(one) else 0.05) for one in sets]
    return counts_of(sets, fails, [5] * rows)


def test_mode_is_where_the_log_posterior_is_largest():
    counts = counts_of([[0], [1], [0, 1], [2]], [1, 0, 3, 2], [5, 5, 5, 4])
    model = InteractionModel(CONCEPTS)

    model.fit(counts)

    assert len(model.pairs) == 0
    total = 6.5 / 20
    features = np.zeros((4, CONCEPTS))
    for row, one in enumerate([[0], [1], [0, 1], [2]]):
        features[row, one] = 1

    def loss(weights):
        logit = weights[0] + features @ weights[1:]
        likelihood = counts.fails @ logit - counts.samples @ np.logaddexp(0, logit)
        centre = np.log(total / (1 - total)) - 0.5
        return -likelihood + (weights[0] - centre) ** 2 / 8 + (weights[1:] ** 2).sum() / 2

    assert model.mode == pytest.approx(minimize(loss, np.zeros(7), tol=1e-10).x, abs=1e-4)


def test_the_pair_that_fails_together_is_chosen():
    model = InteractionModel(CONCEPTS)
    counts = together()

    for _ in range(5):  # pairs are chosen before the first fit and before the fifth
        model.fit(counts)

    assert [1, 4] in model.pairs.tolist()
    table = model.mode_table()
    assert table[1, 4] == table[:-1, :-1][np.triu_indices(CONCEPTS, 1)].max()


def test_pairs_stay_chosen_while_they_explain_failures():
    model = InteractionModel(CONCEPTS)

    kept = []
    for _ in range(13):  # the pairs are chosen anew four times
        model.fit(together())
        kept.append([1, 4] in model.pairs.tolist())

    assert kept == [True] * 13


def test_cells_add_up_concepts_and_pairs_of_a_set():
    members = np.array([[0, 2, 5], [3, CONCEPTS, CONCEPTS]], dtype=np.uint8)
    table = np.arange((CONCEPTS + 1) ** 2, dtype=float).reshape(CONCEPTS + 1, -1)
    table[:, CONCEPTS] = 0.0

    scores = table.ravel()[pair_cells(members, CONCEPTS)].sum(axis=1)

    by_hand = sum(table[i, j] for i, j in [(0, 0), (2, 2), (5, 5), (0, 2), (0, 5), (2, 5)])
    assert scores.tolist() == [by_hand, table[3, 3]]


def test_draws_scatter_around_the_mode():
    model = InteractionModel(CONCEPTS)
    model.fit(together())
    rng = np.random.default_rng(0)

    draws = np.array([model.draw_table(rng) for _ in range(3000)])

    assert draws.mean(axis=0) == pytest.approx(model.mode_table(), abs=0.06)
    assert draws.std(axis=0)[0, 0] > 0.1


def test_gram_is_the_weighted_product_whatever_the_blocks():
    rng = np.random.default_rng(0)
    design, weights = rng.random((700, 71)), rng.random(700)

    assert gram(design, weights) == pytest.approx(design.T @ np.diag(weights) @ design, rel=1e-10)


@pytest.mark.parametrize("fails", [0, 5])
def test_fit_stays_finite_when_everything_fails_or_nothing(fails):
    model = InteractionModel(CONCEPTS)

    model.fit(counts_of([[0], [1], [2, 3]], [fails] * 3, [5] * 3))

    assert np.isfinite(model.mode).all()
    assert abs(model.intercept()) < 10
