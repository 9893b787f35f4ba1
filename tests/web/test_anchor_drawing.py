"""The drawing of an anchor graph."""

from itertools import combinations

import pytest

from vlmlab.core.scenes.anchors import anchor_graph
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.concepts import Domain
from vlmlab.web.anchor_drawing import BOX_HEIGHT, AnchorDrawing, draw_anchors

DOMAIN = load_domain("driving")


INDOOR = load_domain("indoor")


def drawing(*concepts: str, domain: Domain = DOMAIN) -> AnchorDrawing:
    return draw_anchors(anchor_graph(domain, domain.canonical(concepts)))


def test_the_nearer_of_two_things_in_the_lane_stands_nearer_to_the_car():
    places = {one.node.id: one.y for one in drawing("debris_near", "obstruction_far").nodes}

    assert places["ego"] > places["debris_near"] > places["obstruction_far"]


def test_a_thing_on_the_sidewalk_stands_to_the_right_of_the_lane():
    shown = drawing("pedestrian", "on_sidewalk")
    places = {one.node.id: one.x for one in shown.nodes}

    assert places["pedestrian"] > places["ego"]
    assert shown.has_sidewalk


def test_the_sentence_says_what_the_lines_mean():
    assert drawing("cone", "far").sentence == "Car to Cone: 15 to 25 m ahead in the lane"


def test_a_kitchen_is_drawn_in_bands_from_the_wall_to_the_floor():
    shown = drawing("child_running", "outlet_exposed", "pill_bottle", domain=INDOOR)

    assert [band.label for band in shown.bands] == ["On the wall", "On the counter", "On the floor"]
    places = {one.node.id: one.y for one in shown.nodes}
    assert places["room"] < places["outlet_exposed"] < places["pill_bottle"] < places["child_running"]
    assert (shown.has_lane, shown.has_sidewalk) == (False, False)


def test_the_sentence_of_a_kitchen_says_places_and_company():
    sentence = drawing("glass_floor", "barefoot_near_glass", domain=INDOOR).sentence

    assert sentence == (
        "Broken glass: on the floor. Barefoot child at shards: on the floor. "
        "Barefoot child at shards: one step from the broken glass"
    )


@pytest.mark.parametrize(
    ("domain", "number"),
    [(DOMAIN, number) for number in range(0, 110_664, 5501)]
    + [(INDOOR, number) for number in range(0, 53_031, 2503)],
)
def test_no_two_boxes_overlap_and_all_lie_inside(domain, number):
    key = domain.key_of(int(domain.universe()[number]))

    shown = drawing(*key, domain=domain)

    overlapping = [
        (one.node.id, other.node.id)
        for one, other in combinations(shown.nodes, 2)
        if abs(one.x - other.x) < (one.width + other.width) / 2 and abs(one.y - other.y) < BOX_HEIGHT
    ]
    outside = [
        one.node.id
        for one in shown.nodes
        if one.top < 0
        or one.top + BOX_HEIGHT > shown.height
        or one.left < 0
        or one.left + one.width > shown.width
    ]
    assert (overlapping, outside) == ([], [])
