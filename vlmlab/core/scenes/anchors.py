"""The anchor graph of a concept set: what must be in the scene, and how it stands to the car or the room."""

from dataclasses import dataclass

from vlmlab.core.scenes.concepts import Domain, Glyph, Key

PLACES = {"lane": "in the lane", "sidewalk": "on the sidewalk"}
JUNCTION = "intersection_ego"
ROOM = "kitchen"
ROOM_PLACES = {
    "wall": "on the wall",
    "sink": "below the sink",
    "counter": "on the counter",
    "edge": "at the counter's edge",
    "stove": "at the stove",
    "counter_floor": "in front of the counter",
    "sink_floor": "in front of the sink",
    "floor": "on the floor",
}
"""Where a thing of a room can be, from the back of the room to its front."""


@dataclass(frozen=True)
class Company:
    """How a thing stands to the first of ``others`` in the set, which ``{other}`` in the label names."""

    concept_id: str
    others: tuple[str, ...]
    relation: str
    label: str


COMPANIES = (
    Company("coffee_spill", ("glass_tipped",), "near", "beside the {other}"),
    Company("child_reaching", ("cabinet_open",), "reaches_into", "reaches into the {other}"),
    Company("towel_near", ("stove_on",), "near", "beside the {other}"),
    Company("towel_burning", ("stove_on",), "near", "beside the {other}"),
    Company("smoke", ("towel_burning", "stove_on"), "rises_from", "rises from the {other}"),
    Company("adult_reacting", ("towel_burning", "smoke"), "reacts_to", "because of the {other}"),
    Company("pan_stove", ("stove_on",), "on", "on the {other}"),
    Company("child_far_microwave", ("microwave_open_hot",), "far_from", "several steps from the {other}"),
    Company("child_near_microwave", ("microwave_open_hot",), "reaches_to", "reaches for the {other}"),
    Company("child_near_pan", ("pan_stove", "pan_counter"), "reaches_to", "reaches for the {other}"),
    Company("barefoot_near_glass", ("glass_floor",), "near", "one step from the {other}"),
)


@dataclass(frozen=True)
class AnchorNode:
    """A thing of the scene.

    Attributes:
        id: ``ego`` or ``room``, or the concept that brings it.
        label: for people.
        glyph: its sign; the ego car is a vehicle.
        place: where to draw it: ``ego``, ``lane``, ``sidewalk``, ``junction`` or ``scene`` on a road,
            ``room`` or a key of ``ROOM_PLACES`` in a room.
        bucket: distance bucket, "" where it has none.
        distance_m: lowest and highest distance from the car.
        modifiers: labels of the modifiers that act on it.
        is_implied: another concept brought it along.
    """

    id: str
    label: str
    glyph: Glyph
    place: str
    bucket: str = ""
    distance_m: tuple[float, float] | None = None
    modifiers: tuple[str, ...] = ()
    is_implied: bool = False


@dataclass(frozen=True)
class AnchorEdge:
    """How ``target`` stands to ``source``; ``label`` is a readable phrase."""

    source: str
    target: str
    relation: str
    label: str


@dataclass(frozen=True)
class AnchorGraph:
    """Nodes and edges in canonical order: the car or the room first, then as the catalogue has them."""

    nodes: tuple[AnchorNode, ...]
    edges: tuple[AnchorEdge, ...]


def anchor_graph(domain: Domain, key: Key) -> AnchorGraph:
    """Return the graph of a canonical set; equal sets give equal graphs.

    Args:
        domain: where it is drawn as driving, things stand to the car, elsewhere to the room.
        key: a canonical set.
    """
    return _road_graph(domain, key) if domain.draws_as == "driving" else _room_graph(domain, key)


