"""What a training picture shows, reduced to what the pocket VLM's helper losses supervise."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tools.pocket.shards import Box, PictureRecord, SeenObject
from vlmlab.core.replies.probe_pictures import COLOURS
from vlmlab.core.scenes.asked_labels import LABELS
from vlmlab.core.scenes.catalogue import DOMAIN_SLUGS, load_domain
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.driving import KIND_OF_CONCEPT, LIGHT_COLOURS, TOWNS
from vlmlab.core.scenes.weather import DEFAULT_WEATHER

STATES = ("close", "far", "sidewalk", "light", "other")
BACKGROUND = -1
UNKNOWN = -1.0
EMERGENCY_VEHICLES = ("ambulance", "police car")


def _class_names() -> tuple[str, ...]:
    kinds: list[str] = [*LIGHT_COLOURS, *EMERGENCY_VEHICLES]
    for slug in DOMAIN_SLUGS:
        for concept in load_domain(slug).concepts:
            kind = KIND_OF_CONCEPT.get(concept.id, concept.id)
            if concept.kind in ("entity", "object", "state", "agent") and kind != "emergency_vehicle":
                kinds.append(kind)
    return tuple(dict.fromkeys((*kinds, *LABELS, *(f"{colour} rectangle" for colour in COLOURS))))


CLASSES = tuple(name for name in _class_names() if name != "emergency_vehicle")
"""What may stand in a cell: kinds of both domains, both lights, both emergency vehicles, probe rectangles."""

SURROUNDINGS = (
    *(one.id for one in load_domain("driving").concepts if one.group == "weather"),
    *TOWNS,
    "intersection_ego",
    "kitchen",
)
"""What holds of a whole picture."""


@dataclass(frozen=True)
class SeenThing:
    """A thing on the grid: index into ``CLASSES``, index into ``STATES``, box in fractions."""

    class_index: int
    state_index: int
    box: Box


def facts_of(domain: Domain, key: Key) -> frozenset[str]:
    """Return the concepts that hold in a scene of a set: named, implied, and the weather by default."""
    concepts = [domain.concept(name) for name in key]
    facts = {*key, *(name for one in concepts for name in one.implies)}
    has_weather = any(one.group == "weather" for one in concepts)
    if domain.slug == "driving" and not has_weather:
        facts.add(DEFAULT_WEATHER)
    if domain.slug == "indoor":
        facts.add("kitchen")
    return frozenset(facts)


def class_of(thing: SeenObject) -> int | None:
    """Return which of ``CLASSES`` an object is, or None for what no helper loss looks at."""
    name = thing.kind
    if thing.concept in LIGHT_COLOURS:
        name = thing.concept
    elif thing.kind == "emergency_vehicle":
        name = thing.label
    return CLASSES.index(name) if name in CLASSES else None


def things_of(record: PictureRecord, objects: Sequence[SeenObject]) -> list[SeenThing]:
    """Return the objects of a record (moved, perhaps) as things on the grid."""
    states = states_of(record)
    things = []
    for one in objects:
        number = class_of(one)
        if number is not None:
            things.append(SeenThing(number, STATES.index(states.get(one.concept, "other")), one.box))
    return things


def states_of(record: PictureRecord) -> dict[str, str]:
    """Return where the entities of a driving scene stand: concept -> one of ``STATES``."""
    if record.domain != "driving":
        return {}
    domain = load_domain("driving")
    states = dict.fromkeys(LIGHT_COLOURS, "light")
    for entity in domain.entities(record.key):
        is_far = entity.distance == "far"
        states[entity.concept_id] = (
            "sidewalk" if entity.placement == "sidewalk" else "far" if is_far else "close"
        )
    return states


def surroundings_of(record: PictureRecord) -> list[float]:
    """Return for each of ``SURROUNDINGS`` 1 where it holds, 0 where it does not, ``UNKNOWN`` else."""
    if record.domain not in DOMAIN_SLUGS:
        return [0.0] * len(SURROUNDINGS)
    facts = facts_of(load_domain(record.domain), record.key)
    has_town = record.domain != "driving" or any(town in facts for town in TOWNS)
    values = []
    for name in SURROUNDINGS:
        is_unknown = name in TOWNS and not has_town
        values.append(UNKNOWN if is_unknown else float(name in facts))
    return values


@dataclass(frozen=True)
class CellTargets:
    """Dense truth on a grid of ``g x g`` cells for ``n`` pictures.

    Attributes:
        classes: ``(n, g, g)`` int64, index into ``CLASSES`` or ``BACKGROUND``.
        states: ``(n, g, g)`` int64, index into ``STATES`` or ``BACKGROUND``.
        boxes: ``(n, g, g, 4)`` float32, x_min, y_min, x_max, y_max as fractions of the picture.
    """

    classes: npt.NDArray[np.int64]
    states: npt.NDArray[np.int64]
    boxes: npt.NDArray[np.float32]


def cell_targets(pictures: Sequence[Iterable[SeenThing]], *, grid: int) -> CellTargets:
    """Paint the boxes of each picture on its grid; smaller boxes are painted over larger ones.

    Args:
        pictures: the visible things of each picture.
        grid: cells along each side.

    Returns:
        The three target arrays; every thing owns at least the cell of its centre.
    """
    count = len(pictures)
    classes = np.full((count, grid, grid), BACKGROUND, np.int64)
    states = np.full((count, grid, grid), BACKGROUND, np.int64)
    boxes = np.zeros((count, grid, grid, 4), np.float32)
    for number, things in enumerate(pictures):
        for thing in sorted(things, key=lambda one: -area(one.box)):
            patch = np.ix_(
                _cells(thing.box[1], thing.box[3], grid=grid), _cells(thing.box[0], thing.box[2], grid=grid)
            )
            classes[number][patch] = thing.class_index
            states[number][patch] = thing.state_index
            boxes[number][patch] = thing.box
    return CellTargets(classes, states, boxes)


def area(box: Box) -> float:
    """Return the share of the picture that a box covers."""
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])


def _cells(low: float, high: float, *, grid: int) -> npt.NDArray[np.int64]:
    centres = (np.arange(grid) + 0.5) / grid
    inside = np.flatnonzero((centres > low) & (centres < high))
    middle = min(grid - 1, max(0, int((low + high) / 2 * grid)))
    return np.union1d(inside, [middle]).astype(np.int64)
