"""Lowers the anchor graph of a driving set to a Scenic 3.1 program with explicit blueprints.

All positions are told relative to the car ("ego"): metres to the right and ahead of its middle. Scenic's
world has metres, Z up, headings counter-clockwise from +Y, in radians unless it says ``deg``.
"""

import math
import re
from dataclasses import dataclass

from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes.anchors import JUNCTION, AnchorGraph, AnchorNode
from vlmlab.core.scenes.driving import LIGHT_COLOURS
from vlmlab.core.scenes.layout import LANE_HALF_WIDTH
from vlmlab.core.scenes.render.carla.blueprints import CARLA_VERSION, EGO, LOOKS, Look
from vlmlab.core.scenes.render.carla.vocabulary import TOWNS, kind_of
from vlmlab.core.scenes.render.carla.weathers import CARLA_WEATHERS
from vlmlab.core.scenes.weather import DEFAULT_WEATHER
from vlmlab.core.seeding import pick, rng_for

LOWERING_VERSION = "1"
FRONT_M = EGO.length / 2
"""From the middle of the car to its front bumper."""
FREE_ROAD_M = 28.0
"""Where no junction is asked for, none is nearer to the car's middle: out of the range of one that is.

The blocks of Town02 are short, so that more would leave no place in it."""
SIDEWALK_REACH_M = (1.95, 7.0)
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True)
class Thing:
    """A thing of the plan: its concept, kind, place, distance bucket and range in metres, and its look."""

    concept: str
    kind: str
    placement: str
    bucket: str
    low_m: float
    high_m: float
    look: Look


@dataclass(frozen=True)
class ScenePlan:
    """What a scene must hold, before anything is drawn.

    Attributes:
        things: in catalogue order.
        junction_m: range of the distance from the bumper to the junction; None = no junction near.
        light: ``red`` or ``green``; "" where the traffic lights are to be dark.
        weather: concept id.
        town: ``Town01`` or ``Town02``.
    """

    things: tuple[Thing, ...]
    junction_m: tuple[float, float] | None
    light: str
    weather: str
    town: str


def plan_scene(graph: AnchorGraph, *, seed: int) -> ScenePlan:
    """Return what the graph of a set asks for; what it leaves open is drawn from the seed.

    Raises:
        GenerationError: CARLA has no blueprint for one of its things.
    """
    scenery = [node.id for node in graph.nodes if node.place in ("scene", "junction")]
    town = next((TOWNS[one] for one in scenery if one in TOWNS), None)
    junction = next((node for node in graph.nodes if node.id == JUNCTION), None)
    return ScenePlan(
        things=tuple(_thing(node) for node in graph.nodes if node.place in ("lane", "sidewalk")),
        junction_m=junction.distance_m if junction is not None else None,
        light=next((LIGHT_COLOURS[one] for one in scenery if one in LIGHT_COLOURS), ""),
        weather=next((one for one in scenery if one in CARLA_WEATHERS), DEFAULT_WEATHER),
        town=town or pick(rng_for(seed, "town"), ("Town01", "Town02")),
    )


def scenic_program(plan: ScenePlan, *, map_path: str, carla_map: str | None) -> str:
    """Return the Scenic program of a plan; equal plans on equal maps give equal text.

    Args:
        plan: what to show.
        map_path: OpenDRIVE file of the roads, absolute or beside the program.
        carla_map: name of the map on the server; None = the server builds the roads from the file.
    """
    lines = [
        f"param map = localPath({map_path!r})",
        f"param carla_map = {carla_map!r}",
        f"param weather = {CARLA_WEATHERS[plan.weather].fields()!r}",
        "param render = 0",
        "model scenic.simulators.carla.model",
        "",
        *_ego(plan),
    ]
    n_lane = sum(thing.placement == "lane" for thing in plan.things)
    for index, thing in enumerate(plan.things):
        lines += ["", f"# {thing.concept}: {thing.low_m:g} to {thing.high_m:g} m, {thing.placement}"]
        lines += _statements(thing, index, is_alone=n_lane <= 1)
    return "\n".join([*lines, "", "terminate simulation when simulation().currentTime >= 0", ""])


