"""Turns a driving concept set into a scene description: layout, light, world and surroundings."""

import math

from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.anchors import AnchorGraph, anchor_graph
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.layout import BUMPER_Y, CURB_HEIGHT, JUNCTION_DEPTH, Placement, Wish
from vlmlab.core.scenes.layout_search import Layout, find_layout, light_position
from vlmlab.core.scenes.scene import Parameter, SceneDescription, SceneObject
from vlmlab.core.scenes.weather import DEFAULT_WEATHER, WEATHERS, environment_of
from vlmlab.core.seeding import derive_seed, pick, rng_for

__all__ = ["AnchorGraph", "anchor_graph", "sample_driving"]

KIND_OF_CONCEPT = {
    "chain_barrier_near": "chain_barrier",
    "chain_barrier_far": "chain_barrier",
    "debris_near": "debris",
    "debris_far": "debris",
    "obstruction_near": "container",
    "obstruction_far": "container",
}
TOWNS = {"town_town01": "town01", "town_town02": "town02"}
LIGHT_COLOURS = {"light_red": "red", "light_green": "green"}
VARIANTS = ("ambulance", "police_car")
DISTRACTOR_KINDS = ("tree", "tree", "lamp", "hydrant")


def sample_driving(
    key: Key, *, seed: int, attempt: int = 0, domain: Domain | None = None
) -> SceneDescription:
    """Draw a driving scene of a concept set.

    What the concepts do not fix is drawn from generators of its own: positions from ``(seed, "layout",
    concept, attempt)``, looks from ``(seed, "appearance", concept, index)``, light, world and surroundings
    from the seed alone. So another object recolours nothing, and moves the others only where they would
    overlap or hide each other; a new attempt changes positions and camera only.

    Objects have the parameters ``appearance_seed``, ``placement`` (``lane`` or ``sidewalk``), ``distance``
    (bucket) and ``distance_m`` (bumper to nearest point); an emergency vehicle has ``variant``
    (``ambulance`` or ``police_car``), a container ``scale``, a traffic light ``colour``. The world has
    ``town``, ``wetness``, ``junction_distance`` (bumper to the near edge of the junction, or None) and
    ``appearance_seed``. The position of an object is a point on the ground; see ``layout.EXTENTS`` for where
    it lies in its kind.

    Args:
        key: canonical ids.
        seed: the scene seed.
        attempt: number of layouts of this seed that were rejected before.
        domain: a domain that ``draws_as`` driving; the built-in one by default.

    Raises:
        ConceptError: the set is not valid in the domain.
        GenerationError: its objects do not fit into one scene.
    """
    domain = domain or load_domain("driving")
    reason = domain.why_invalid(key)
    if reason is not None:
        raise ConceptError(reason, field="concepts")
    has_light = any(one in LIGHT_COLOURS for one in key)
    layout = find_layout(
        _wishes(domain, key, seed),
        junction_range=domain.distances_m["junction"] if has_light or "intersection_ego" in key else None,
        has_light=has_light,
        seed=seed,
        attempt=attempt,
    )
    weather = next((one for one in key if one in WEATHERS), DEFAULT_WEATHER)
    return SceneDescription(
        domain="driving",
        concepts=key,
        seed=seed,
        attempt=attempt,
        camera=layout.camera,
        environment=environment_of(weather, seed=seed),
        world={
            "town": _town(key, seed),
            "wetness": WEATHERS[weather].wetness,
            "junction_distance": layout.junction_m,
            "appearance_seed": _appearance_seed(seed, "world"),
        },
        objects=(*_required_objects(key, layout, seed), *_surroundings(seed, layout.junction_m)),
    )


def _wishes(domain: Domain, key: Key, seed: int) -> list[Wish]:
    wishes = []
    for entity in domain.entities(key):
        kind = KIND_OF_CONCEPT.get(entity.concept_id, entity.concept_id)
        is_police_car = kind == "emergency_vehicle" and _variant(seed, entity.concept_id) == "police_car"
        low, high = domain.distances_m[entity.distance]
        wishes.append(
            Wish(
                concept=entity.concept_id,
                kind=kind,
                extent_key="police_car" if is_police_car else kind,
                bucket=entity.distance,
                placement=entity.placement,
                low_m=low,
                high_m=high,
            )
        )
    return wishes


def _required_objects(key: Key, layout: Layout, seed: int) -> list[SceneObject]:
    objects = [_required_object(item, seed) for item in layout.placements]
    light = next((one for one in key if one in LIGHT_COLOURS), None)
    if light is not None and layout.junction_m is not None:
        parameters: dict[str, Parameter] = {
            "appearance_seed": _appearance_seed(seed, light),
            "placement": "sidewalk",
            "distance_m": layout.junction_m,
            "colour": LIGHT_COLOURS[light],
        }
        position = light_position(layout.junction_m)
        objects.append(
            SceneObject("traffic_light", "traffic_light", position, 0.0, parameters, light, is_required=True)
        )
    return objects


def _required_object(item: Placement, seed: int) -> SceneObject:
    parameters: dict[str, Parameter] = {
        "appearance_seed": _appearance_seed(seed, item.concept),
        "placement": item.placement,
        "distance": item.bucket,
        "distance_m": item.distance_m,
    }
    if item.kind == "emergency_vehicle":
        parameters["variant"] = _variant(seed, item.concept)
    if item.kind == "container":
        parameters["scale"] = item.scale
    return SceneObject(
        id=item.concept,
        kind=item.kind,
        position=item.position,
        yaw=item.yaw,
        parameters=parameters,
        concept=item.concept,
        is_required=True,
    )


def _surroundings(seed: int, junction_m: float | None) -> list[SceneObject]:
    """Return trees, lamps and hydrants along both sides and parked oncoming cars, none in the junction."""
    rng = rng_for(seed, "surroundings")
    spots: list[tuple[str, float, float, float]] = []
    for side in (-1, 1):
        y = float(rng.uniform(6, 14))
        while y < 70:
            kind = pick(rng, DISTRACTOR_KINDS)
            x = side * (5.9 if side > 0 else 9.4) + float(rng.uniform(-0.2, 0.2))
            turn = float(rng.uniform(0, 2 * math.pi))
            spots.append((kind, x, y, turn if kind == "tree" else (0.0 if side > 0 else math.pi)))
            y += float(rng.uniform(7, 14))
    spots += [("car", -3.5, float(y), 0.0) for y in sorted(rng.uniform(22, 60, 2))]
    objects = []
    for index, (kind, x, y, yaw) in enumerate(spots):
        if junction_m is not None and -3 < y - BUMPER_Y - junction_m < JUNCTION_DEPTH + 4:
            continue
        parameters: dict[str, Parameter] = {"appearance_seed": _appearance_seed(seed, kind, index)}
        position = (round(x, 4), round(y, 4), 0.0 if kind == "car" else CURB_HEIGHT)
        objects.append(SceneObject(f"{kind}_{index}", kind, position, round(yaw, 4), parameters))
    return objects


def _town(key: Key, seed: int) -> str:
    named = next((TOWNS[one] for one in key if one in TOWNS), None)
    return named or pick(rng_for(seed, "town"), ("town01", "town02"))


def _variant(seed: int, concept: str) -> str:
    return pick(rng_for(seed, "variant", concept), VARIANTS)


def _appearance_seed(seed: int, concept: str, index: int = 0) -> int:
    return derive_seed(seed, "appearance", concept, index) % 2**32
