"""Bayesian linear regression over concepts: the Gaussian process with DotProduct + White, in weight space.

One fit takes about a millisecond. Replay must be bit-identical: the products of indicators are whole
numbers and exact in any order, other long sums are plain ones, and the factorised matrices are small.
"""

from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

_BOUNDS = (1e-5, 1e5)  # of both hyperparameters, as scikit-learn's defaults
_GRID = 9
_ZOOMS = 8


@dataclass(frozen=True)
class LinearPosterior:
    """The posterior of ``y = c + w.x`` with w ~ N(0, I) and c ~ N(0, intercept_scale^2).

    Attributes:
        intercept_scale: s0, standard deviation of the intercept (``sigma_0`` of DotProduct).
        noise_variance: variance of the observations (``noise_level`` of White).
        mean: ``(d + 1,)``: intercept, then weights.
        factor: ``(d + 1, d + 1)``; ``mean + factor @ z`` with standard normal z is a posterior draw.
        log_evidence: log marginal likelihood at these hyperparameters.
    """

    intercept_scale: float
    noise_variance: float
    mean: FloatArray
    factor: FloatArray
    log_evidence: float

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Return one draw ``(d + 1,)`` of intercept and weights: the latent function, without noise."""
        return self.mean + self.factor @ rng.standard_normal(len(self.mean))


def fit_linear(features: FloatArray, values: FloatArray) -> LinearPosterior:
    """Fit the model, both hyperparameters by marginal likelihood.

    Args:
        features: ``(n, d)``, n >= 1.
        values: ``(n,)``.

    Returns:
        The posterior at the best hyperparameters within 1e-5..1e5.
    """
    low, high = np.log(_BOUNDS[0]), np.log(_BOUNDS[1])
    scales = np.linspace(low, high, 2 * _GRID)
    noises = np.linspace(low, high, 3 * _GRID)
    moments = _Moments.of(features, values)
    best = moments.best_of(scales, noises)
    scale_step, noise_step = scales[1] - scales[0], noises[1] - noises[0]
    for _ in range(_ZOOMS):
        scale_step, noise_step = scale_step / 2, noise_step / 2
        scales = np.clip(best[1] + scale_step * np.array([-1.0, 0.0, 1.0]), low, high)
        noises = np.clip(best[2] + noise_step * np.array([-1.0, 0.0, 1.0]), low, high)
        best = max(best, moments.best_of(scales, noises))
    return posterior_at(
        features, values, intercept_scale=float(np.exp(best[1])), noise_variance=float(np.exp(best[2]))
    )


def posterior_at(
    features: FloatArray, values: FloatArray, *, intercept_scale: float, noise_variance: float
) -> LinearPosterior:
    """Return the exact posterior for given hyperparameters (arguments as ``fit_linear``)."""
    moments = _Moments.of(features, values)
    scaled = np.ones(len(moments.gram))
    scaled[0] = intercept_scale
    precision = scaled[:, None] * moments.gram * scaled + noise_variance * np.eye(len(scaled))
    inverse = np.linalg.inv(np.linalg.cholesky(precision))
    mean = inverse.T @ (inverse @ (scaled * moments.products))
    evidence = moments.log_evidence(np.log(intercept_scale), np.array([np.log(noise_variance)]))
    return LinearPosterior(
        intercept_scale,
        noise_variance,
        mean * scaled,
        np.sqrt(noise_variance) * scaled[:, None] * inverse.T,
        float(evidence[0]),
    )


@dataclass(frozen=True)
class _Moments:
    """Sums over the data, enough for the evidence at any hyperparameters."""

    count: int
    gram: FloatArray  # (d + 1, d + 1), first row and column for the intercept
    products: FloatArray  # (d + 1,)
    square: float

    @classmethod
    def of(cls, features: FloatArray, values: FloatArray) -> "_Moments":
        design = np.column_stack([np.ones(len(features)), features])
        return cls(
            len(values), design.T @ design, (design * values[:, None]).sum(axis=0), float((values**2).sum())
        )

    def log_evidence(self, log_scale: float, log_noises: FloatArray) -> FloatArray:
        """Return log p(values) at one intercept scale for each noise variance, ``(k,)``."""
        scaled = np.ones(len(self.gram))
        scaled[0] = np.exp(log_scale)
        spectrum, basis = np.linalg.eigh(scaled[:, None] * self.gram * scaled)
        spectrum = np.maximum(spectrum, 0.0)
        rotated = (basis.T @ (scaled * self.products)) ** 2
        noise = np.exp(log_noises)[:, None]
        quadratic = (self.square - (rotated / (spectrum + noise)).sum(axis=1)) / noise[:, 0]
        log_det = np.log1p(spectrum / noise).sum(axis=1) + self.count * log_noises
        return cast(FloatArray, -0.5 * (quadratic + log_det + self.count * np.log(2 * np.pi)))

    def best_of(self, log_scales: FloatArray, log_noises: FloatArray) -> tuple[float, float, float]:
        """Return (log evidence, log scale, log noise) of the best point of a grid."""
        found = []
        for log_scale in log_scales:
            evidence = self.log_evidence(float(log_scale), log_noises)
            at = int(np.argmax(evidence))
            found.append((float(evidence[at]), float(log_scale), float(log_noises[at])))
        return max(found)
