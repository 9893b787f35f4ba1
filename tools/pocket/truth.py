"""What a training picture shows, reduced to what the pocket VLM's helper losses supervise."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.weather import DEFAULT_WEATHER

STATES = ("close", "far", "sidewalk", "light")
ACTIONS = ("emergency_stop", "slow_down", "continue")
LIGHTS = ("light_red", "light_green")
BACKGROUND = -1


@dataclass(frozen=True)
class Thing:
    """One object of a scene that matters: its concept and where it stands (one of ``STATES``)."""

    concept: str
    state: str


@dataclass(frozen=True)
class SceneTruth:
    """The things of a set, its surroundings (weather, junction), the expected action and its rule."""

    key: tuple[str, ...]
    things: tuple[Thing, ...]
    surroundings: tuple[str, ...]
    action: str
    rule_id: str


def class_names(domain: Domain) -> tuple[str, ...]:
    """Return the concepts that occupy cells of a picture: every entity, then both lights."""
    return (*(c.id for c in domain.concepts if c.kind == "entity"), *LIGHTS)


def surrounding_names(domain: Domain) -> tuple[str, ...]:
    """Return the concepts that colour the whole picture and may matter: the weather and the junction."""
    return (*(c.id for c in domain.concepts if c.group == "weather"), "intersection_ego")


def truth_of(domain: Domain, key: Sequence[str]) -> SceneTruth:
    """Resolve a concept set: modifiers act on its last modifiable entity, a light implies a junction."""
    ordered = domain.canonical(key)
    concepts = [domain.concept(name) for name in ordered]
    things = [
        Thing(entity.concept_id, _state(entity.placement, entity.distance))
        for entity in domain.entities(ordered)
    ]
    things += [Thing(name, "light") for name in ordered if name in LIGHTS]
    around = {*ordered, *(name for c in concepts for name in c.implies)}
    if not any(c.group == "weather" for c in concepts):
        around.add(DEFAULT_WEATHER)
    surroundings = tuple(name for name in surrounding_names(domain) if name in around)
    decision = domain.decide(ordered)
    return SceneTruth(ordered, tuple(things), surroundings, decision.action, decision.rule_id)


def _state(placement: str, distance: str) -> str:
    if placement == "sidewalk":
        return "sidewalk"
    return "far" if distance == "far" else "close"


@dataclass(frozen=True)
class CellTargets:
    """Dense truth on a grid of ``g x g`` cells for ``n`` pictures.

    Attributes:
        classes: ``(n, g, g)`` int64, index into ``class_names`` or ``BACKGROUND``.
        states: ``(n, g, g)`` int64, index into ``STATES`` or ``BACKGROUND``.
        boxes: ``(n, g, g, 4)`` float32, x_min, y_min, x_max, y_max as fractions of the picture.
    """

    classes: npt.NDArray[np.int64]
    states: npt.NDArray[np.int64]
    boxes: npt.NDArray[np.float32]


@dataclass(frozen=True)
class SeenThing:
    """A thing with its visible box in fractions of the picture."""

    concept: str
    state: str
    box: tuple[float, float, float, float]


def cell_targets(
    pictures: Sequence[Sequence[SeenThing]], *, classes: Sequence[str], grid: int
) -> CellTargets:
    """Paint the boxes of each picture on its grid; smaller boxes are painted over larger ones.

    Args:
        pictures: the visible things of each picture.
        classes: concept ids in the order of the class indices.
        grid: cells along each side.

    Returns:
        The three target arrays; every thing owns at least the cell of its centre.
    """
    count = len(pictures)
    cell_classes = np.full((count, grid, grid), BACKGROUND, np.int64)
    cell_states = np.full((count, grid, grid), BACKGROUND, np.int64)
    boxes = np.zeros((count, grid, grid, 4), np.float32)
    index_of = {name: number for number, name in enumerate(classes)}
    for number, things in enumerate(pictures):
        for thing in sorted(things, key=lambda t: -(t.box[2] - t.box[0]) * (t.box[3] - t.box[1])):
            patch = np.ix_(
                _cells(thing.box[1], thing.box[3], grid=grid), _cells(thing.box[0], thing.box[2], grid=grid)
            )
            cell_classes[number][patch] = index_of[thing.concept]
            cell_states[number][patch] = STATES.index(thing.state)
            boxes[number][patch] = thing.box
    return CellTargets(cell_classes, cell_states, boxes)


def _cells(low: float, high: float, *, grid: int) -> npt.NDArray[np.int64]:
    centres = (np.arange(grid) + 0.5) / grid
    inside = np.flatnonzero((centres > low) & (centres < high))
    middle = min(grid - 1, max(0, int((low + high) / 2 * grid)))
    return np.union1d(inside, [middle]).astype(np.int64)
