"""A Gaussian process with an RBF kernel over concept indicators, for the ablation of the kernel."""

from typing import cast

import numpy as np

from vlmlab.core.revelio.linear import FloatArray


def draw_rbf(
    features: FloatArray, values: FloatArray, *, at: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Return one posterior draw of the latent function, hyperparameters by marginal likelihood.

    Args:
        features: ``(n, d)``.
        values: ``(n,)``.
        at: ``(k, d)`` where the draw is wanted; k up to about 1,000.
        rng: source of the draw.

    Returns:
        ``(k,)`` values without observation noise.
    """
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, WhiteKernel

    with np.errstate(all="ignore"):
        fitted = GaussianProcessRegressor(RBF() + WhiteKernel()).fit(features, values)
    latent, noise = fitted.kernel_.k1, fitted.kernel_.k2.noise_level
    inner = latent(features) + noise * np.eye(len(features))
    cross = latent(at, features)
    solved = np.linalg.solve(inner, np.column_stack([values, cross.T]))
    mean = cross @ solved[:, 0]
    covariance = latent(at) - cross @ solved[:, 1:]
    spectrum, basis = np.linalg.eigh((covariance + covariance.T) / 2)
    spread = np.sqrt(np.maximum(spectrum, 0.0))
    return cast(FloatArray, mean + basis @ (spread * rng.standard_normal(len(at))))
