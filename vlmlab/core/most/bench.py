"""Running a modality search against a system on paper instead of a system under test."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

from vlmlab.core.errors import ConfigError
from vlmlab.core.most.admission import FidelityMemory
from vlmlab.core.most.config import PRESETS, MostConfig, config_from_values
from vlmlab.core.most.landscapes import FAMILIES, IMAGE_NAMES, TEXT_NAMES, landscape
from vlmlab.core.most.search import build_search, build_space
from vlmlab.core.most.types import Regime, SearchTarget

SCRIPTED = "scripted:"
ALGORITHM_NAMES: dict[str, Mapping[str, str | int | float | bool | None]] = {
    "screen": PRESETS["standard"].values,
    "nsga2": PRESETS["faithful"].values,
    "nsga2-admitted": {**PRESETS["faithful"].values, "fidelity_first": True},
    "random": PRESETS["random"].values,
}


@dataclass(frozen=True)
class BenchResult:
    """One search on one system in one regime.

    Attributes:
        algorithm: what ran, as a shell calls it.
        family: of the system.
        regime: what was perturbed.
        seed: of system and search.
        first_hit: answers up to the first failure, itself included; None without one.
        evaluations: answers in all.
        batches: times the search was asked.
        fidelities: strategies whose distances were measured.
        end_reason: why it ended.
        strategy: acting operators of the returned test case with their severities.
        swtd: of that test case.
        own_seconds: time that the search itself took, if a clock was given.
    """

    algorithm: str
    family: str
    regime: Regime
    seed: int
    first_hit: int | None
    evaluations: int
    batches: int
    fidelities: int
    end_reason: str
    strategy: Mapping[str, float]
    swtd: float | None
    own_seconds: float

    def to_json(self) -> str:
        """Return the result as JSON."""
        return json.dumps(asdict(self), indent=1)


def bench_config(algorithm: str, params: Mapping[str, str] | None = None) -> MostConfig:
    """Return the configuration of a named algorithm; ``params`` override its values.

    Raises:
        ConfigError: the name is unknown or a value out of range.
    """
    name = algorithm.strip().lower().replace("_", "-")
    if name not in ALGORITHM_NAMES:
        known = ", ".join(ALGORITHM_NAMES)
        raise ConfigError(f"There is no algorithm {algorithm!r}.", hint=f"Known: {known}.", field="algorithm")
    return config_from_values({**ALGORITHM_NAMES[name], **(params or {})})


def scripted_family(sut: str) -> str:
    """Return the family of a system that is named ``scripted:FAMILY``.

    Raises:
        ConfigError: it is not.
    """
    family = sut.removeprefix(SCRIPTED)
    if not sut.startswith(SCRIPTED) or family not in FAMILIES:
        known = ", ".join(SCRIPTED + name for name in FAMILIES)
        raise ConfigError(
            f"There is no system on paper called {sut!r}.", hint=f"Known: {known}.", field="sut"
        )
    return family


def run_bench(
    config: MostConfig,
    *,
    algorithm: str,
    family: str,
    regime: Regime,
    seed: int,
    clock: Callable[[], float] | None = None,
) -> BenchResult:
    """Run a search to its end against a system on paper.

    Args:
        config: what to search and how.
        algorithm: its name, for the result.
        family: a name of ``landscapes.FAMILIES``.
        regime: what may be perturbed.
        seed: of system and search; all algorithms meet the same system.
        clock: seconds, to measure the search itself.
    """
    world = landscape(family, regime=regime, seed=seed)
    space = build_space(config, regime=regime, image_operators=IMAGE_NAMES, text_operators=TEXT_NAMES)
    memory = FidelityMemory(world.fidelity)
    search = build_search(config, target=SearchTarget(space, memory, world.clean_iou), run_seed=seed)
    now = clock or (lambda: 0.0)
    batches, own = 0, 0.0
    while True:
        start = now()
        batch = search.ask()
        own += now() - start
        if not batch:
            break
        outcomes = [world.answer(query) for query in batch]
        start = now()
        search.tell(outcomes)
        own += now() - start
        batches += 1
    case = search.returned_case()
    strategy = case.outcome.query.strategy if case else ()
    return BenchResult(
        algorithm=algorithm,
        family=family,
        regime=regime,
        seed=seed,
        first_hit=search.first_hit,
        evaluations=search.evaluations,
        batches=batches,
        fidelities=memory.measured,
        end_reason=str(search.end_reason),
        strategy={name: s for name, s in zip(space.operators, strategy, strict=False) if s > 0.0},
        swtd=case.outcome.swtd if case else None,
        own_seconds=own,
    )