def _road_graph(domain: Domain, key: Key) -> AnchorGraph:
    nodes = [AnchorNode("ego", "Car", "vehicle", "ego")]
    edges: list[AnchorEdge] = []
    for concept_id in key:
        concept = domain.concept(concept_id)
        if concept.kind == "signal":
            _add_signal(domain, concept_id, nodes=nodes, edges=edges)
        elif concept.kind == "map":
            nodes.append(AnchorNode(concept_id, concept.label, concept.glyph, "scene"))
            edges.append(AnchorEdge("ego", concept_id, "drives_in", "drives in"))
        elif concept.kind == "modifier" and not concept.joins_entity:
            nodes.append(AnchorNode(concept_id, concept.label, concept.glyph, "scene"))
            edges.append(AnchorEdge("ego", concept_id, "under", "drives under"))
    for entity in domain.entities(key):
        concept = domain.concept(entity.concept_id)
        bounds = domain.distances_m[entity.distance]
        labels = tuple(domain.concept(one).label for one in entity.modifiers)
        nodes.append(
            AnchorNode(
                concept.id, concept.label, concept.glyph, entity.placement, entity.distance, bounds, labels
            )
        )
        phrase = f"{_metres(bounds)} ahead {PLACES.get(entity.placement, entity.placement)}"
        edges.append(AnchorEdge("ego", concept.id, f"ahead_{entity.placement}", phrase))
    return AnchorGraph(tuple(nodes), tuple(edges))


def _add_signal(domain: Domain, concept_id: str, *, nodes: list[AnchorNode], edges: list[AnchorEdge]) -> None:
    concept = domain.concept(concept_id)
    junctions = (JUNCTION,) if concept_id == JUNCTION else concept.implies
    for junction_id in junctions:
        if any(node.id == junction_id for node in nodes):
            continue
        junction, bounds = domain.concept(junction_id), domain.distances_m["junction"]
        is_implied = junction_id != concept_id
        nodes.append(
            AnchorNode(
                junction_id,
                junction.label,
                junction.glyph,
                "junction",
                "junction",
                bounds,
                is_implied=is_implied,
            )
        )
        edges.append(AnchorEdge("ego", junction_id, "approaches", f"{_metres(bounds)} ahead"))
    if concept_id != JUNCTION:
        nodes.append(AnchorNode(concept_id, concept.label, concept.glyph, "junction"))
        edges.extend(AnchorEdge(one, concept_id, "signalled_by", "signalled by") for one in concept.implies)


def _metres(bounds: tuple[float, float]) -> str:
    return f"{bounds[0]:g} to {bounds[1]:g} m"


def _room_graph(domain: Domain, key: Key) -> AnchorGraph:
    title = domain.concept(ROOM).label if ROOM in domain.index else domain.title
    nodes = [AnchorNode("room", title, "room", "room", is_implied=ROOM not in key)]
    edges: list[AnchorEdge] = []
    for concept_id in key:
        concept = domain.concept(concept_id)
        if not concept.is_thing and not concept.joins_entity and concept_id != ROOM:
            nodes.append(AnchorNode(concept_id, concept.label, concept.glyph, "scene"))
            edges.append(AnchorEdge("room", concept_id, "whole", "holds for the whole scene"))
    for entity in domain.entities(key):
        concept, place = domain.concept(entity.concept_id), entity.placement
        bounds = domain.distances_m.get(entity.distance)
        labels = tuple(domain.concept(one).label for one in entity.modifiers)
        nodes.append(
            AnchorNode(concept.id, concept.label, concept.glyph, place, entity.distance, bounds, labels)
        )
        edges.append(AnchorEdge("room", concept.id, f"at_{place}" if place else "in", _room_phrase(place)))
    return AnchorGraph(tuple(nodes), (*edges, *_companies(domain, key)))


def _companies(domain: Domain, key: Key) -> list[AnchorEdge]:
    edges = []
    for one in COMPANIES:
        other = next((other for other in one.others if other in key), None)
        if one.concept_id in key and other is not None:
            name = domain.concept(other).label
            label = one.label.replace("{other}", name[:1].lower() + name[1:])
            edges.append(AnchorEdge(other, one.concept_id, one.relation, label))
    return edges


def _room_phrase(place: str) -> str:
    return ROOM_PLACES.get(place, place.replace("_", " ") or "anywhere in it")
