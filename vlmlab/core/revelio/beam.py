"""Beam search over concept sets: the best sets of each size are extended by one concept."""

from collections import deque
from collections.abc import Sequence

import numpy as np

from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.racing import StoppingRule
from vlmlab.core.revelio.space import SearchSpace
from vlmlab.core.revelio.trials import ConceptSetSearch, Trial
from vlmlab.core.revelio.types import TrialStatus
from vlmlab.core.seeding import rng_for


class BeamLevels:
    """Algorithm 1 of the paper: proposes sets level by level and picks each next frontier.

    The first level holds all sets of the smallest size. Unless ``config.beam_literal``, a level may
    open as many sets as an equal share of what is left of ``inference_budget`` affords.

    Args:
        inference_budget: what the beam may spend; the whole budget, or the warm start of gpts.
    """

    def __init__(
        self, config: RevelioConfig, *, space: SearchSpace, run_seed: int, inference_budget: int
    ) -> None:
        self.config = config
        self.space = space
        self.run_seed = run_seed
        self.inference_budget = inference_budget
        self.level = space.smallest
        self.is_over = False
        rule = StoppingRule(config.samples_per_set, config.fails_needed, config.is_curtailed)
        self._cost = rule.certain_samples(0, 0)
        self._queue: deque[int] = deque()
        self._allowance = 0
        self._start_level(list(space.of_size(space.smallest)), spent=0, frontier=())

    def propose(self, spent: int, *, trials: Sequence[Trial]) -> int | None:
        """Return the next set, or None while its level is still being sampled, or when it is over.

        Args:
            spent: inferences charged and promised so far.
            trials: every trial of this beam.
        """
        if not self._queue or spent + self._cost > self._allowance:
            here = [trial for trial in trials if self.space.sizes[trial.index] == self.level]
            if self.is_over or any(trial.status is TrialStatus.OPEN for trial in here):
                return None
            self._next_level(here, spent=spent)
            if self.is_over:
                return None
        return self._queue.popleft()

    def _next_level(self, here: Sequence[Trial], *, spent: int) -> None:
        frontier = self.choose_frontier(here)
        self.level += 1
        if not frontier or self.level > self.space.largest or spent + self._cost > self.inference_budget:
            self.is_over = True
            return
        self._start_level(self._extensions(frontier), spent=spent, frontier=frontier)
        if not self._queue or spent + self._cost > self._allowance:
            self.is_over = True

    def _start_level(self, sets: list[int], *, spent: int, frontier: Sequence[Trial]) -> None:
        if not frontier:
            order = rng_for(self.run_seed, "beam", "level", self.level).permutation(len(sets))
            sets = [int(sets[i]) for i in order]
        self._queue = deque(sets)
        left = max(0, self.inference_budget - spent)
        levels_left = self.space.largest - self.level + 1
        if self.config.beam_literal:
            self._allowance = self.inference_budget
        else:
            self._allowance = spent + max(self._cost, left // levels_left)

    def _extensions(self, frontier: Sequence[Trial]) -> list[int]:
        """Return the valid sets one concept larger than a member, round-robin, duplicates once."""
        lists = [self._extensions_of(trial.index) for trial in frontier]
        seen: dict[int, None] = {}
        for place in range(max(len(extensions) for extensions in lists)):
            for extensions in lists:
                if place < len(extensions):
                    seen.setdefault(extensions[place])
        return list(seen)

    def _extensions_of(self, index: int) -> list[int]:
        mask = self.space.masks[index]
        bits = np.int64(1) << np.arange(self.space.concept_count, dtype=np.int64)
        found = self.space.find((mask | bits)[(mask & bits) == 0])
        rng = rng_for(self.run_seed, "beam", "extensions", int(mask))
        return [int(position) for position in rng.permutation(found[found >= 0])]

    def choose_frontier(self, here: Sequence[Trial]) -> list[Trial]:
        """Return up to ``beam_width`` trials: each time the best rate less its overlap with those chosen.

        Overlap is the largest Jaccard similarity; ties fall at random, by the run seed.
        """
        candidates = [trial for trial in here if trial.samples and trial.status.is_decided]
        luck = rng_for(self.run_seed, "beam", "ties", self.level).permutation(len(candidates))
        masks = [int(self.space.masks[trial.index]) for trial in candidates]
        overlap = [0.0] * len(candidates)
        left = set(range(len(candidates)))
        chosen: list[Trial] = []
        while left and len(chosen) < self.config.beam_width:
            best = max(
                sorted(left),
                key=lambda i: (
                    round(candidates[i].rate - self.config.diversity_weight * overlap[i], 9),
                    luck[i],
                ),
            )
            left.remove(best)
            chosen.append(candidates[best])
            for i in left:
                overlap[i] = max(overlap[i], jaccard(masks[best], masks[i]))
        return chosen


def jaccard(first: int, second: int) -> float:
    """Return shared concepts / all concepts of two masks; 1 for two empty ones."""
    union = (first | second).bit_count()
    return (first & second).bit_count() / union if union else 1.0


class BeamSearch(ConceptSetSearch):
    """The beam with the whole budget."""

    def __init__(self, config: RevelioConfig, *, space: SearchSpace, run_seed: int) -> None:
        super().__init__(config, space=space, run_seed=run_seed)
        self._beam = BeamLevels(
            config, space=space, run_seed=run_seed, inference_budget=config.inference_budget
        )

    @property
    def stage(self) -> str:
        """The level, by its number of concepts."""
        return f"level {self._beam.level}"

    def _propose(self) -> int | None:
        spent = self._observations + sum(self._certain(trial) for trial in self._active)
        return self._beam.propose(spent, trials=list(self._opened.values()))
