"""Boxes over pictures: what gets one, and where its tag stands."""

from vlmlab.web.boxed_pictures import BoxedPicture, boxes_of, read_box

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
    picture = BoxedPicture("/p.png", "A street", 320, 240, boxes_of([CONE, low], {}))

    assert [(tag.number, tag.x, tag.y) for tag in picture.tags] == [(1, 10, 4), (2, 10, 24)]


def test_tags_of_a_large_picture_are_larger_because_it_is_shown_smaller():
    picture = BoxedPicture("/p.png", "A street", 896, 672, (read_box(1, "cat", [10, 40, 30, 60]),))

    assert (picture.tag_scale, picture.tags[0].y) == (2.0, 8)


def test_a_box_without_a_number_gets_no_tag_and_no_line_in_the_list():
    boxes = read_box(0, "truth", [1, 2, 3, 4], kind="truth"), read_box(1, "cat", [1, 2, 3, 4])
    picture = BoxedPicture("/p.png", "A street", 320, 240, boxes)

    assert [box.css for box in picture.boxes] == ["truth", "clean"]
    assert [box.label for box in picture.numbered] == ["cat"]
    assert len(picture.tags) == 1
