"""screen: a little of everything, each operator alone, combinations that a model likes, then weakening."""

from collections import deque
from collections.abc import Iterator, Sequence

import numpy as np

from vlmlab.core.most.admission import allowed_strategy
from vlmlab.core.most.combining import Combiner, DamageModel, Reach
from vlmlab.core.most.config import MostConfig
from vlmlab.core.most.nsga2 import Generations
from vlmlab.core.most.objectives import objectives_of
from vlmlab.core.most.strategy_search import StrategySearch
from vlmlab.core.most.types import AnswerStatus, Outcome, SearchTarget, Strategy
from vlmlab.core.most.weakening import RunningPlan, along_ray
from vlmlab.core.seeding import derive_seed, rng_for

MAX_DRAWS = 20  # draws in vain after which no combination is left
REFINE_AFTER = 150  # combinations without a failure after which refining begins nevertheless
MAX_HALVINGS = 2  # a strategy that ended the boxes is tried at half and at a quarter of its strength


class ScreenSearch(StrategySearch):
    """Our search: cheap knowledge first.

    First all operators share the budget evenly, because some systems break under a little of everything.
    Then every operator is asked alone at its largest admissible severity. Combinations maximise one draw
    each from what a linear model may still be (Thompson sampling). An answer without boxes is no failure:
    the strategy is tried again at half its strength. The first failure is weakened along its ray. With
    ``refine``, generations of NSGA-II follow, bred from everything that was asked.
    """

    def __init__(self, config: MostConfig, *, target: SearchTarget, run_seed: int) -> None:
        super().__init__(config, target=target, run_seed=run_seed)
        order = rng_for(run_seed, "most", "screen", "order").permutation(len(target.space.operators))
        self._everything: Strategy | None = None
        self._alone = deque(int(index) for index in order)
        self._largest: dict[int, Strategy] = {}
        self._halves: deque[Strategy] = deque()
        self._halvings: dict[Strategy, int] = {}
        self._weakening: RunningPlan | None = None
        self._draws = rng_for(run_seed, "most", "screen", "draws")
        self._n_combined = 0
        self._generations: Generations | None = None
        self._stage = "everything"

    @property
    def stage(self) -> str:
        """everything, alone, combined, weaker, or the generation of refining."""
        return self._stage

    def _is_satisfied(self) -> bool:
        is_weakest = self._weakening is not None and self._weakening.wanted() is None
        return super()._is_satisfied() and is_weakest

    def _observe(self, answered: Sequence[Outcome]) -> None:
        hits = [outcome for outcome in answered if self.thresholds.is_hit(outcome)]
        if hits and self._weakening is None:
            best = max(hits, key=lambda hit: (hit.swtd, -sum(hit.query.strategy)))
            self._weakening = self._weakened(best.query.strategy)
        for outcome in answered:
            if outcome.status is not AnswerStatus.BOXES:
                self._halve(outcome.query.strategy)

    def _weakened(self, strategy: Strategy) -> RunningPlan:
        row = np.array(strategy)
        plan = along_ray(
            lambda share: allowed_strategy(share * row, self.target.space),
            whole=strategy,
            fails=self._fails,
            steps=self.config.bisection_steps,
        )
        return RunningPlan(plan, is_known=self._is_known)

    def _halve(self, strategy: Strategy) -> None:
        depth = self._halvings.get(strategy, 0) + 1
        half = self._admit(0.5 * np.array(strategy)[None, :])[0]
        if depth <= MAX_HALVINGS and any(half):
            self._halvings[half] = depth
            self._halves.append(half)

    def _propose(self, room: int) -> Sequence[Strategy]:
        weaker = self._weakening.wanted() if self._weakening else None
        if weaker is not None:
            self._stage = "weaker"
            return [] if weaker in self._asked else [weaker]
        fresh: dict[Strategy, None] = {}
        for strategy in self._cheap():
            if any(strategy) and strategy not in self._asked:
                fresh[strategy] = None
            if len(fresh) == room:
                break
        return list(fresh) or self._bred(room)

    def _cheap(self) -> Iterator[Strategy]:
        """Yield halves, everything, single operators, and combinations, as long as there are any."""
        while self._halves:
            yield self._halves.popleft()
        if self._everything is None:
            self._everything = self._a_little_of_everything()
            yield self._everything
        while self._alone:
            self._stage = "alone"
            yield self._at_its_largest(self._alone.popleft())
        if not self._is_refining():
            yield from self._combinations()

    def _a_little_of_everything(self) -> Strategy:
        """Return the budget shared evenly by as many operators as can have a severity that counts."""
        config = self.config
        most = int(config.perturbation_budget / max(config.smallest_severity, 1e-9))
        sharing = list(self._alone)[: max(1, most)]
        row = np.zeros((1, len(self.target.space.operators)))
        row[0, sharing] = min(1.0, config.perturbation_budget / len(sharing))
        return self._admit(row)[0]

    def _at_its_largest(self, index: int) -> Strategy:
        row = np.zeros((1, len(self.target.space.operators)))
        row[0, index] = min(1.0, self.config.perturbation_budget)
        self._largest[index] = self._admit(row)[0]
        return self._largest[index]

    def _combinations(self) -> Iterator[Strategy]:
        """Yield one new combination for each draw, as long as draws bring new ones."""
        reach = self._reach()
        if not reach.severities.any():
            return
        self._stage = "combined"
        combiner = self._combiner(reach)
        drawn: set[Strategy] = set()
        for _ in range(MAX_DRAWS):
            for row in combiner.best_of_a_draw(self._draws):
                strategy = self._admit(row[None, :])[0]
                if any(strategy) and strategy not in self._asked | drawn:
                    drawn.add(strategy)
                    self._n_combined += 1
                    yield strategy
                    break

    def _reach(self) -> Reach:
        count = len(self.target.space.operators)
        severities, image, prompt = np.zeros(count), np.zeros(count), np.zeros(count)
        for index, strategy in self._largest.items():
            if strategy in self._known:
                fidelity = self._known[strategy].fidelity
                severities[index] = strategy[index]
                image[index] = fidelity.image_distance / self.thresholds.image_distance
                prompt[index] = fidelity.prompt_distance / self.thresholds.prompt_distance
        return Reach(severities, image, prompt)

    def _combiner(self, reach: Reach) -> Combiner:
        answered = self.answered
        rows = np.array([outcome.query.strategy for outcome in answered]).reshape(-1, len(reach.severities))
        damages = np.array([self._damage(outcome) for outcome in answered])
        alone = {outcome.query.strategy: damage for outcome, damage in zip(answered, damages, strict=True)}
        ranked = sorted(self._largest, key=lambda index: (-alone.get(self._largest[index], 0.0), index))
        return Combiner(
            reach,
            model=DamageModel(ranked[: self.config.strongest]).fit(rows, damages),
            most_operators=self.config.most_operators,
            budget=self.config.perturbation_budget,
        )

    def _damage(self, outcome: Outcome) -> float:
        """Return the share of the clean IoU that was lost; without boxes, that of the mildest failure."""
        if outcome.status is AnswerStatus.BOXES:
            ratio = objectives_of(outcome, clean_iou=self.target.clean_iou).iou_ratio
        else:
            ratio = self.thresholds.iou / self.target.clean_iou
        return max(0.0, 1.0 - ratio)

    def _is_refining(self) -> bool:
        is_enough = self._weakening is not None or self._n_combined >= REFINE_AFTER
        return self.config.refine and is_enough

    def _bred(self, room: int) -> Sequence[Strategy]:
        """Return members of the generation that refines, none when this search does not refine."""
        if not self._is_refining() or not self.answered:
            return []
        if self._generations is None:
            self._generations = Generations(
                np.array([outcome.query.strategy for outcome in self.answered]),
                generations=self.config.generations,
                population_size=self.config.population_size,
                repair=self._admitted_rows,
                seed=derive_seed(self.run_seed, "most", "screen", "breeding"),
            )
        missing = self._generations.unknown(self.outcomes, clean_iou=self.target.clean_iou)
        self._stage = f"generation {self._generations.number}"
        return [member for member in missing if member not in self._asked][:room]
