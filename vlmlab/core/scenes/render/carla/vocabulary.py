"""What the concepts of a driving domain mean to CARLA."""

from vlmlab.core.scenes.anchors import JUNCTION, PLACES
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.driving import KIND_OF_CONCEPT, LIGHT_COLOURS
from vlmlab.core.scenes.render.carla.blueprints import LOOKS
from vlmlab.core.scenes.render.carla.weathers import CARLA_WEATHERS

TOWNS = {"town_town01": "Town01", "town_town02": "Town02"}


def kind_of(concept_id: str) -> str:
    """Return the kind of thing that a concept brings, a key of the blueprint table where CARLA has it."""
    return KIND_OF_CONCEPT.get(concept_id, concept_id)


def unknown_concepts(domain: Domain) -> tuple[str, ...]:
    """Return the ids of a domain's concepts that CARLA cannot show."""
    scenery = {JUNCTION, *LIGHT_COLOURS, *TOWNS, *CARLA_WEATHERS}
    unknown = []
    for concept in domain.concepts:
        if concept.is_thing:
            is_known = kind_of(concept.id) in LOOKS and concept.placement in PLACES
        elif concept.joins_entity:
            is_known = concept.sets.get("placement", "lane") in PLACES
        else:
            is_known = concept.id in scenery
        if not is_known:
            unknown.append(concept.id)
    return tuple(unknown)
