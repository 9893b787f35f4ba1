"""Draws one arrangement and measures what can be seen of each concept."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tools.warehouse_pool.layout import Arrangement, arrange
from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes.concepts import Key
from vlmlab.core.scenes.render.atmosphere import Atmosphere
from vlmlab.core.scenes.render.camera import Pinhole
from vlmlab.core.scenes.render.film import develop
from vlmlab.core.scenes.render.presence import CHECK_HEIGHT, CHECK_WIDTH, measure_visibility
from vlmlab.core.scenes.render.tracer import Geometry
from vlmlab.core.scenes.render.tracing import QUALITIES, trace_picture
from vlmlab.core.scenes.scene import SceneObject
from vlmlab.core.seeding import rng_for

ATTEMPTS = 40
MASK_COVERAGE = 0.5
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Need:
    """What must be seen of a concept: pixels of the check grid, and the share that nothing hides.

    Most of the yard behind an open dock lies behind the wall, so its share is small.
    """

    pixels: int
    visible: float


USUAL = Need(400, 0.6)
NEEDS: dict[str, Need] = {
    "forklift_parked": Need(1500, 0.75),
    "forklift_moving": Need(1500, 0.75),
    "pallet_stack_straight": Need(800, 0.75),
    "pallet_stack_leaning": Need(800, 0.75),
    "cone": Need(90, 0.8),
    "cable_loose": Need(120, 0.6),
    "spill": Need(350, 0.7),
    "fire_exit_clear": Need(350, 0.85),
    "fire_exit_blocked": Need(500, 0.75),
    "dock_door_open": Need(1500, 0.02),
    "aisle_blocked": Need(1200, 0.6),
    "worker_on_ladder": Need(500, 0.6),
    "worker_vest": Need(350, 0.8),
    "worker_no_vest": Need(350, 0.8),
}


@dataclass(frozen=True, eq=False)
class Seen:
    """What a picture shows of a concept; ``mask`` is ``(height, width)``."""

    concept: str
    box: Box
    mask: npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Drawn:
    """A finished picture, ``(height, width, 3)`` sRGB, with its truth."""

    concepts: Key
    image: npt.NDArray[np.uint8]
    seen: tuple[Seen, ...]
    attempt: int


def draw(concepts: Key, *, seed: int, number: int, width: int, height: int) -> Drawn:
    """Return a picture of a set.

    Args:
        concepts: all that it shall show, ``hall`` among them or not.
        seed: of the pool.
        number: of the picture; two pictures of a set differ by it.
        width: pixels.
        height: pixels.

    Raises:
        GenerationError: no arrangement shows all of it well enough.
    """
    for attempt in range(ATTEMPTS):
        rng = rng_for(seed, "warehouse", number, attempt)
        arrangement = arrange(concepts, rng)
        if arrangement is None:
            continue
        geometry = Geometry(
            [(arrangement.hall, 0), *((one.mesh, place + 1) for place, one in enumerate(arrangement.things))]
        )
        if _is_well_seen(arrangement, geometry):
            return _developed(concepts, arrangement, geometry, rng, attempt=attempt, size=(width, height))
    raise GenerationError(f"None of {ATTEMPTS} arrangements shows {', '.join(concepts)}.")


def _is_well_seen(arrangement: Arrangement, geometry: Geometry) -> bool:
    objects = tuple(
        SceneObject(one.concept, one.concept, (0.0, 0.0, 0.0), concept=one.concept, is_required=True)
        for one in arrangement.things
    )
    pinhole = Pinhole.of(arrangement.camera, width=CHECK_WIDTH, height=CHECK_HEIGHT)
    meshes = tuple(one.mesh for one in arrangement.things)
    measured = measure_visibility(objects, meshes, geometry, pinhole)
    for concept, visibility in measured.items():
        need = NEEDS.get(concept, USUAL)
        if visibility.pixels < need.pixels or visibility.fraction < need.visible:
            return False
    return True


def _developed(
    concepts: Key,
    arrangement: Arrangement,
    geometry: Geometry,
    rng: np.random.Generator,
    *,
    attempt: int,
    size: tuple[int, int],
) -> Drawn:
    pinhole = Pinhole.of(arrangement.camera, width=size[0], height=size[1])
    atmosphere = Atmosphere.of(arrangement.environment)
    film = trace_picture(geometry, atmosphere, pinhole, rng=rng, quality=QUALITIES["standard"])
    seen = []
    for place, one in enumerate(arrangement.things):
        mask = film.coverage(place + 1) >= MASK_COVERAGE
        if mask.any():
            seen.append(Seen(one.concept, _box_of(mask), mask))
    return Drawn(concepts, develop(film, atmosphere, rng=rng), tuple(seen), attempt)


def _box_of(mask: npt.NDArray[np.bool_]) -> Box:
    """Return x_min, y_min, x_max, y_max of all pixels of a mask."""
    rows, columns = np.nonzero(mask.any(1))[0], np.nonzero(mask.any(0))[0]
    return float(columns[0]), float(rows[0]), float(columns[-1] + 1), float(rows[-1] + 1)
