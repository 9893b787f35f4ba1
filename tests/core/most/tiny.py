"""Strategies few enough to work by hand, systems that fail for one reason, and ways to play a search."""

from collections.abc import Callable

from vlmlab.core.most.admission import FidelityMemory
from vlmlab.core.most.config import MostConfig
from vlmlab.core.most.genotype import OperatorSpace
from vlmlab.core.most.landscapes import Landscape
from vlmlab.core.most.search import build_search
from vlmlab.core.most.types import AnswerStatus, Fidelity, Outcome, Query, SearchTarget

Answer = Callable[[Query], Outcome]


def tiny_space(count: int = 4, **values) -> OperatorSpace:
    """Two text operators after the image operators."""
    names = tuple(f"operator_{number}" for number in range(count))
    return OperatorSpace(names[:-2], names[-2:], **values)


def harmless(strategy) -> Fidelity:
    """Nothing moves the input far."""
    return Fidelity(0.1 * max(strategy), 0.0)


def boxes(query: Query, iou: float, fidelity=harmless) -> Outcome:
    return Outcome(query, AnswerStatus.BOXES, iou, fidelity(query.strategy), swtd=1.0 - iou)


def robust(query: Query) -> Outcome:
    """A system that always answers as it did without a perturbation."""
    return boxes(query, 0.8)


def fails_from(index: int, severity: float, fidelity=harmless) -> Answer:
    """A system that gives wrong boxes once one operator is this strong."""
    return lambda query: boxes(query, 0.1 if query.strategy[index] >= severity else 0.8, fidelity)


def tiny_search(space=None, *, fidelity=harmless, run_seed: int = 0, clean_iou: float = 0.8, **values):
    target = SearchTarget(space or tiny_space(), fidelity, clean_iou)
    return build_search(MostConfig(**values), target=target, run_seed=run_seed)


def landscape_search(world: Landscape, *, run_seed: int = 0, **values):
    return tiny_search(
        OperatorSpace(world.operators, ()),
        fidelity=FidelityMemory(world.fidelity),
        run_seed=run_seed,
        clean_iou=world.clean_iou,
        **values,
    )


def play(search, answer: Answer, *, batches: int | None = None):
    """Play to the end, or for some batches; return every batch with its outcomes."""
    played = []
    while (batches is None or len(played) < batches) and (batch := search.ask()):
        outcomes = [answer(query) for query in batch]
        search.tell(outcomes)
        played.append((list(batch), outcomes))
    return played


def strategies(played) -> list[tuple[float, ...]]:
    """The strategies asked, in order."""
    return [query.strategy for queries, _ in played for query in queries]
