"""Statements about a picture that are known to be true or false, so that words alone give no answer away.

A true statement of a concept that holds is true; of one that is certainly absent it is false. A counter-
statement is false where its concept holds, and true where it only denies what is absent or says what another
concept of the scene says. Where the scene leaves it open, nothing is claimed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tools.pocket.shards import PictureRecord
from tools.pocket.truth import facts_of
from vlmlab.core.scenes.asked_labels import LABELS, PEOPLE_IN_KITCHENS
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.driving import KIND_OF_CONCEPT, TOWNS
from vlmlab.core.scenes.recognition import Statement
from vlmlab.core.seeding import pick

PLACES = ("on_sidewalk", "on_lane", "near", "far")
"""Of what stands in the scene each of them can be said, truly or falsely."""

RAIN = ("weather_hard_rain", "weather_soft_rain")
COUNTER_HOLDS: dict[str, tuple[str, ...]] = {
    "town_town01": ("town_town02",),
    "town_town02": ("town_town01",),
    "light_red": ("light_green",),
    "light_green": ("light_red",),
    "weather_clear_noon": (*RAIN, "weather_foggy"),
    "weather_hard_rain": ("weather_clear_noon",),
    "weather_soft_rain": ("weather_clear_noon", "weather_wet", "weather_cloudy"),
    "weather_foggy": ("weather_clear_noon",),
    "weather_wet": ("weather_clear_noon",),
    "weather_cloudy": ("weather_clear_noon",),
    "glass_upright": ("glass_tipped",),
    "glass_tipped": ("glass_upright",),
    "knife_edge": ("knife_block",),
    "knife_block": ("knife_edge",),
    "cabinet_open": ("cabinet_closed",),
    "cabinet_closed": ("cabinet_open",),
    "outlet_exposed": ("outlet_covered",),
    "outlet_covered": ("outlet_exposed",),
    "child_far_microwave": ("child_near_microwave",),
    "child_near_microwave": ("child_far_microwave",),
    "barefoot_child_safe": ("barefoot_near_glass",),
}
"""Concept -> concepts of which one makes its counter-statement true."""

DENIALS = (
    *("intersection_ego", "chain_barrier_near", "chain_barrier_far", "debris_near", "debris_far"),
    *("obstruction_near", "obstruction_far", "pedestrian", "child_pedestrian", "wheelchair_pedestrian"),
    *("police_pedestrian", "cyclist", "emergency_vehicle", "cone", "bus_stop", "garbage_bin", "coffee_spill"),
    *("scissors_open", "pill_bottle", "towel_burning", "smoke", "toddler_standing", "child_running"),
    *("adult_reacting", "loose_cord_floor", "pan_stove", "pan_counter", "hot_beverage", "glass_floor"),
    *("wet_floor", "child_reaching", "child_near_pan", "barefoot_near_glass"),
)
"""Concepts whose counter-statement only denies them."""

LEFT_OPEN_BY: dict[str, tuple[str, ...]] = {
    "weather_cloudy": (*RAIN, "weather_foggy", "weather_wet"),
    "weather_wet": RAIN,
    "weather_soft_rain": ("weather_hard_rain",),
    "wet_floor": ("glass_tipped", "coffee_spill"),
    "smoke": ("towel_burning",),
    "barefoot_child_safe": PEOPLE_IN_KITCHENS,
    "child_far_microwave": PEOPLE_IN_KITCHENS,
}
"""Concept -> facts beside which its absence is a matter of opinion."""

ALWAYS_DRAWN = ("cabinet_closed", "outlet_covered", "microwave_open_hot")
"""Absent from a set these may be in the picture all the same."""


@dataclass(frozen=True)
class _Scene:
    domain: Domain
    facts: frozenset[str]
    kinds: frozenset[str]

    def is_absent(self, concept_id: str) -> bool:
        """Return whether everybody would say that the concept is not in the picture."""
        concept = self.domain.concept(concept_id)
        if concept_id in self.facts or not self.facts.isdisjoint(LEFT_OPEN_BY.get(concept_id, ())):
            return False
        peers = {one.id for one in self.domain.concepts if one.group == concept.group and one.group}
        if not self.facts.isdisjoint(peers):
            return True
        if concept_id in TOWNS or concept_id in ALWAYS_DRAWN or concept.kind == "modifier":
            return False
        if concept.kind == "signal":
            return True
        if concept_id in PEOPLE_IN_KITCHENS:
            return self.kinds.isdisjoint(PEOPLE_IN_KITCHENS)
        kind = KIND_OF_CONCEPT.get(concept_id, concept_id)
        mistaken = LABELS[kind].mistaken_for if kind in LABELS else frozenset()
        return kind not in self.kinds and self.kinds.isdisjoint(mistaken)

    def pairs(self) -> list[Statement]:
        """Return every statement whose truth is certain, those about places left out."""
        rows = []
        for concept in self.domain.concepts:
            if concept.joins_entity:
                continue
            holds, absent = concept.id in self.facts, self.is_absent(concept.id)
            if holds or absent:
                rows.append(Statement(concept.statement_true, concept.id, is_true=holds))
            counter_holds = not self.facts.isdisjoint(COUNTER_HOLDS.get(concept.id, ()))
            denial_holds = absent and concept.id in DENIALS
            if holds or counter_holds or denial_holds:
                rows.append(Statement(concept.statement_false, concept.id, is_true=not holds))
        return [row for row in rows if row.text]


def certain_statements(record: PictureRecord) -> list[Statement]:
    """Return every statement about a picture whose truth is certain."""
    domain = load_domain(record.domain)
    scene = _Scene(domain, facts_of(domain, record.key), frozenset(one.kind for one in record.objects))
    return [*scene.pairs(), *_places(domain, record.key)]


def draw_statements(
    record: PictureRecord, statements: Sequence[Statement], count: int, *, rng: np.random.Generator
) -> tuple[Statement, ...]:
    """Draw statements without repeats, half of them about what is there, true and false alike.

    Args:
        record: the picture.
        statements: as ``certain_statements`` returns them.
        count: how many are wanted.
        rng: the source of all choices.
    """
    remaining = list(statements)
    drawn: list[Statement] = []
    while remaining and len(drawn) < count:
        wants_present, wants_true = bool(rng.integers(2)), bool(rng.integers(2))
        present = {*record.key, *PLACES}
        about = [one for one in remaining if (one.concept in present) == wants_present] or remaining
        chosen = pick(rng, [one for one in about if one.is_true == wants_true] or about)
        remaining.remove(chosen)
        drawn.append(chosen)
    return tuple(drawn)


def _places(domain: Domain, key: tuple[str, ...]) -> list[Statement]:
    rows = []
    for entity in domain.entities(key):
        name = domain.concept(entity.concept_id).label.lower()
        if not domain.concept(entity.concept_id).modifiable:
            continue
        truths = {
            "on_sidewalk": entity.placement == "sidewalk",
            "on_lane": entity.placement == "lane",
            "near": {"near": True, "far": False}.get(entity.distance),
            "far": {"near": False, "far": True}.get(entity.distance),
        }
        for modifier, is_true in truths.items():
            if is_true is not None and modifier in domain.index:
                text = domain.concept(modifier).statement_true.replace("{entity}", name)
                rows.append(Statement(text, modifier, is_true=is_true))
    return rows
