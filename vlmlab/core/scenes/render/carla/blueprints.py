"""Which blueprints of one version of CARLA show a concept.

Ids and classes are those of the vehicle, pedestrian and prop catalogues of that version's documentation;
the sizes are the bounding boxes that its server reports, in metres, rounded.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

ScenicClass = Literal["Car", "Bicycle", "Pedestrian", "Prop"]
CARLA_VERSION = "0.9.16"
"""Of server and client, which must agree; the first that has wheelchairs and a client for our Python."""


@dataclass(frozen=True)
class Blueprint:
    """One entry of CARLA's blueprint library: its id and size (``length`` is along its own forward axis)."""

    id: str
    width: float
    length: float
    height: float


@dataclass(frozen=True)
class Piece:
    """An actor of a thing that has several: its shift to the right and ahead in metres, and its turn."""

    right_m: float = 0.0
    ahead_m: float = 0.0
    turn_deg: float = 0.0


@dataclass(frozen=True)
class Look:
    """How a kind of thing is shown.

    Attributes:
        scenic_class: class of Scenic's CARLA model.
        blueprints: any of them will do.
        turns_deg: ranges of headings relative to the car, counter-clockwise; 0 = it faces where the car does.
        attributes: what the blueprint must be given.
        pieces: the actors that make it up.
        may_overlap: whether other things may stand in it (loose rubble).
    """

    scenic_class: ScenicClass
    blueprints: tuple[Blueprint, ...]
    turns_deg: tuple[tuple[float, float], ...] = ((-10.0, 10.0),)
    attributes: Mapping[str, str] | None = None
    pieces: tuple[Piece, ...] = (Piece(),)
    may_overlap: bool = False


EGO = Blueprint("vehicle.tesla.model3", 2.16, 4.79, 1.49)
_ANY_SIDE = ((60.0, 120.0), (-120.0, -60.0))


def _walkers(*numbers: int, width: float = 0.5, height: float = 1.86) -> tuple[Blueprint, ...]:
    return tuple(Blueprint(f"walker.pedestrian.{one:04d}", width, width, height) for one in numbers)


_ADULTS = (1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 31, 33, 34, 35)
LOOKS: Mapping[str, Look] = {
    "pedestrian": Look("Pedestrian", _walkers(*_ADULTS), _ANY_SIDE),
    "child_pedestrian": Look(
        "Pedestrian",
        (*_walkers(9, 10, 11, 48, 49, height=1.1), *_walkers(12, 13, 14, height=1.3)),
        _ANY_SIDE,
    ),
    "police_pedestrian": Look("Pedestrian", _walkers(30, 32), ((150.0, 210.0),)),
    "cyclist": Look(
        "Bicycle",
        (
            Blueprint("vehicle.bh.crossbike", 0.87, 1.51, 1.61),
            Blueprint("vehicle.diamondback.century", 0.58, 1.66, 1.62),
            Blueprint("vehicle.gazelle.omafiets", 0.66, 1.84, 1.78),
        ),
        _ANY_SIDE,
    ),
    "emergency_vehicle": Look(
        "Car",
        (
            Blueprint("vehicle.ford.ambulance", 2.35, 6.37, 2.43),
            Blueprint("vehicle.dodge.charger_police", 2.04, 4.97, 1.54),
            Blueprint("vehicle.dodge.charger_police_2020", 1.93, 5.24, 1.64),
        ),
        ((-3.0, 3.0),),
    ),
    "cone": Look(
        "Prop",
        (
            Blueprint("static.prop.trafficcone01", 0.88, 0.88, 1.13),
            Blueprint("static.prop.trafficcone02", 0.39, 0.46, 1.18),
            Blueprint("static.prop.constructioncone", 0.34, 0.34, 0.59),
        ),
    ),
    "bus_stop": Look("Prop", (Blueprint("static.prop.busstop", 1.89, 3.88, 2.74),), ((-4.0, 4.0),)),
    "garbage_bin": Look(
        "Prop",
        (
            Blueprint("static.prop.bin", 0.64, 0.55, 1.06),
            Blueprint("static.prop.trashcan01", 0.57, 0.64, 0.85),
            Blueprint("static.prop.trashcan03", 0.55, 0.63, 0.93),
        ),
    ),
    "chain_barrier": Look(
        "Prop",
        (Blueprint("static.prop.chainbarrier", 0.24, 1.49, 0.89),),
        ((85.0, 95.0),),
        pieces=(Piece(right_m=-0.75), Piece(right_m=0.75)),
    ),
    "debris": Look(
        "Prop",
        (
            Blueprint("static.prop.dirtdebris01", 1.51, 1.86, 0.15),
            Blueprint("static.prop.dirtdebris02", 1.51, 1.86, 0.15),
            Blueprint("static.prop.dirtdebris03", 1.51, 1.86, 0.19),
        ),
        ((-30.0, 30.0),),
        pieces=(Piece(right_m=-0.9), Piece(ahead_m=0.4, turn_deg=70.0), Piece(right_m=0.9, turn_deg=140.0)),
        may_overlap=True,
    ),
    "container": Look("Prop", (Blueprint("static.prop.container", 1.01, 1.93, 1.71),), ((85.0, 95.0),)),
    "wheelchair_pedestrian": Look(
        "Pedestrian",
        _walkers(1, 2, 3, 4, 28, width=0.8, height=1.4),
        _ANY_SIDE,
        attributes={"use_wheelchair": "true"},
    ),
}
"""Kind -> how it is shown."""
