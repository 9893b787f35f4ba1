"""The anchor graph of a driving concept set: what must be in the scene and how it stands to the car."""

from dataclasses import dataclass

from vlmlab.core.scenes.concepts import Domain, Glyph, Key

PLACES = {"lane": "in the lane", "sidewalk": "on the sidewalk"}
JUNCTION = "intersection_ego"


@dataclass(frozen=True)
class AnchorNode:
    """A thing of the scene.

    Attributes:
        id: ``ego``, or the concept that brings it.
        label: for people.
        glyph: its sign; the ego car is a vehicle.
        place: ``ego``, ``lane``, ``sidewalk``, ``junction`` or ``scene``: where to draw it.
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
    """Nodes and edges in canonical order: ego first, then as the catalogue has them."""

    nodes: tuple[AnchorNode, ...]
    edges: tuple[AnchorEdge, ...]


def anchor_graph(domain: Domain, key: Key) -> AnchorGraph:
    """Return the graph of a canonical set; equal sets give equal graphs."""
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
