"""Sequential interaction Thompson search: our search for as many failure modes as a budget allows."""

from collections import deque
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.interactions import Counts, InteractionModel, pair_cells
from vlmlab.core.revelio.racing import hit_probability
from vlmlab.core.revelio.space import IndexArray, SearchSpace
from vlmlab.core.revelio.trials import ConceptSetSearch, Trial
from vlmlab.core.revelio.types import Query, TrialStatus
from vlmlab.core.seeding import rng_for

WARM_UP_RATE = 0.3  # expected failure rate of a set before anything is learnt
WARM_UP_SHARE = 0.05  # of the budget, for single concepts and random pairs
SMALL_SET = 3  # sets up to this size are always candidates
LARGE_DRAWS = 4000  # random larger candidates
ROUNDS_BETWEEN_POOLS = 4
MAX_NOVELTY = 3
SUBSET_RATE = 0.35  # predicted rate from which a subset of a new mode is tried first


class SitsSearch(ConceptSetSearch):
    """One sample at a time of the sets that posterior draws of a logistic pair model like best.

    A set leaves its slot when its class is decided, or when its chance to become a failure mode
    falls below ``keep_probability`` (parked: never reported).
    """

    def __init__(self, config: RevelioConfig, *, space: SearchSpace, run_seed: int) -> None:
        super().__init__(config, space=space, run_seed=run_seed)
        self._model = InteractionModel(space.concept_count)
        self._warm_up = self._warm_up_sets()
        self._is_warm = False
        self._round = 0
        self._draws = 0
        self._is_stale = True
        self._pool: IndexArray = np.empty(0, dtype=np.intp)
        self._cells: npt.NDArray[np.int32] = np.empty((0, 0), dtype=np.int32)
        self._is_tested = np.zeros(len(space.masks), dtype=np.bool_)
        self._modes_inside = np.zeros(len(space.masks), dtype=np.int16)
        self._small = np.flatnonzero(space.sizes <= max(SMALL_SET, space.smallest))
        self._first: deque[int] = deque()
        self._expected: dict[int, float] = {}

    @property
    def stage(self) -> str:
        """Warm-up, then the number of the round."""
        return f"round {self._round}" if self._is_warm else "warm-up"

    def _warm_up_sets(self) -> deque[int]:
        """Return the smallest sets, all of them if single concepts, then random ones of the next size."""
        space = self.space
        sets: list[int] = []
        for size in (space.smallest, space.smallest + 1):
            shuffled = rng_for(self.run_seed, "sits", "warm-up", size).permutation(space.of_size(size))
            sets.extend(int(index) for index in shuffled)
        self._always = len(space.of_size(1))
        return deque(sets)

    def _next_batch(self) -> list[Query]:
        self._round += self._is_warm
        remaining = self._remaining()
        while len(self._active) < min(self.config.slots, remaining):
            index = self._propose()
            if index is None:
                break
            self._open(index)
        room = min(self.config.slots, remaining)
        return [self._query(trial) for trial in self._active[:room]]

    def _open(self, index: int) -> Trial:
        self._is_tested[index] = True
        self._expected.setdefault(index, WARM_UP_RATE)
        return super()._open(index)

    def _judge(self, trial: Trial) -> TrialStatus:
        status = super()._judge(trial)
        if status is not TrialStatus.OPEN or trial.samples == 0:
            return status
        chance = hit_probability(self.rule, trial.fails, trial.passes, rate=self._expected[trial.index])
        return status if chance >= self.config.keep_probability else TrialStatus.PARKED

    def _propose(self) -> int | None:
        if not self._is_warm:
            planned = self._observations + len(self._active)
            is_due = len(self._opened) < self._always
            if self._warm_up and (is_due or planned < WARM_UP_SHARE * self.config.inference_budget):
                return self._warm_up.popleft()
            self._is_warm, self._round = True, 1
        if self._is_stale:
            self._learn()
        index = self._next_first()
        if index is None:
            index = self._draw()
        if index is not None:
            self._expected[index] = float(self._predict(np.array([index], dtype=np.intp))[0])
        return index

    def _learn(self) -> None:
        """Fit the model to every answered sample and, every 4th round, draw new candidates."""
        tested = [trial for trial in self._opened.values() if trial.samples]
        index = np.array([trial.index for trial in tested], dtype=np.intp)
        self._model.fit(
            Counts(
                self.space.members[index],
                np.array([trial.fails for trial in tested], dtype=np.float64),
                np.array([trial.samples for trial in tested], dtype=np.float64),
            )
        )
        self._is_stale = False
        if len(self._pool) == 0 or self._round % ROUNDS_BETWEEN_POOLS == 0:
            self._refresh_pool()

    def _refresh_pool(self) -> None:
        total = len(self.space.masks)
        if self.config.sits_pool == "all" or total <= len(self._small) + LARGE_DRAWS:
            if len(self._pool) == total:
                return
            self._pool = np.arange(total, dtype=np.intp)
        else:
            rng = rng_for(self.run_seed, "sits", "pool", self._round)
            large = rng.integers(len(self._small), total, size=LARGE_DRAWS)
            self._pool = np.concatenate([self._small, np.sort(large)])
        self._cells = pair_cells(self.space.members[self._pool], self.space.concept_count)

    def _draw(self) -> int | None:
        """Return the untested candidate that one posterior draw likes best."""
        self._draws += 1
        table = self._model.draw_table(rng_for(self.run_seed, "sits", "draw", self._draws))
        score = table.ravel()[self._cells].sum(axis=1)
        if self.config.novelty_weight:
            inside = np.minimum(self._modes_inside[self._pool], MAX_NOVELTY)
            score -= np.float32(self.config.novelty_weight) * inside
        if self.config.size_weight:
            score -= np.float32(self.config.size_weight) * self.space.sizes[self._pool]
        score[self._is_tested[self._pool]] = -np.inf
        best = int(np.argmax(score))
        return int(self._pool[best]) if np.isfinite(score[best]) else self._any_untested()

    def _any_untested(self) -> int | None:
        left = np.flatnonzero(~self._is_tested)
        rng = rng_for(self.run_seed, "sits", "any", self._draws)
        return int(left[rng.integers(len(left))]) if len(left) else None

    def _predict(self, index: IndexArray) -> npt.NDArray[np.float64]:
        cells = pair_cells(self.space.members[index], self.space.concept_count)
        logit = self._model.intercept() + self._model.mode_table().ravel()[cells].sum(axis=1)
        return np.asarray(np.round(1.0 / (1.0 + np.exp(-logit.astype(np.float64))), 4))

    def _next_first(self) -> int | None:
        """Return an untested subset that waits because its superset failed, likeliest first."""
        while self._first:
            index = self._first.popleft()
            if not self._is_tested[index]:
                return index
        return None

    def _observe(self, closed: Sequence[Trial]) -> None:
        self._is_stale = True
        for trial in closed:
            if trial.status is TrialStatus.DECIDED_FAIL:
                self._learn_mode(trial)

    def _learn_mode(self, trial: Trial) -> None:
        mask = self.space.masks[trial.index]
        self._modes_inside += (self.space.masks & mask) == mask
        if not (self.config.minimal and self._is_warm):
            return
        bits = np.int64(1) << np.arange(self.space.concept_count, dtype=np.int64)
        subsets = self.space.find(mask & ~bits[(mask & bits) != 0])
        subsets = subsets[subsets >= 0]
        if any(self._is_mode(int(index)) for index in subsets):
            return
        subsets = subsets[~self._is_tested[subsets]]
        if len(subsets):
            rates = self._predict(subsets)
            order = np.argsort(-rates, kind="stable")
            self._first.extend(int(subsets[i]) for i in order if rates[i] >= SUBSET_RATE)

    def _is_mode(self, index: int) -> bool:
        trial = self._opened.get(index)
        return trial is not None and trial.status is TrialStatus.DECIDED_FAIL
