"""The drawing of an anchor graph."""

from itertools import combinations

import pytest

from vlmlab.core.scenes.anchors import anchor_graph
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.web.anchor_drawing import BOX_HEIGHT, BOX_WIDTH, AnchorDrawing, draw_anchors

DOMAIN = load_domain("driving")


def drawing(*concepts: str) -> AnchorDrawing:
    return draw_anchors(anchor_graph(DOMAIN, DOMAIN.canonical(concepts)))


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


@pytest.mark.parametrize("number", range(0, 110_664, 5501))
def test_no_two_boxes_overlap_and_all_lie_inside(number):
    key = DOMAIN.key_of(int(DOMAIN.universe()[number]))

    shown = drawing(*key)

    overlapping = [
        (one.node.id, other.node.id)
        for one, other in combinations(shown.nodes, 2)
        if abs(one.x - other.x) < BOX_WIDTH and abs(one.y - other.y) < BOX_HEIGHT
    ]
    outside = [
        one.node.id
        for one in shown.nodes
        if one.top < 0
        or one.top + BOX_HEIGHT > shown.height
        or one.left < 0
        or one.left + BOX_WIDTH > shown.width
    ]
    assert (overlapping, outside) == ([], [])
