"""What singles and combinations teach: reach, the linear model, and what a draw proposes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.most.combining import CANDIDATES, Combiner, DamageModel, Reach

EASY = Reach(np.ones(6), np.zeros(6), np.zeros(6))


def combiner(reach=EASY, *, model=None, most_operators=3, budget=1.0):
    count = len(reach.severities)
    model = model or DamageModel(range(4)).fit(np.zeros((0, count)), np.zeros(0))
    return Combiner(reach, model=model, most_operators=most_operators, budget=budget)


def test_image_distances_add_like_independent_errors_and_prompt_distances_add_up():
    reach = Reach(
        severities=np.array([0.5, 0.5, 1.0, 0.8]),
        image_shares=np.array([0.6, 0.8, 0.0, 0.0]),
        prompt_shares=np.array([0.0, 0.0, 0.9, 0.6]),
    )

    rows = reach.within(np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 1.0, 0.8], [0.25, 0.0, 0.2, 0.0]]))

    assert rows[0] == pytest.approx([0.5, 0.5, 0.0, 0.0])
    assert rows[1] == pytest.approx([0.0, 0.0, 1.0 / 1.5, 0.8 / 1.5])
    assert rows[2] == pytest.approx([0.25, 0.0, 0.2, 0.0])


def test_an_operator_without_reach_costs_nothing_and_warns_nobody():
    reach = Reach(np.array([0.0, 1.0]), np.array([0.0, 2.0]), np.zeros(2))

    assert reach.within(np.array([[0.0, 1.0]])) == pytest.approx(np.array([[0.0, 0.5]]))


def test_features_are_severities_and_geometric_means_of_the_strongest():
    model = DamageModel([3, 0, 1])

    features = model.features(np.array([[0.25, 0.16, 0.5, 0.09]]))

    assert features[0] == pytest.approx([0.25, 0.16, 0.5, 0.09, 0.2, 0.15, 0.12])


def test_without_any_answer_draws_follow_the_prior():
    model = DamageModel([0, 1]).fit(np.zeros((0, 3)), np.zeros(0))

    draws = np.array([model.draw(np.random.default_rng(seed)) for seed in range(2000)])

    assert draws.mean(axis=0) == pytest.approx([0.0] * 4, abs=0.08)
    assert draws.std(axis=0) == pytest.approx([1.0, 1.0, 1.0, 0.7], abs=0.06)


def test_with_many_answers_draws_come_close_to_the_truth():
    rng = np.random.default_rng(0)
    rows = rng.uniform(0.0, 1.0, (3000, 4))
    model = DamageModel([1, 2])
    truth = np.array([0.5, 0.0, -0.2, 0.1, 0.8])

    draw = model.fit(rows, model.features(rows) @ truth).draw(rng)

    assert draw == pytest.approx(truth, abs=0.04)


def test_the_posterior_is_that_of_the_textbook():
    rng = np.random.default_rng(1)
    rows, damages = rng.uniform(0.0, 1.0, (7, 3)), rng.uniform(0.0, 1.0, 7)
    model = DamageModel([0, 2]).fit(rows, damages)
    features = model.features(rows)
    prior = np.diag([1.0, 1.0, 1.0, 0.49])
    gain = prior @ features.T @ np.linalg.inv(features @ prior @ features.T + 0.0064 * np.eye(7))

    draws = np.array([model.draw(np.random.default_rng(seed)) for seed in range(3000)])

    assert draws.mean(axis=0) == pytest.approx(gain @ damages, abs=0.05)
    assert np.cov(draws.T) == pytest.approx(prior - gain @ features @ prior, abs=0.04)


@given(st.integers(0, 2**31), st.integers(1, 5), st.floats(0.1, 2.0))
def test_proposals_stay_within_budget_reach_and_number_of_operators(seed, most_operators, budget):
    reach = Reach(
        np.array([0.5, 0.0, 1.0, 0.3, 0.7, 1.0]),
        np.array([0.9, 0.0, 0.5, 1.0, 0.0, 0.0]),
        np.array([0.0, 0.0, 0.0, 0.0, 1.0, 0.2]),
    )

    rows = combiner(reach, most_operators=most_operators, budget=budget).best_of_a_draw(
        np.random.default_rng(seed)
    )

    assert (rows >= 0.0).all()
    assert (rows <= reach.severities + 1e-12).all()
    assert (rows.sum(axis=1) <= budget + 1e-9).all()
    assert ((rows > 0.0).sum(axis=1) <= most_operators).all()
    assert reach.within(rows) == pytest.approx(rows)


def test_proposals_come_best_first_and_prefer_what_the_model_knows_to_hurt():
    rng = np.random.default_rng(0)
    rows = rng.uniform(0.0, 1.0, (500, 6))
    model = DamageModel(range(4))
    model.fit(rows, rows @ np.array([0.0, 0.9, 0.0, 0.0, 0.8, 0.0]))

    best = combiner(model=model, most_operators=2).best_of_a_draw(rng)

    scores = model.features(best) @ model.draw(np.random.default_rng(1))
    assert scores[0] >= scores[-1] - 0.05
    assert best[0][[1, 4]].sum() > 0.9


def test_half_of_the_chances_go_to_operators_whatever_they_seem_to_do():
    weights = np.array([0.9, 0.0, 0.0, 0.0, 0.0, 0.0])

    rows = combiner(most_operators=1)._candidates(weights, np.random.default_rng(0))

    shares = (rows > 0.0).mean(axis=0)
    assert len(rows) == CANDIDATES
    assert shares[0] == pytest.approx(0.5 / 6 + 0.5 / sum(0.7**rank for rank in range(6)), abs=0.1)
    assert shares.min() > 0.04


def test_same_generator_gives_the_same_proposals():
    first, second = (combiner().best_of_a_draw(np.random.default_rng(3)) for _ in range(2))

    assert (first == second).all()
