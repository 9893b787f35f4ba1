"""Prepares the check of a domain's rules in CARLA: scenes, expected actions, and what the arithmetic says.

The published check took 200 scenes, a car at 6.7 m/s and the brake at 0.5 for slowing down and 1.0 for an
emergency stop. Each row here is one scene with the action that the rules expect, the verdict of the
one-dimensional check, and, where a server has driven it, what happened.
"""

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes.anchors import anchor_graph
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.kinematics import collision_verdict, nearest_lane_distance
from vlmlab.core.scenes.render.carla.describing import Roads
from vlmlab.core.scenes.render.carla.lowering import ScenePlan, plan_scene, scenic_program
from vlmlab.core.scenes.render.carla.sampling import SampledScene, sample_scene

SCENES = 200
MAP_FILE, TABLE_FILE, PROGRAM_FOLDER = "crossing.xodr", "plan.csv", "programs"


@dataclass(frozen=True)
class ValidationRow:
    """One scene of the check; empty where something is not known.

    Attributes:
        number: from 1.
        concepts: ids, joined by "+".
        seed: the scene seed.
        rule, action: what the domain's rules expect, and why they do.
        ego_mps: the car's speed.
        brake: share of full braking that the action takes.
        nearest_m: from the bumper to the nearest thing in the lane.
        junction_m: from the bumper to the junction.
        collides, impact_mps, sentence: verdict of the one-dimensional check.
        program: file of the Scenic program.
        map: of the scene: ``crossing`` or a town.
        problem: why the scene could not be laid out or driven.
        drove_into, drove_impact_mps, drove_m: what the server's car touched ("nothing" or a concept), how
            fast it was then, and how far it came.
    """

    number: int
    concepts: str
    seed: int
    rule: str
    action: str
    ego_mps: float
    brake: float
    nearest_m: float | None = None
    junction_m: float | None = None
    collides: bool | None = None
    impact_mps: float | None = None
    sentence: str = ""
    program: str = ""
    map: str = ""
    problem: str = ""
    drove_into: str = ""
    drove_impact_mps: float | None = None
    drove_m: float | None = None


@dataclass(frozen=True, eq=False)
class ValidationScene:
    """A row with the plan and the sampled scene it is about; the latter None where there is none."""

    row: ValidationRow
    plan: ScenePlan
    sampled: SampledScene | None


def validation_scene(
    number: int,
    key: Key,
    *,
    domain: Domain,
    seed: int,
    roads_of: Callable[[str], Roads],
) -> ValidationScene:
    """Lay out one scene and say what is expected of the car in it.

    Args:
        number: of the row.
        key: a valid set.
        domain: a driving domain with kinematics.
        seed: the scene seed.
        roads_of: town -> the map to lay it out on.

    Raises:
        ValueError: the domain says nothing of the car.
    """
    kinematics = domain.kinematics
    if kinematics is None:
        raise ValueError(f"domain: expected one with kinematics, got {domain.slug}")
    decision = domain.decide(key)
    plan = plan_scene(anchor_graph(domain, key), seed=seed)
    roads = roads_of(plan.town)
    row = ValidationRow(
        number=number,
        concepts="+".join(key),
        seed=seed,
        rule=decision.rule_id,
        action=decision.action,
        ego_mps=kinematics.ego_speed_mps,
        brake=kinematics.brake_share[decision.action],
        program=f"{PROGRAM_FOLDER}/{number:04d}.scenic",
        map=roads.carla_map or "crossing",
    )
    try:
        sampled = sample_scene(plan, roads, concepts=key, seed=seed, attempt=0)
    except GenerationError as error:
        return ValidationScene(replace(row, problem=error.message), plan, None)
    distance = nearest_lane_distance(sampled.description)
    verdict = collision_verdict(decision.action, distance_m=distance, kinematics=kinematics)
    junction = sampled.description.world["junction_distance"]
    row = replace(
        row,
        nearest_m=distance,
        junction_m=float(junction) if isinstance(junction, float | int) else None,
        collides=verdict.will_collide,
        impact_mps=round(verdict.impact_speed_mps, 2),
        sentence=verdict.sentence,
    )
    return ValidationScene(row, plan, sampled)


def write_program(scene: ValidationScene, folder: Path, *, roads: Roads) -> None:
    """Write the Scenic program of a scene and the map it names below a folder."""
    map_name = f"{roads.carla_map}.xodr" if roads.carla_map else MAP_FILE
    path = folder / scene.row.program
    path.parent.mkdir(parents=True, exist_ok=True)
    (path.parent / map_name).write_text(roads.xodr, encoding="utf-8")
    heading = f"# {scene.row.concepts}: {scene.row.action} by {scene.row.rule}; scene seed {scene.row.seed}\n"
    program = scenic_program(scene.plan, map_path=map_name, carla_map=roads.carla_map)
    path.write_text(heading + program, encoding="utf-8")


def write_table(rows: Iterable[ValidationRow], path: Path) -> None:
    """Write rows as CSV; what is not known is empty."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=[field.name for field in fields(ValidationRow)])
        writer.writeheader()
        for row in rows:
            writer.writerow({name: "" if value is None else value for name, value in asdict(row).items()})


def summary(rows: Sequence[ValidationRow]) -> str:
    """Return what the rows say in a few lines."""
    laid_out = [row for row in rows if not row.problem]
    driven = [row for row in laid_out if row.drove_into]
    lines = [
        f"{len(laid_out)} of {len(rows)} scenes laid out.",
        f"The arithmetic says that the expected action hits something in "
        f"{sum(bool(row.collides) for row in laid_out)} of them.",
    ]
    if driven:
        touched = [row for row in driven if row.drove_into != "nothing"]
        agree = sum(bool(row.collides) == (row in touched) for row in driven)
        lines.append(
            f"{len(driven)} driven: the car touched something in {len(touched)}; "
            f"in {agree} the server and the arithmetic agree."
        )
    return "\n".join(lines)