def _thing(node: AnchorNode) -> Thing:
    kind = kind_of(node.id)
    look = LOOKS.get(kind)
    if look is None or node.distance_m is None:
        raise GenerationError(
            f"CARLA {CARLA_VERSION} has no blueprint for “{node.label}”.",
            hint="Leave this concept out.",
        )
    if not _NAME.fullmatch(node.id):  # it becomes part of a program
        raise ValueError(f"id: expected lower-case letters, digits and _, got {node.id!r}")
    low, high = node.distance_m
    return Thing(node.id, kind, node.place, node.bucket, float(low), float(high), look)


def _ego(plan: ScenePlan) -> list[str]:
    make = f"with blueprint {EGO.id!r}, with width {EGO.width!r}, with length {EGO.length!r}"
    make += ", with rolename 'hero'"
    if plan.junction_m is None:
        return [
            "egoLane = Uniform(*network.lanes)",
            "spot = new OrientedPoint on egoLane.centerline",
            f"ego = new Car at spot, facing roadDirection, {make}",
            f"require (distance from ego to intersection) > {FREE_ROAD_M!r}",
        ]
    low, high = plan.junction_m
    return [
        "junction = Uniform(*network.intersections)",
        "egoLane = Uniform(*junction.incomingLanes)",
        f"gap = Range({low!r}, {high!r})",
        f"place = egoLane.centerline.pointAlongBy(0 - gap - {FRONT_M!r})",
        f"ego = new Car at place, facing roadDirection, {make}",
        f"require egoLane.centerline.length > gap + {EGO.length + 3!r}",
        "param stop = egoLane.centerline[-1]",
    ]


def _statements(thing: Thing, index: int, *, is_alone: bool) -> list[str]:
    look = thing.look
    looks = ", ".join(
        f"({one.id!r}, {one.width!r}, {one.length!r}, {one.height!r})" for one in look.blueprints
    )
    turns = ", ".join(f"Range({low!r}, {high!r})" for low, high in look.turns_deg)
    is_across = abs(math.sin(math.radians(sum(look.turns_deg[0]) / 2))) > 0.5
    depth = 1 if is_across else 2  # which of its sides points at the car
    half = max(
        max(blueprint.length if is_across else blueprint.width for blueprint in look.blueprints) / 2
        + abs(piece.right_m)
        for piece in look.pieces
    )
    lines = [
        f"distance{index} = Range({thing.low_m!r}, {thing.high_m!r})",
        f"turn{index} = Uniform({turns})",
        f"right{index} = {_sideways(thing.placement, half, is_alone=is_alone)}",
    ]
    for number, piece in enumerate(look.pieces):
        name, pick = f"thing{index}_{number}", f"look{index}_{number}"
        position = (
            f"(right{index} + {piece.right_m!r}) @ "
            f"({FRONT_M!r} + distance{index} + {pick}[{depth}] / 2 + {piece.ahead_m!r})"
        )
        lines += [
            f"{pick} = Uniform({looks})",
            f"{name} = new {look.scenic_class} at ego offset by ({position}), "
            f"facing (turn{index} + {piece.turn_deg!r}) deg relative to ego, "
            f"with blueprint {pick}[0], with width {pick}[1], with length {pick}[2], with height {pick}[3], "
            f"with rolename {thing.concept!r}, with regionContainedIn None"
            + (", with allowCollisions True" if look.may_overlap else ""),
            f"require {name}.position in {'sidewalk' if thing.placement == 'sidewalk' else 'road'}",
        ]
    return lines


def _sideways(placement: str, half: float, *, is_alone: bool) -> str:
    """Return how far to the right of the car's middle a thing may stand, as a Scenic expression."""
    if placement == "sidewalk":
        low, high = SIDEWALK_REACH_M
        return f"Range({round(low + half, 3)!r}, {max(high, round(low + half + 0.5, 3))!r})"
    reach = 0.35 if is_alone else max(0.35, round(LANE_HALF_WIDTH - half, 3))
    return f"Range({-reach!r}, {reach!r})"
