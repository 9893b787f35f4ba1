"""What the things of built-in scenes are called when a system is asked where they are."""

from collections.abc import Mapping
from dataclasses import dataclass

from vlmlab.core.scenes.scene import Parameter


@dataclass(frozen=True)
class AskedLabel:
    """The name of a kind.

    Attributes:
        text: English, singular, as in "locate the TEXT".
        mistaken_for: kinds that a reader could call the same; the label is not asked for beside one of them.
    """

    text: str
    mistaken_for: frozenset[str] = frozenset()


ADULTS_ON_STREETS = ("wheelchair_pedestrian", "police_pedestrian")
PEOPLE_IN_KITCHENS = (
    "child_reaching",
    "toddler_standing",
    "child_running",
    "child_far_microwave",
    "child_on_stool",
    "adult_reacting",
    "child_near_microwave",
    "child_near_pan",
    "barefoot_near_glass",
    "barefoot_child_safe",
)
ADULTS_IN_KITCHENS = ("adult_reacting",)
GLASSES = ("glass_upright", "glass_tipped", "glass_floor")
LIQUIDS = ("coffee_spill", "wet_floor")


def _but(own: str, kinds: tuple[str, ...]) -> frozenset[str]:
    return frozenset(kinds) - {own}


def _child(kind: str) -> AskedLabel:
    return AskedLabel("child", _but(kind, PEOPLE_IN_KITCHENS) - frozenset(ADULTS_IN_KITCHENS))


LABELS: Mapping[str, AskedLabel] = {
    # driving; a traffic light is left out: two heads and a mast have no box that everybody means
    "chain_barrier": AskedLabel("chain barrier"),
    "debris": AskedLabel("heap of debris"),
    "container": AskedLabel("shipping container"),
    "pedestrian": AskedLabel("pedestrian", frozenset((*ADULTS_ON_STREETS, "child_pedestrian"))),
    "child_pedestrian": AskedLabel("child"),
    "wheelchair_pedestrian": AskedLabel("person in a wheelchair"),
    "police_pedestrian": AskedLabel("police officer"),
    "cyclist": AskedLabel("cyclist"),
    "emergency_vehicle": AskedLabel("ambulance"),
    "cone": AskedLabel("traffic cone"),
    "bus_stop": AskedLabel("bus stop"),
    "garbage_bin": AskedLabel("garbage bin"),
    # kitchens; left out is what two people would not draw the same box around: burners, smoke and flames, a
    # closed cabinet, a tipped glass or cup with what ran out of it, a bottle among its pills, a child with
    # the stool it stands on
    "glass_upright": AskedLabel("drinking glass", _but("glass_upright", GLASSES)),
    "glass_floor": AskedLabel("broken glass", _but("glass_floor", GLASSES)),
    "wet_floor": AskedLabel("puddle", _but("wet_floor", LIQUIDS)),
    "knife_edge": AskedLabel("knife", frozenset(("knife_block",))),
    "knife_block": AskedLabel("knife block"),
    "scissors_open": AskedLabel("pair of scissors"),
    "cabinet_open": AskedLabel("open cabinet"),
    "towel_near": AskedLabel("kitchen towel", frozenset(("towel_burning",))),
    "outlet_exposed": AskedLabel("power outlet", frozenset(("outlet_covered",))),
    "outlet_covered": AskedLabel("power outlet", frozenset(("outlet_exposed",))),
    "loose_cord_floor": AskedLabel("extension cord"),
    "microwave_open_hot": AskedLabel("microwave oven"),
    "pan_stove": AskedLabel("frying pan", frozenset(("pan_counter",))),
    "pan_counter": AskedLabel("frying pan", frozenset(("pan_stove",))),
    "hot_beverage": AskedLabel("cup"),
    "toddler_standing": AskedLabel("toddler", _but("toddler_standing", PEOPLE_IN_KITCHENS)),
    "adult_reacting": AskedLabel("adult", frozenset(("barefoot_near_glass",))),
    "barefoot_near_glass": AskedLabel("person", _but("barefoot_near_glass", PEOPLE_IN_KITCHENS)),
    **{
        kind: _child(kind)
        for kind in PEOPLE_IN_KITCHENS
        if kind not in ("toddler_standing", "adult_reacting", "barefoot_near_glass", "child_on_stool")
    },
}
"""Kind of a scene object -> what it is called. A kind that is missing is annotated but never asked for."""

VARIANTS: Mapping[tuple[str, str], str] = {
    ("emergency_vehicle", "ambulance"): "ambulance",
    ("emergency_vehicle", "police_car"): "police car",
}
"""(kind, its ``variant``) -> what it is called then."""


def label_of(kind: str, parameters: Mapping[str, Parameter]) -> AskedLabel | None:
    """Return what a thing is called, or None where it has no name that everybody would use."""
    label = LABELS.get(kind)
    text = VARIANTS.get((kind, str(parameters.get("variant", ""))))
    if label is None or text is None:
        return label
    return AskedLabel(text, label.mistaken_for)
