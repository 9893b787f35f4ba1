"""COCO files as they are found: gaps in ids, crowds, three kinds of masks, keys in any order."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.seed_images.sources import coco, imported, photograph, told, truth
from vlmlab.core.scenes.masks import decode_mask, encode_mask
from vlmlab.core.seed_images.faults import SeedImportError
from vlmlab.core.seed_images.settings import ImportLimits

PERSON, DOG = {"id": 1, "name": "person", "supercategory": "person"}, {"id": 18, "name": "dog"}
IMAGE = {"id": 139, "file_name": "000000000139.jpg", "width": 80, "height": 60, "license": 1}


def row(number: int, box: list[float], *, image: object = 139, category: object = 18, **more):
    return {
        "id": number,
        "image_id": image,
        "category_id": category,
        "bbox": box,
        "area": 1.0,
        "iscrowd": 0,
        "segmentation": [],
        **more,
    }


def one(annotations, *, images=(IMAGE,), categories=(PERSON, DOG), **settings):
    files = {
        "val2017/000000000139.jpg": photograph(form="JPEG"),
        "annotations/instances_val2017.json": coco(list(images), annotations, list(categories)),
    }
    return imported(files, **settings)


def test_boxes_are_read_from_the_corner_and_the_size_with_gaps_in_the_ids():
    pictures, report = one([row(7, [10.5, 20.25, 30, 15.5]), row(1768, [1, 2, 3, 4], category=1)])

    assert [picture.file for picture in pictures] == ["val2017/000000000139.jpg"]
    assert truth(pictures[0]) == [("dog", (10.5, 20.25, 40.5, 35.75)), ("person", (1, 2, 4, 6))]
    assert pictures[0].asked_labels == ("dog", "person")
    assert told(report) == []
    assert (report.n_pictures, report.n_things, report.strata) == (1, 2, {"all": 1})


def test_a_crowd_is_refused_and_its_label_is_not_asked_for():
    crowd = {"size": [60, 80], "counts": [0, 100, 4700]}

    pictures, report = one(
        [row(1, [1, 1, 9, 9]), row(900, [0, 0, 60, 50], category=1, iscrowd=1, segmentation=crowd),
         row(3, [5, 5, 10, 20], category=1)]
    )  # fmt: skip

    assert told(report) == [("thing", "crowd", "annotations/instances_val2017.json", "annotations 2")]
    assert truth(pictures[0]) == [("dog", (1, 1, 10, 10)), ("person", (5, 5, 15, 25))]
    assert (pictures[0].asked_labels, pictures[0].unsure_labels) == (("dog",), ("person",))


def test_a_picture_with_only_a_crowd_is_no_seed_image():
    pictures, report = one([row(900, [0, 0, 60, 50], category=1, iscrowd=1)])

    assert pictures == []
    assert told(report)[1] == ("picture", "nothing_to_ask", "val2017/000000000139.jpg", "")
    assert "not all boxes of person are certain" in report.refusals[1].reason


def test_a_polygon_and_both_kinds_of_run_lengths_become_the_same_mask():
    wanted = np.zeros((60, 80), np.bool_)
    wanted[10:30, 20:50] = True
    column = [10, 20, 30]
    runs = [20 * 60 + column[0], *([20, 40] * 29), 20, 60 * 30 + 30]
    assert sum(runs) == 60 * 80
    compressed = encode_mask(wanted)

    pictures, report = one(
        [
            row(1, [20, 10, 30, 20], segmentation=[[20, 10, 50, 10, 50, 30, 20, 30]]),
            row(2, [20, 10, 30, 20.5], segmentation={"size": [60, 80], "counts": runs}),
            row(3, [20, 10, 30, 19.5], segmentation={"size": [60, 80], "counts": compressed}),
        ]
    )

    assert told(report) == []
    for seen in pictures[0].things:
        assert (decode_mask(seen.mask, width=80, height=60) == wanted).all()


def test_a_thing_with_only_a_mask_gets_its_tight_box():
    pictures, report = one([row(1, [], segmentation=[[20, 10, 50, 10, 50, 30, 20, 30]])])

    assert truth(pictures[0]) == [("dog", (20, 10, 50, 30))]
    assert told(report) == []


@pytest.mark.parametrize(
    ("segmentation", "reason"),
    [
        ([[20, 10, 50, 10]], "not three points or more"),
        ([[20, 10, 500, 10, 50, 30]], "a point outside the picture"),
        ({"size": [80, 60], "counts": [0, 4800]}, "for another size than 80 x 60"),
        ({"size": [60, 80], "counts": [0, 4801]}, "do not add up"),
        ([[60, 40, 75, 40, 75, 55, 60, 55]], "lies elsewhere than its box"),
        ([["a", "b", "c", "d", "e", "f"]], "a point that is no number"),
        ({"size": [60, 80], "counts": [4800]}, "covers nothing"),
        ("polygon", "neither polygons nor run lengths"),
    ],
)
def test_a_mask_that_does_not_fit_is_left_out_and_the_box_is_kept(segmentation, reason):
    pictures, report = one([row(1, [20, 10, 30, 20], segmentation=segmentation)])

    assert [(one.scope, one.kind) for one in report.refusals] == [("mask", "mask")]
    assert reason in report.refusals[0].reason
    assert (truth(pictures[0]), pictures[0].things[0].mask) == ([("dog", (20, 10, 50, 30))], "")
    assert pictures[0].asked_labels == ("dog",)


@pytest.mark.parametrize(
    ("box", "kind", "words"),
    [
        ([10, 10, 0, 20], "no_area", "less than a pixel"),
        ([10, 10, 20, -5], "box", "20 x -5 pixels"),
        ([70, 10, 30, 20], "outside", "reaches beyond the picture of 80 x 60"),
        ([-20, 10, 30, 20], "outside", "reaches beyond"),
        ([10, 10, 20], "box", "not left, top, width, height"),
        ([10, 10, "wide", 20], "box", "“wide” for width"),
        ([10, float("nan"), 20, 20], "box", "no finite number for top"),
        ([10, 10, 10**400, 20], "box", "no finite number for width"),
        ("10,10,5,5", "box", "not left, top"),
        ([0.1, 0.2, 0.4, 0.3], "no_area", "less than a pixel"),
        (None, "box", "neither a box nor a mask"),
    ],
)
def test_a_wrong_box_is_refused_with_its_row_and_its_label_is_not_asked_for(box, kind, words):
    pictures, report = one([row(1, box), row(2, [5, 5, 10, 20], category=1)])

    assert told(report) == [("thing", kind, "annotations/instances_val2017.json", "annotations 1")]
    assert words in report.refusals[0].reason
    assert (pictures[0].asked_labels, pictures[0].unsure_labels) == (("person",), ("dog",))


def test_shares_in_place_of_pixels_get_a_hint():
    _, report = one([row(1, [0.1, 0.2, 0.4, 0.3])])

    assert "wants pixels, not shares" in report.refusals[0].hint


def test_a_box_that_rounding_pushed_over_the_frame_is_cut():
    pictures, report = one([row(1, [60.5, 40, 20.4, 21.9])])

    assert truth(pictures[0]) == [("dog", (60.5, 40, 80, 60))]
    assert told(report) == []


def test_ids_of_any_type_are_the_same_id():
    pictures, report = one(
        [row(1, [1, 1, 9, 9], image="139", category=18.0), row(2, [2, 2, 20, 9], image=139.0, category="18")]
    )

    assert [label for label, _ in truth(pictures[0])] == ["dog", "dog"]
    assert told(report) == []


def test_rows_that_name_nothing_known_are_refused_one_by_one():
    pictures, report = one(
        [
            row(1, [1, 1, 9, 9]),
            row(2, [1, 1, 9, 9], image=140),
            row(3, [1, 1, 9, 9], category=2),
            {"id": 4, "bbox": [1, 1, 9, 9]},
            "no row",
        ]
    )

    assert [(one.kind, one.row) for one in report.refusals] == [
        ("row", "annotations 2"),
        ("class_name", "annotations 3"),
        ("row", "annotations 4"),
        ("row", "annotations 5"),
    ]
    assert pictures[0].asked_labels == ("dog",)


def test_a_thing_without_a_class_could_be_anything_so_its_picture_is_refused():
    annotation = row(1, [1, 1, 9, 9])
    del annotation["category_id"]

    pictures, report = one([annotation, row(2, [2, 2, 20, 9])])

    assert pictures == []
    assert told(report) == [
        ("thing", "row", "annotations/instances_val2017.json", "annotations 1"),
        ("picture", "hole", "val2017/000000000139.jpg", ""),
    ]


def test_rows_told_twice_are_refused():
    pictures, report = one(
        [row(1, [1, 1, 9, 9])],
        images=(IMAGE, {**IMAGE, "file_name": "other.jpg"}),
        categories=(DOG, {**DOG, "name": "cat"}),
    )

    assert [label for label, _ in truth(pictures[0])] == ["dog"]
    assert [(one.scope, one.kind, one.row) for one in report.refusals] == [
        ("picture", "row", "images 2"),
        ("thing", "row", "categories 2"),
    ]


def test_rows_that_tell_one_picture_two_sizes_cost_it():
    pictures, report = one(
        [row(1, [1, 1, 9, 9])], images=(IMAGE, {**IMAGE, "id": 140, "width": 800, "height": 600})
    )

    assert pictures == []
    assert "images 2 tells another size" in report.refusals[0].reason


def test_images_without_their_file_are_refused_and_their_things_with_them():
    gone = {**IMAGE, "id": 285, "file_name": "000000000285.jpg"}

    pictures, report = one([row(1, [1, 1, 9, 9]), row(2, [1, 1, 9, 9], image=285)], images=(gone, IMAGE))

    assert len(pictures) == 1
    assert told(report) == [("picture", "missing_picture", "annotations/instances_val2017.json", "images 1")]


def test_a_picture_of_another_size_than_its_row_is_refused():
    pictures, report = one([row(1, [1, 1, 9, 9])], images=({**IMAGE, "width": 640, "height": 480},))

    assert pictures == []
    assert told(report) == [("picture", "size", "val2017/000000000139.jpg", "")]
    assert "has 80 x 60 pixels" in report.refusals[0].reason
    assert "640 x 480" in report.refusals[0].reason


def test_the_same_picture_listed_twice_gets_the_things_of_both_rows():
    again = {**IMAGE, "id": 140}

    pictures, report = one(
        [row(1, [1, 1, 9, 9]), row(2, [20, 20, 9, 9], image=140), row(3, [1, 1, 9, 9], image=140)],
        images=(IMAGE, again),
    )

    assert truth(pictures[0]) == [("dog", (1, 1, 10, 10)), ("dog", (20, 20, 29, 29))]
    assert report.remarks == {"A thing stands twice with the same label and box; it is taken once.": 1}


def test_paths_of_another_computer_are_found_by_their_ends():
    for name in (
        "C:\\Users\\x\\val2017\\000000000139.jpg",
        "/home/x/000000000139.jpg",
        "../val2017/000000000139.JPG",
    ):
        pictures, report = one([row(1, [1, 1, 9, 9])], images=({**IMAGE, "file_name": name},))

        assert (len(pictures), told(report)) == (1, [])


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "..", "", "val2017/../../secret.jpg", "\0.jpg"]
)
def test_a_path_out_of_the_source_finds_nothing(name):
    pictures, report = one([row(1, [1, 1, 9, 9])], images=({**IMAGE, "file_name": name},))

    assert pictures == []
    assert report.counts["picture", "missing_picture"] + report.counts["picture", "row"] == 1


def test_two_files_that_describe_the_same_pictures_do_not_mix():
    first = coco([IMAGE], [row(1, [1, 1, 9, 9])], [DOG])
    files = {
        "000000000139.jpg": photograph(form="JPEG"),
        "instances.json": first,
        "person_keypoints.json": coco([IMAGE], [row(1, [2, 2, 9, 9], category=1)], [PERSON]),
    }

    both, report = imported(files)
    chosen, alone = imported(files, annotation_file="person_keypoints.json")

    assert [truth(picture) for picture in both] == [[("dog", (1, 1, 10, 10))]]
    assert told(report) == [("picture", "named_twice", "person_keypoints.json", "images 1")]
    assert [truth(picture) for picture in chosen] == [[("person", (2, 2, 11, 11))]]
    assert told(alone) == []


def test_labels_with_quotes_and_other_scripts_are_kept_and_harmful_ones_are_refused():
    categories = [
        {"id": 1, "name": 'the "big" dog\'s <b>bowl</b>'},
        {"id": 2, "name": "мяч"},
        {"id": 3, "name": "می‌خواهم"},
        {"id": 4, "name": "ev\u202eil"},
        {"id": 5, "name": "nul\x00"},
        {"id": 6, "name": "x" * 200},
        {"id": 7, "name": "half \ud83d"},
        {"id": 8, "name": "  traffic_light\n "},
        {"id": 9, "name": "caf\u0065\u0301"},
    ]
    boxes = [row(n, [n, 1, 9, 9], category=n) for n in range(1, 10)]

    pictures, report = one(boxes, categories=categories)

    assert [label for label, _ in truth(pictures[0])] == [
        'the "big" dog\'s <b>bowl</b>', "мяч", "می‌خواهم", "traffic light", "café"
    ]  # fmt: skip
    assert [(one.scope, one.kind, one.row) for one in report.refusals if one.kind == "label"] == [
        ("thing", "label", f"categories {n}") for n in (4, 5, 6, 7)
    ]
    assert report.counts["thing", "class_name"] == 4


def test_classes_can_be_mapped_to_one_label_or_left_out():
    categories = [{"id": 1, "name": "Person"}, {"id": 2, "name": "pedestrian"}, {"id": 3, "name": "sky"}]

    pictures, report = one(
        [row(n, [n, 1, 9, 9], category=n) for n in (1, 2, 3)],
        categories=categories,
        labels={"pedestrian": "person", "sky": "-"},
    )

    assert [label for label, _ in truth(pictures[0])] == ["Person", "Person"]
    assert report.remarks == {"A thing of the class “sky” was left out, as the settings say.": 1}


def test_the_scene_type_of_an_image_row_is_its_stratum():
    pictures, _ = one([row(1, [1, 1, 9, 9])], images=({**IMAGE, "stratum": "kitchen floor"},))

    assert pictures[0].stratum == "kitchen floor"


@pytest.mark.parametrize(
    ("content", "kind", "words"),
    [
        (b"{", "file", "is no JSON"),
        (b"[1, 2]", "file", "is no JSON"),
        (b"", "file", "is no JSON"),
        (b"\xff\xfe{", "file", "is not written in UTF-8"),
        (b'{"images": [' + b"[" * 200_000, "file", "nested too deeply"),
        (b'{"images": [], "annotations": [], "categories": []} x', "file", "behind its end"),
        (b'{"images": [], "annotations": []}', "format", "no list “categories”"),
        (b'{"images": {}, "annotations": [], "categories": []}', "format", "no list “images”"),
        (b'{"images" [], "annotations": [], "categories": []}', "file", "is no JSON"),
        (b'{"images": [' + b"1" * 5000 + b'], "annotations": [], "categories": []}', "file", "is no JSON"),
    ],
)
def test_what_is_no_coco_file_is_refused_as_a_whole(content, kind, words):
    pictures, report = imported({"a.png": photograph(), "bad.json": content}, format="coco")

    assert pictures == []
    assert told(report) == [("file", kind, "bad.json", ""), ("picture", "not_named", "a.png", "")]
    assert words in report.refusals[0].reason


def test_an_entry_without_end_is_refused_before_it_fills_the_memory():
    content = b'{"images": [{"file_name": "' + b"x" * 3_000_000 + b'"}], "annotations": [], "categories": []}'
    limits = ImportLimits(max_row_characters=100_000)

    _, report = imported({"bad.json": content}, format="coco", limits=limits)

    assert "an entry of more than 100,000 characters" in report.refusals[0].reason


def test_a_file_beyond_its_limit_is_refused():
    content = coco([IMAGE], [row(1, [1, 1, 9, 9])], [DOG])

    _, report = imported({"big.json": content}, format="coco", limits=ImportLimits(max_note_bytes=200))

    assert "holds more than" in report.refusals[0].reason


@pytest.mark.parametrize(
    "limits", [ImportLimits(max_things=2), ImportLimits(max_held_bytes=50)], ids=["things", "outlines"]
)
def test_too_many_things_end_the_import(limits):
    outline = [[20, 10, 50, 10, 50, 30, 20, 30]]

    with pytest.raises(SeedImportError, match="more than"):
        one([row(n, [20, 10, 30, 20], segmentation=outline) for n in range(3)], limits=limits)


def test_boxes_of_a_label_are_those_of_its_things():
    pictures, _ = one([row(1, [1, 1, 9, 9]), row(2, [2, 2, 5, 5], category=1), row(3, [30, 1, 9, 9])])

    assert pictures[0].boxes_of("dog") == ((1, 1, 10, 10), (30, 1, 39, 10))
    assert pictures[0].boxes_of("cat") == ()


def test_a_thing_whose_only_mask_does_not_fit_is_refused():
    _, report = one([row(1, None, segmentation=[[1, 1, 500, 1, 500, 50]])])

    assert told(report)[0] == ("thing", "box", "annotations/instances_val2017.json", "annotations 1")
    assert "has no box, and has a mask that has a point outside" in report.refusals[0].reason


@given(st.permutations(["images", "annotations", "categories", "info"]), st.integers(0, 3))
def test_the_order_of_keys_does_not_matter(order, indent):
    parts = {
        "images": [IMAGE],
        "annotations": [row(1, [1, 1, 9, 9])],
        "categories": [DOG],
        "info": {"images": ["not these"]},
    }
    content = json.dumps({key: parts[key] for key in order}, indent=indent).encode("utf-8-sig")

    pictures, report = imported({"000000000139.jpg": photograph(form="JPEG"), "x.json": content})

    assert (truth(pictures[0]), told(report)) == ([("dog", (1, 1, 10, 10))], [])
