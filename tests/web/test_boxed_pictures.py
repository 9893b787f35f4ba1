"""Boxes over pictures: what gets one, and where its tag stands."""

from vlmlab.web.boxed_pictures import boxes_of

CONE = {
    "kind": "cone",
    "concept": "cone",
    "is_required": True,
    "visible_box": [10, 4, 30, 44],
    "visible_fraction": 0.5,
}
TREE = {
    "kind": "tree",
    "concept": "",
    "is_required": False,
    "visible_box": [0, 0, 5, 5],
    "visible_fraction": 1.0,
}
HIDDEN = {"kind": "bin", "concept": "garbage_bin", "is_required": True, "visible_box": None}


def test_only_required_things_that_can_be_seen_get_a_box():
    [box] = boxes_of([TREE, HIDDEN, CONE], {"cone": "Cone"})

    assert (box.number, box.label, box.x, box.y, box.width, box.height, box.visible_percent) == (
        1, "Cone", 10, 4, 20, 40, 50,
    )  # fmt: skip


def test_distractors_can_be_asked_for():
    assert [box.label for box in boxes_of([TREE, CONE], {}, only_required=False)] == ["tree", "cone"]


def test_the_tag_stands_above_the_box_or_inside_it_at_the_upper_edge():
    low = CONE | {"visible_box": [10, 40, 30, 60]}

    assert [box.tag_y for box in boxes_of([CONE, low], {})] == [4, 24]
