"""The weight-space model is the Gaussian process of scikit-learn with DotProduct + White."""

import warnings

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import DotProduct, WhiteKernel

from vlmlab.core.revelio.linear import fit_linear, posterior_at


def measured(seed=0, rows=40, columns=6):
    rng = np.random.default_rng(seed)
    features = (rng.random((rows, columns)) < 0.4).astype(float)
    rates = np.clip(0.2 + features @ rng.normal(0, 0.2, columns) + rng.normal(0, 0.1, rows), 0, 1)
    return features, np.round(rates * 5) / 5


def test_posterior_is_that_of_scikit_learn_at_the_same_hyperparameters():
    features, rates = measured()
    at = np.eye(6)
    oracle = GaussianProcessRegressor(DotProduct(0.7) + WhiteKernel(0.05), optimizer=None).fit(
        features, rates
    )

    posterior = posterior_at(features, rates, intercept_scale=0.7, noise_variance=0.05)

    mean, covariance = oracle.predict(at, return_cov=True)
    design = np.column_stack([np.ones(6), at])
    ours = design @ posterior.factor
    assert design @ posterior.mean == pytest.approx(mean, abs=1e-8)
    assert ours @ ours.T == pytest.approx(covariance - 0.05 * np.eye(6), abs=1e-8)
    assert posterior.log_evidence == pytest.approx(oracle.log_marginal_likelihood_value_, abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_fit_finds_hyperparameters_at_least_as_likely_as_scikit_learn(seed):
    features, rates = measured(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        oracle = GaussianProcessRegressor(
            DotProduct() + WhiteKernel(), n_restarts_optimizer=3, random_state=0
        ).fit(features, rates)

    posterior = fit_linear(features, rates)

    assert posterior.log_evidence >= oracle.log_marginal_likelihood_value_ - 1e-3


def test_draws_have_the_mean_and_covariance_of_the_posterior():
    posterior = posterior_at(*measured(), intercept_scale=1.0, noise_variance=0.1)
    rng = np.random.default_rng(1)

    draws = np.array([posterior.draw(rng) for _ in range(4000)])

    assert draws.mean(axis=0) == pytest.approx(posterior.mean, abs=0.02)
    assert np.cov(draws.T) == pytest.approx(posterior.factor @ posterior.factor.T, abs=0.01)


def test_fit_accepts_a_single_set_and_equal_rates():
    posterior = fit_linear(np.ones((1, 3)), np.zeros(1))

    assert posterior.mean == pytest.approx(np.zeros(4), abs=1e-9)
