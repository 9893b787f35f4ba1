"""Samples Scenic programs, with no simulator: same concepts, seed and attempt, same scene."""

import hashlib
import importlib.metadata
import math
import random
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes.layout import BUMPER_Y
from vlmlab.core.scenes.render.carla.describing import Footprint, Roads, describe
from vlmlab.core.scenes.render.carla.frames import EgoFrame
from vlmlab.core.scenes.render.carla.lowering import ScenePlan, scenic_program
from vlmlab.core.scenes.scene import SceneDescription
from vlmlab.core.seeding import derive_seed

MAX_ITERATIONS = 3000  # of Scenic's rejection sampling, for one layout
TRIALS = 12  # layouts looked at; the first in which all can be seen is taken, or else the best
KEPT_PROGRAMS = 4
STRAIGHT_M = 1.5  # a junction further aside than this is not ahead
_SCENIC = threading.Lock()  # Scenic keeps the program it compiles in global state
_maps: dict[str, Path] = {}


@dataclass(frozen=True, eq=False)
class SampledScene:
    """A scene as Scenic sampled it, and as we describe it."""

    scenic: Any
    description: SceneDescription


def sample_scene(
    plan: ScenePlan, roads: Roads, *, concepts: tuple[str, ...], seed: int, attempt: int
) -> SampledScene:
    """Return the scene of a plan on a map, a pure function of its arguments.

    Raises:
        GenerationError: Scenic found no layout that meets the plan on this map.
    """
    program = scenic_program(plan, map_path=str(_map_file(roads.xodr)), carla_map=roads.carla_map)
    best: tuple[float, SampledScene] | None = None
    with _SCENIC:
        scenario = _compiled(program)
        with _seeded(derive_seed(seed, "carla layout", *concepts, attempt)):
            for _ in range(TRIALS):
                scene = _drawn(scenario)
                footprints = _footprints(scene)
                if not _is_as_planned(scene, plan, footprints):
                    continue
                score, description = describe(
                    plan, roads, _frame(scene), footprints, junction_m=_junction_m(scene),
                    concepts=concepts, seed=seed, attempt=attempt,
                )  # fmt: skip
                if best is None or score > best[0]:
                    best = score, SampledScene(scene, description)
                if best[0] >= 1.0:
                    break
    if best is None:
        raise GenerationError(
            "Scenic found no place on the map where this concept set fits.",
            hint="Take one object out or move one with “far” or “on sidewalk”.",
        )
    return best[1]


def scenic_version() -> str:
    """Return the version of the installed Scenic."""
    return importlib.metadata.version("scenic")


def _drawn(scenario: Any) -> Any:
    from scenic.core.distributions import RejectionException

    try:
        scene, _ = scenario.generate(maxIterations=MAX_ITERATIONS, verbosity=0)
    except RejectionException:
        raise GenerationError(
            "The objects of this concept set do not fit side by side on the map.",
            hint="Take one object out or move one with “far” or “on sidewalk”.",
        ) from None
    return scene


@lru_cache(maxsize=KEPT_PROGRAMS)
def _compiled(program: str) -> Any:
    # Imported here: Scenic brings OpenCV and pygame, which only a worker that draws may load.
    import scenic

    with _seeded(0):  # compiling draws too, and must neither depend on what was drawn before nor move it
        return scenic.scenarioFromString(program, mode2D=True)


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed the two global generators that Scenic draws from, and put back what they were."""
    python, numpy = random.getstate(), np.random.get_state()
    random.seed(seed)
    np.random.seed(seed % 2**32)
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)


@lru_cache(maxsize=1)
def _map_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="vlmlab-carla-")


def _map_file(xodr: str) -> Path:
    """Return a file of this process with a map; Scenic keeps what it parsed beside it."""
    digest = hashlib.sha256(xodr.encode()).hexdigest()[:16]
    if digest not in _maps:
        path = Path(_map_folder().name) / f"{digest}.xodr"
        path.write_text(xodr, encoding="utf-8")
        _maps[digest] = path
    return _maps[digest]


def _frame(scene: Any) -> EgoFrame:
    ego = scene.egoObject
    return EgoFrame.of(float(ego.position.x), float(ego.position.y), float(ego.heading))


def _junction_m(scene: Any) -> float | None:
    """Return how far ahead of the bumper the junction begins; infinity where it is not ahead."""
    stop = scene.params.get("stop")
    if stop is None:
        return None
    right, ahead = _frame(scene).from_world(float(stop[0]), float(stop[1]))
    return ahead - BUMPER_Y if abs(right) < STRAIGHT_M else math.inf


def _footprints(scene: Any) -> list[Footprint]:
    """Return the bounds of every actor but the car, in our frame."""
    frame = _frame(scene)
    footprints = []
    for item in scene.objects:
        if item is scene.egoObject:
            continue
        yaw = frame.yaw_of(float(item.heading))
        right, ahead = frame.from_world(float(item.position.x), float(item.position.y))
        half_width, half_length = float(item.width) / 2, float(item.length) / 2
        across = abs(math.cos(yaw)) * half_width + abs(math.sin(yaw)) * half_length
        along = abs(math.sin(yaw)) * half_width + abs(math.cos(yaw)) * half_length
        footprints.append(
            Footprint(
                concept=str(item.rolename),
                blueprint=str(item.blueprint),
                yaw=yaw,
                box=(right - across, right + across, ahead - along, ahead + along, float(item.height)),
            )
        )
    return footprints


def _is_as_planned(scene: Any, plan: ScenePlan, footprints: list[Footprint]) -> bool:
    """Return whether everything stands in its range when measured from the bumper, straight ahead."""
    distance = _junction_m(scene)
    if plan.junction_m is not None and (
        distance is None or not plan.junction_m[0] <= distance <= plan.junction_m[1]
    ):
        return False
    for thing in plan.things:
        nearest = min(one.box[2] for one in footprints if one.concept == thing.concept) - BUMPER_Y
        if not thing.low_m <= nearest <= thing.high_m:
            return False
    return True
