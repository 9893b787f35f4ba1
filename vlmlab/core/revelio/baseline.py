"""Random search: the yardstick every other search must beat."""

import numpy as np

from vlmlab.core.revelio.config import RevelioConfig
from vlmlab.core.revelio.space import SearchSpace
from vlmlab.core.revelio.trials import ConceptSetSearch
from vlmlab.core.seeding import rng_for

LARGEST_RANDOM_SIZE = 4  # the paper's random baseline draws sets of one to four concepts


class RandomSearch(ConceptSetSearch):
    """Draws a size uniformly, then a valid set of that size uniformly, without replacement."""

    def __init__(self, config: RevelioConfig, *, space: SearchSpace, run_seed: int) -> None:
        super().__init__(config, space=space, run_seed=run_seed)
        self._size_rng = rng_for(run_seed, "random", "size")
        largest = max(space.smallest, min(LARGEST_RANDOM_SIZE, space.largest))
        self._left: dict[int, list[int]] = {}
        for size in range(space.smallest, largest + 1):
            shuffled = rng_for(run_seed, "random", "sets", size).permutation(space.of_size(size))
            if len(shuffled):
                self._left[size] = [int(index) for index in shuffled]

    @property
    def stage(self) -> str:
        """Always the same: this search learns nothing."""
        return "random"

    def _propose(self) -> int | None:
        sizes = np.array(sorted(size for size, left in self._left.items() if left))
        if len(sizes) == 0:
            return None
        return self._left[int(sizes[self._size_rng.integers(len(sizes))])].pop()
