"""The anchor graph of a set says what stands where, relative to the car."""

from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.scenes.anchors import anchor_graph
from vlmlab.core.scenes.catalogue import load_domain

DRIVING = load_domain("driving")
UNIVERSE = DRIVING.universe()
valid_keys = st.integers(0, len(UNIVERSE) - 1).map(lambda i: DRIVING.key_of(UNIVERSE[i]))


def test_light_brings_its_junction_along():
    graph = anchor_graph(DRIVING, ("light_red",))

    assert [(node.id, node.is_implied) for node in graph.nodes] == [
        ("ego", False),
        ("intersection_ego", True),
        ("light_red", False),
    ]
    assert [(edge.source, edge.target, edge.label) for edge in graph.edges] == [
        ("ego", "intersection_ego", "11 to 25 m ahead"),
        ("intersection_ego", "light_red", "signalled by"),
    ]


def test_junction_named_with_its_light_stands_once_and_is_not_implied():
    graph = anchor_graph(DRIVING, ("intersection_ego", "light_green"))

    assert [(node.id, node.is_implied) for node in graph.nodes][1:] == [
        ("intersection_ego", False),
        ("light_green", False),
    ]


def test_entity_edge_says_where_it_stands_after_modifiers():
    graph = anchor_graph(DRIVING, DRIVING.canonical(["cone", "far", "on_sidewalk"]))

    assert [(edge.relation, edge.label) for edge in graph.edges] == [
        ("ahead_sidewalk", "15 to 25 m ahead on the sidewalk")
    ]
    assert graph.nodes[1].modifiers == ("on sidewalk", "far")
    assert graph.nodes[1].distance_m == (15.0, 25.0)


@given(valid_keys)
def test_every_concept_is_a_node_or_a_modifier_of_one_and_edges_join_nodes(key):
    graph = anchor_graph(DRIVING, key)

    ids = [node.id for node in graph.nodes]
    labels = {label for node in graph.nodes for label in node.modifiers}
    assert len(ids) == len(set(ids))
    assert all(one in ids or DRIVING.concept(one).label in labels for one in key)
    assert {edge.target for edge in graph.edges} == set(ids) - {"ego"}
    assert {edge.source for edge in graph.edges} <= set(ids)
