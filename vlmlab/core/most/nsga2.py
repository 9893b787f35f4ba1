"""NSGA-II over strategies, as published: generations on IoU, image distance and prompt distance."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from vlmlab.core.most.admission import as_strategy
from vlmlab.core.most.config import MostConfig
from vlmlab.core.most.objectives import objectives_of
from vlmlab.core.most.strategy_search import StrategySearch
from vlmlab.core.most.types import FloatArray, Outcome, SearchTarget, Strategy
from vlmlab.core.seeding import derive_seed, rng_for

if TYPE_CHECKING:
    from vlmlab.core.most.breeding import Breeder


class Generations:
    """Breeds generation after generation; answers are read from what a search knows.

    Args:
        initial: ``(m, n)`` rows of the first generation.
        generations: how many follow it.
        population_size: strategies that survive each.
        repair: maps rows to strategies that may be asked.
        seed: the number all randomness comes from.
    """

    def __init__(
        self,
        initial: FloatArray,
        *,
        generations: int,
        population_size: int,
        repair: Callable[[FloatArray], FloatArray],
        seed: int,
    ) -> None:
        self.number = -1
        self._initial = initial
        self._last = generations
        self._population_size = population_size
        self._repair = repair
        self._seed = seed
        self._breeder: Breeder | None = None
        self._members: list[Strategy] = []
        self._repeats = 0

    @property
    def repeats(self) -> int:
        """Members that had been asked in an earlier generation: they took no inference."""
        return self._repeats

    def unknown(self, known: Mapping[Strategy, Outcome], *, clean_iou: float) -> list[Strategy]:
        """Return the members of the present generation that have no outcome yet, after breeding if need be.

        Args:
            known: every decided strategy with its outcome.
            clean_iou: IoU of the answer to the clean input.

        Returns:
            Strategies, each once; none when the last generation is answered.
        """
        while True:
            missing = [member for member in self._members if member not in known]
            if missing:
                return missing
            if not self._breed(known, clean_iou):
                return []

    def _breed(self, known: Mapping[Strategy, Outcome], clean_iou: float) -> bool:
        if self.number >= self._last:
            return False
        if self._breeder is None:
            from vlmlab.core.most.breeding import Breeder  # imports pymoo, which takes a second

            self._breeder = Breeder(
                self._initial,
                population_size=self._population_size,
                repair=self._repair,
                seed=self._seed,
            )
        elif not self._tell(self._breeder, known, clean_iou):
            return False
        self._members = [as_strategy(row) for row in self._breeder.ask()]
        self._repeats += sum(member in known for member in self._members)
        self.number += 1
        return bool(self._members)

    def _tell(self, breeder: "Breeder", known: Mapping[Strategy, Outcome], clean_iou: float) -> bool:
        outcomes = [known[member] for member in self._members]
        answered = [outcome for outcome in outcomes if outcome.status.is_answer]
        if self.number == 0 and not answered:
            return False  # a population of none cannot breed
        rows = [objectives_of(outcome, clean_iou=clean_iou) for outcome in answered]
        breeder.tell(rows, is_answered=[outcome.status.is_answer for outcome in outcomes])
        return True


class Nsga2Search(StrategySearch):
    """The published search: a population from small severities and the clean input, then generations.

    A batch is a part of one generation. A strategy that an earlier generation asked is not asked again.
    """

    def __init__(self, config: MostConfig, *, target: SearchTarget, run_seed: int) -> None:
        super().__init__(config, target=target, run_seed=run_seed)
        rng = rng_for(run_seed, "most", "nsga2", "initial")
        self._generations = Generations(
            target.space.initial(config.population_size, rng),
            generations=config.generations,
            population_size=config.population_size,
            repair=self._admitted_rows,
            seed=derive_seed(run_seed, "most", "nsga2", "breeding"),
        )

    @property
    def stage(self) -> str:
        """The generation that is being asked, the first being 0."""
        return f"generation {max(0, self._generations.number)}"

    @property
    def repeats(self) -> int:
        """Members of generations that took no inference, having been asked before."""
        return self._generations.repeats

    def _propose(self, room: int) -> Sequence[Strategy]:
        missing = self._generations.unknown(self.outcomes, clean_iou=self.target.clean_iou)
        return [member for member in missing if member not in self._asked][:room]
