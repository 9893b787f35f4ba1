"""The anchor graph of a set says what stands where, relative to the car or to the room."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.scenes.anchors import anchor_graph
from vlmlab.core.scenes.catalogue import load_domain

DRIVING = load_domain("driving")
INDOOR = load_domain("indoor")
UNIVERSE = DRIVING.universe()
valid_kitchens = st.integers(0, len(INDOOR.universe()) - 1).map(
    lambda position: INDOOR.key_of(INDOOR.universe()[position])
)
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


def test_things_of_a_kitchen_stand_to_the_room_and_to_each_other():
    graph = anchor_graph(INDOOR, INDOOR.canonical(["cabinet_open", "child_reaching", "outlet_covered"]))

    assert [(node.id, node.place, node.is_implied) for node in graph.nodes] == [
        ("room", "room", True),
        ("cabinet_open", "sink", False),
        ("child_reaching", "sink_floor", False),
        ("outlet_covered", "wall", False),
    ]
    assert [(edge.source, edge.target, edge.label) for edge in graph.edges] == [
        ("room", "cabinet_open", "below the sink"),
        ("room", "child_reaching", "in front of the sink"),
        ("room", "outlet_covered", "on the wall"),
        ("cabinet_open", "child_reaching", "reaches into the open sink cabinet"),
    ]


@pytest.mark.parametrize(
    ("ids", "edge"),
    [
        (["smoke", "stove_on"], ("stove_on", "smoke", "rises_from")),
        (["smoke", "towel_burning", "stove_on"], ("towel_burning", "smoke", "rises_from")),
        (
            ["microwave_open_hot", "child_far_microwave"],
            ("microwave_open_hot", "child_far_microwave", "far_from"),
        ),
        (["pan_counter", "child_near_pan"], ("pan_counter", "child_near_pan", "reaches_to")),
        (["glass_tipped", "coffee_spill"], ("glass_tipped", "coffee_spill", "near")),
    ],
)
def test_what_keeps_company_is_joined_to_it(ids, edge):
    graph = anchor_graph(INDOOR, INDOOR.canonical(ids))

    assert edge in [(one.source, one.target, one.relation) for one in graph.edges]


def test_a_kitchen_that_was_chosen_is_not_implied_and_stands_once():
    graph = anchor_graph(INDOOR, ("kitchen", "knife_block"))

    assert [(node.id, node.is_implied) for node in graph.nodes] == [("room", False), ("knife_block", False)]


@given(valid_kitchens)
def test_every_thing_of_a_kitchen_is_a_node_that_hangs_on_the_room(key):
    graph = anchor_graph(INDOOR, key)

    things = {one for one in key if one != "kitchen"}
    assert {node.id for node in graph.nodes} == {"room", *things}
    assert {edge.target for edge in graph.edges if edge.source == "room"} == things
    assert {edge.source for edge in graph.edges} <= {"room", *things}
