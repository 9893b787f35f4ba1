"""Describes a sampled scene in our frame, aims its camera, and rates what the camera will see."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vlmlab.core.scenes.layout import (
    BUMPER_Y,
    CURB_HEIGHT,
    EXTENTS,
    FloatArray,
    hidden_from,
    surface_points,
)
from vlmlab.core.scenes.layout_camera import Target, aim, in_frame
from vlmlab.core.scenes.render.carla.blueprints import CARLA_VERSION, EGO
from vlmlab.core.scenes.render.carla.frames import EgoFrame
from vlmlab.core.scenes.render.carla.lowering import ScenePlan, Thing
from vlmlab.core.scenes.render.carla.weathers import CARLA_WEATHERS
from vlmlab.core.scenes.scene import Camera, Parameter, SceneDescription, SceneObject
from vlmlab.core.seeding import rng_for

EYE_HEIGHT_M = 1.65  # over the roof of the car, so that nothing of it is in the picture
ENOUGH_IN_FRAME, ENOUGH_UNHIDDEN = 0.8, 0.65
LIGHT_ID = "traffic_light"
LIGHT_BOX = (1.3, 3.6, 5.2)  # x from, x to, height: where the lights of the lane hang before the junction
LIGHT_BOTTOM_M = 2.2
Box = tuple[float, float, float, float, float]


@dataclass(frozen=True)
class Roads:
    """A map: its OpenDRIVE text, and its name on the server; None = the server builds it from the text."""

    xodr: str
    carla_map: str | None

    @property
    def digest(self) -> str:
        """First 12 hex digits of the text's SHA-256."""
        return hashlib.sha256(self.xodr.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Footprint:
    """An actor in our frame: ``box`` is x_min, x_max, y_min, y_max and height in metres, yaw in radians."""

    concept: str
    blueprint: str
    yaw: float
    box: Box


def describe(
    plan: ScenePlan, roads: Roads, frame: EgoFrame, footprints: Sequence[Footprint], *,
    junction_m: float | None, concepts: tuple[str, ...], seed: int, attempt: int,
) -> tuple[float, SceneDescription]:  # fmt: skip
    """Return how well the worst seen thing can be seen (1 = well enough), and the description.

    Objects have the parameters ``blueprint`` (ids of their actors, joined by "+"), ``placement``,
    ``distance`` (bucket) and ``distance_m`` (bumper to nearest point); a traffic light has ``colour``. The
    world tells the map, its digest, the car's place in Scenic's world and the distance of the junction.
    """
    boxes = {thing.concept: _union(thing.concept, footprints) for thing in plan.things}
    light_box = None
    if plan.light and junction_m is not None:
        left, right, height = LIGHT_BOX
        y = BUMPER_Y + junction_m
        light_box = (left, right, y, y, height)
    camera = _camera(boxes, light_box, plan.things, draws=rng_for(seed, "camera", attempt).random(4))
    objects = [_object(thing, boxes[thing.concept], footprints) for thing in plan.things]
    if light_box is not None and junction_m is not None:
        objects.append(_light(plan, light_box, junction_m, concepts))
    weather = CARLA_WEATHERS[plan.weather]
    world: dict[str, Parameter | tuple[float, ...]] = {
        "backend": "carla",
        "carla_version": CARLA_VERSION,
        "map": roads.carla_map or "crossing",
        "map_digest": roads.digest,
        "town": plan.town.lower() if roads.carla_map else "",
        "junction_distance": round(junction_m, 3) if junction_m is not None else None,
        "ego_blueprint": EGO.id,
        "origin": (round(frame.x, 4), round(frame.y, 4)),
        "heading": round(frame.heading, 6),
    }
    description = SceneDescription(
        domain="driving",
        concepts=concepts,
        seed=seed,
        attempt=attempt,
        camera=camera,
        environment={"weather": plan.weather, **weather.fields()},
        world=world,
        objects=tuple(objects),
    )
    return _score(camera, boxes, plan.things), description


def _union(concept: str, footprints: Sequence[Footprint]) -> Box:
    boxes = np.array([one.box for one in footprints if one.concept == concept])
    low, high = boxes.min(0), boxes.max(0)
    return float(low[0]), float(high[1]), float(low[2]), float(high[3]), float(high[4])


def _object(thing: Thing, box: Box, footprints: Sequence[Footprint]) -> SceneObject:
    own = [one for one in footprints if one.concept == thing.concept]
    x_min, x_max, y_min, y_max, height = box
    parameters: dict[str, Parameter] = {
        "blueprint": "+".join(one.blueprint for one in own),
        "placement": thing.placement,
        "distance": thing.bucket,
        "distance_m": round(y_min - BUMPER_Y, 3),
        "width_m": round(x_max - x_min, 3),
        "height_m": round(height, 3),
    }
    ground = CURB_HEIGHT if thing.placement == "sidewalk" else 0.0
    position = (round((x_min + x_max) / 2, 4), round((y_min + y_max) / 2, 4), ground)
    return SceneObject(
        thing.concept, thing.kind, position, round(own[0].yaw, 4), parameters, thing.concept, is_required=True
    )


def _light(plan: ScenePlan, box: Box, junction_m: float, concepts: tuple[str, ...]) -> SceneObject:
    parameters: dict[str, Parameter] = {
        "placement": "sidewalk",
        "distance_m": round(junction_m, 3),
        "colour": plan.light,
    }
    concept = next(one for one in concepts if one == f"light_{plan.light}")
    position = (round(box[1], 4), round(box[2], 4), CURB_HEIGHT)
    return SceneObject(LIGHT_ID, "traffic_light", position, 0.0, parameters, concept, is_required=True)


def _camera(
    boxes: dict[str, Box], light_box: Box | None, things: Sequence[Thing], *, draws: FloatArray
) -> Camera:
    eye = (round((2 * float(draws[3]) - 1) * 0.15, 4), 0.0, EYE_HEIGHT_M)
    targets = [
        Target(surface_points(boxes[thing.concept]), is_wide=EXTENTS[thing.kind].is_wide) for thing in things
    ]
    if light_box is not None:
        targets.append(Target(surface_points(light_box, bottom=LIGHT_BOTTOM_M)))
    return replace(aim(eye, targets, draws=draws[:3]), roll=0.0)


def _score(camera: Camera, boxes: dict[str, Box], things: Sequence[Thing]) -> float:
    scores = [1.0]
    for thing in things:
        points = surface_points(boxes[thing.concept])
        inside, _ = in_frame(camera, points)
        others = [_blocking(boxes[one.concept], one.kind) for one in things if one is not thing]
        blocked = hidden_from(camera.position, points, boxes=np.array(others, np.float64).reshape(-1, 5))
        seen = inside & ~blocked.any(axis=1)
        framed = min(1.0, float(inside.mean()) / ENOUGH_IN_FRAME)
        unhidden = min(1.0, float(seen.sum()) / max(1, int(inside.sum())) / ENOUGH_UNHIDDEN)
        scores.append(framed * unhidden)
    return min(scores)


def _blocking(box: Box, kind: str) -> Box:
    """Return the part of a box that hides what is behind it."""
    x_min, x_max, y_min, y_max, height = box
    middle, half = (x_min + x_max) / 2, (x_max - x_min) / 2 * EXTENTS[kind].hides
    return middle - half, middle + half, y_min, y_max, height
