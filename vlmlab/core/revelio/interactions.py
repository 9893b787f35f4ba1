"""A logistic model of failure with concepts and pairs of concepts, and draws from its posterior.

``logit f = b0 + sum_i b_i x_i + sum_(i,j in A) b_ij x_i x_j`` with a binomial likelihood, Gaussian
priors and a Laplace approximation. Replay must be bit-identical, so long sums are plain ones, and
matrix products are cut into blocks below the size from which OpenBLAS starts threads: the number of
threads does not change a result. (Another processor type may still round differently; a decision
changes only if two candidates tie to some 15 digits.)
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
ByteArray = npt.NDArray[np.uint8]

INTERCEPT_SHIFT, INTERCEPT_SD = -0.5, 2.0
CONCEPT_SD = 1.0
PAIR_SD = 0.7
MAX_PAIRS = 40
MIN_SCORE = 1.0
FITS_BETWEEN_PAIRS = 4

_TOLERANCE = 1e-6
_MAX_STEPS = 25
_BLOCK = 200_000  # multiply-adds of one product; OpenBLAS starts threads from 262,144


@dataclass(frozen=True)
class Counts:
    """Fails and samples of the sets tested so far.

    Attributes:
        members: ``(n, w)`` uint8 concept numbers, padded with the number of concepts.
        fails: ``(n,)``.
        samples: ``(n,)``, each at least 1.
    """

    members: ByteArray
    fails: FloatArray
    samples: FloatArray


class InteractionModel:
    """The fitted model; ``fit`` starts from the last mode and every 4th time chooses the pairs anew."""

    def __init__(self, concept_count: int) -> None:
        self.concept_count = concept_count
        self.pairs: npt.NDArray[np.intp] = np.empty((0, 2), dtype=np.intp)
        self.mode: FloatArray = np.zeros(1 + concept_count)
        self._factor: FloatArray = np.eye(1 + concept_count)
        self._fits = 0

    def fit(self, counts: Counts) -> None:
        """Fit to all counts so far."""
        prior_mean, prior_precision = self._prior(counts)
        if self._fits % FITS_BETWEEN_PAIRS == 0:
            self._choose_pairs(counts)
            prior_mean, prior_precision = self._prior(counts)
        self._fits += 1
        design = self._design(counts.members)
        mode: FloatArray = self.mode
        if self._fits == 1:
            mode = np.concatenate([prior_mean[:1], self.mode[1:]])
        for _ in range(_MAX_STEPS):
            rate = _sigmoid(_row_sums(design, mode))
            slope = _column_sums(design, counts.fails - counts.samples * rate)
            slope -= prior_precision * (mode - prior_mean)
            curvature = gram(design, counts.samples * rate * (1.0 - rate))
            curvature += np.diag(prior_precision)
            step = np.linalg.solve(curvature, slope)
            mode = mode + step / max(1.0, float(np.abs(step).max()) / 2.0)
            if float(np.abs(step).max()) < _TOLERANCE:
                break
        self.mode = mode
        self._factor = np.linalg.cholesky(curvature).astype(np.float64)

    def draw_table(self, rng: np.random.Generator) -> npt.NDArray[np.float32]:
        """Return the table of one posterior draw (see ``mode_table``)."""
        noise = rng.standard_normal(len(self.mode))
        return self._table(self.mode + np.linalg.solve(self._factor.T, noise))

    def mode_table(self) -> npt.NDArray[np.float32]:
        """Return ``(c + 1, c + 1)``: concepts on the diagonal, pairs above, padding last and zero."""
        return self._table(self.mode)

    def intercept(self) -> float:
        """Return b0 at the mode."""
        return float(self.mode[0])

    def _table(self, weights: FloatArray) -> npt.NDArray[np.float32]:
        count = self.concept_count
        table = np.zeros((count + 1, count + 1), dtype=np.float32)
        table[np.arange(count), np.arange(count)] = weights[1 : count + 1]
        table[self.pairs[:, 0], self.pairs[:, 1]] = weights[count + 1 :]
        return table

    def _prior(self, counts: Counts) -> tuple[FloatArray, FloatArray]:
        total = (counts.fails.sum() + 0.5) / (counts.samples.sum() + 1.0)
        mean = np.zeros(1 + self.concept_count + len(self.pairs))
        mean[0] = np.log(total / (1.0 - total)) + INTERCEPT_SHIFT
        deviation = np.full(len(mean), PAIR_SD)
        deviation[0] = INTERCEPT_SD
        deviation[1 : 1 + self.concept_count] = CONCEPT_SD
        return mean, np.power(deviation, -2.0)

    def _design(self, members: ByteArray) -> FloatArray:
        has = np.zeros((len(members), self.concept_count + 1))
        np.put_along_axis(has, members.astype(np.intp), 1.0, axis=1)
        together = has[:, self.pairs[:, 0]] * has[:, self.pairs[:, 1]]
        return np.concatenate([np.ones((len(members), 1)), has[:, : self.concept_count], together], axis=1)

    def _choose_pairs(self, counts: Counts) -> None:
        """Keep the pairs whose score statistic, without their own weight, is largest and above 1."""
        if len(counts.fails) == 0:
            return
        size = self.concept_count + 1
        rate = _sigmoid(_row_sums(self._design(counts.members), self.mode))
        spread = counts.samples * rate * (1.0 - rate)
        left, right = np.triu_indices(counts.members.shape[1], 1)
        cells = counts.members[:, left].astype(np.intp) * size + counts.members[:, right]
        score = _sum_cells(cells, counts.fails - counts.samples * rate, size)
        information = _sum_cells(cells, spread, size)
        weight = np.zeros((size, size))
        weight[self.pairs[:, 0], self.pairs[:, 1]] = self.mode[size:]
        score += information * weight
        statistic = score**2 / (information + PAIR_SD**-2.0)
        statistic[:, -1] = 0.0
        order = np.argsort(-statistic, axis=None, kind="stable")[:MAX_PAIRS]
        order = np.sort(order[statistic.ravel()[order] > MIN_SCORE])
        self.pairs = np.stack(np.divmod(order, size), axis=1)
        self.mode = np.concatenate([self.mode[:size], weight.ravel()[order]])


def gram(design: FloatArray, weights: FloatArray) -> FloatArray:
    """Return ``design.T @ diag(weights) @ design``, summed over blocks of rows in order."""
    rows = max(1, _BLOCK // design.shape[1] ** 2)
    total = np.zeros((design.shape[1], design.shape[1]))
    for start in range(0, len(design), rows):
        block = design[start : start + rows]
        total += (block * weights[start : start + rows, None]).T @ block
    return total


def pair_cells(members: ByteArray, concept_count: int) -> npt.NDArray[np.int32]:
    """Return ``(n, w (w + 1) / 2)`` cells of the flat table whose sum is the score of each set."""
    left, right = np.triu_indices(members.shape[1])
    return members[:, left].astype(np.int32) * (concept_count + 1) + members[:, right]


def _sum_cells(cells: npt.NDArray[np.intp], values: FloatArray, size: int) -> FloatArray:
    repeated = np.repeat(values, cells.shape[1])
    sums = np.bincount(cells.ravel(), weights=repeated, minlength=size * size)
    return sums.astype(np.float64).reshape(size, size)


def _row_sums(design: FloatArray, weights: FloatArray) -> FloatArray:
    sums: FloatArray = (design * weights).sum(axis=1)
    return sums


def _column_sums(design: FloatArray, values: FloatArray) -> FloatArray:
    sums: FloatArray = (design * values[:, None]).sum(axis=0)
    return sums


def _sigmoid(logits: FloatArray) -> FloatArray:
    return 1.0 / (1.0 + np.exp(-logits))
