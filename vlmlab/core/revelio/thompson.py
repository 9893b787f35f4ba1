"""Thompson sampling over concept sets after a beam warm start (algorithm 2 of the paper)."""

import numpy as np
import numpy.typing as npt

from vlmlab.core.revelio.beam import BeamLevels
from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.linear import FloatArray, LinearPosterior, fit_linear
from vlmlab.core.revelio.rbf import draw_rbf
from vlmlab.core.revelio.space import IndexArray, SearchSpace
from vlmlab.core.revelio.trials import ConceptSetSearch, Trial
from vlmlab.core.revelio.types import TrialStatus
from vlmlab.core.seeding import rng_for

POOL_SIZE = 1000
LARGEST_POOL_SIZE = 4  # concepts in the largest set of the random pool
SMALL_SET = 3  # concepts in the largest set of the pool ``le3``
_FINISHED = (TrialStatus.DECIDED_FAIL, TrialStatus.DECIDED_PASS, TrialStatus.PARKED)


class GptsSearch(ConceptSetSearch):
    """A beam with part of the budget, then the best set of one posterior draw after another.

    A warm start of 0 draws from the first set on, at random until one is finished; 1 is the beam alone.

    The draw is of the latent failure rate: noise in the draw loses about a third of the modes.
    """

    def __init__(self, config: RevelioConfig, *, space: SearchSpace, run_seed: int) -> None:
        super().__init__(config, space=space, run_seed=run_seed)
        warm_start = int(config.warm_start_share * config.inference_budget)
        self._beam = BeamLevels(config, space=space, run_seed=run_seed, inference_budget=warm_start)
        self._is_warm = warm_start == 0
        self._round = 0
        self._posterior: tuple[int, LinearPosterior] | None = None
        self._is_tested = np.zeros(len(space.masks), dtype=np.bool_)

    @property
    def stage(self) -> str:
        """The level of the beam, then the number of the Thompson draw."""
        return f"round {self._round}" if self._is_warm else f"level {self._beam.level}"

    def _open(self, index: int) -> Trial:
        self._is_tested[index] = True
        return super()._open(index)

    def _propose(self) -> int | None:
        if not self._is_warm:
            spent = self._observations + sum(self._certain(trial) for trial in self._active)
            index = self._beam.propose(spent, trials=list(self._opened.values()))
            if index is not None or not self._beam.is_over or self.config.warm_start_share == 1.0:
                return index
            self._is_warm = True
        self._round += 1
        pool = self._pool()
        if len(pool) == 0:
            return None
        return int(pool[np.argmax(self._scores(pool))])

    def _pool(self) -> IndexArray:
        if self.config.pool == "rand1000":
            pool = self._random_pool(rng_for(self.run_seed, "gpts", "pool", self._round))
            if len(pool):
                return pool
        pool = np.flatnonzero(~self._is_tested)
        if self.config.pool == "le3":
            return pool[self.space.sizes[pool] <= max(SMALL_SET, self.space.smallest)]
        return pool

    def _random_pool(self, rng: np.random.Generator) -> IndexArray:
        """Return untested sets among 1,000 draws: a size uniform on 1..4, then a set of that size."""
        largest = max(self.space.smallest, min(LARGEST_POOL_SIZE, self.space.largest))
        edges = np.searchsorted(self.space.sizes, np.arange(self.space.smallest, largest + 2))
        size = rng.integers(len(edges) - 1, size=POOL_SIZE)
        place = edges[size] + np.floor(rng.random(POOL_SIZE) * (edges[size + 1] - edges[size])).astype(
            np.intp
        )
        place = np.unique(place[edges[size + 1] > edges[size]])
        return place[~self._is_tested[place]]

    def _scores(self, pool: IndexArray) -> FloatArray:
        rng = rng_for(self.run_seed, "gpts", "draw", self._round)
        finished = [trial for trial in self._opened.values() if trial.status in _FINISHED and trial.samples]
        if not finished:
            return rng.random(len(pool))
        if self.config.kernel == "rbf":
            rates = np.array([trial.rate for trial in finished])
            return draw_rbf(self._features(finished), rates, at=self._dense(pool), rng=rng)
        if self._posterior is None or self._posterior[0] != len(finished):
            rates = np.array([trial.rate for trial in finished])
            self._posterior = (len(finished), fit_linear(self._features(finished), rates))
        weights = self._posterior[1].draw(rng)
        table = np.append(weights[1:], 0.0)  # the padding of ``members`` weighs nothing
        scores: FloatArray = weights[0] + table[self.space.members[pool]].sum(axis=1)
        return scores

    def _features(self, trials: list[Trial]) -> FloatArray:
        return self._dense(np.array([trial.index for trial in trials], dtype=np.intp))

    def _dense(self, pool: IndexArray) -> FloatArray:
        """Return ``(n, concepts)`` indicators of the sets at the given positions."""
        bits: npt.NDArray[np.int64] = np.arange(self.space.concept_count, dtype=np.int64)
        return ((self.space.masks[pool][:, None] >> bits) & 1).astype(np.float64)
