"""COCO files: what COCO's own reader makes of them, piece by piece without holding all."""

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pycocotools.coco import COCO

from vlmlab.core.scenes.coco import CocoPicture, CocoThing, coco_json
from vlmlab.core.scenes.masks import encode_mask


def written(pictures, tmp_path, **values):
    path = tmp_path / "coco.json"
    path.write_text("".join(coco_json(lambda: iter(pictures), **{"info": {"description": "Two"}} | values)))
    return COCO(str(path))


def test_boxes_areas_categories_and_masks_come_back(tmp_path):
    mask = np.zeros((10, 20), np.bool_)
    mask[2:6, 3:8] = True
    cone = CocoThing("cone", (3.0, 2.0, 8.0, 6.0), 20.0, encode_mask(mask), {"concept": "cone"})
    bin_ = CocoThing("bin", (0.0, 0.0, 4.0, 10.0), 40.0)
    pictures = [
        CocoPicture("a.png", 20, 10, (cone, bin_), {"sha256": "ab"}),
        CocoPicture("b.png", 20, 10, ()),
    ]

    coco = written(pictures, tmp_path, licences=[{"id": 1, "name": "CC0", "url": ""}])

    assert {one["id"]: one["name"] for one in coco.loadCats(coco.getCatIds())} == {1: "bin", 2: "cone"}
    assert [(one["id"], one["file_name"], one.get("sha256")) for one in coco.loadImgs([1, 2])] == [
        (1, "a.png", "ab"),
        (2, "b.png", None),
    ]
    first, second = coco.loadAnns([1, 2])
    assert (first["bbox"], first["area"], first["category_id"], first["concept"]) == (
        [3, 2, 5, 4],
        20,
        2,
        "cone",
    )
    assert np.array_equal(coco.annToMask(first).astype(bool), mask)
    assert (second["bbox"], second["segmentation"], coco.getAnnIds(imgIds=[2])) == ([0, 0, 4, 10], [], [])
    assert coco.dataset["licenses"] == [{"id": 1, "name": "CC0", "url": ""}]


def test_no_picture_at_all_is_a_valid_file(tmp_path):
    coco = written([], tmp_path)

    assert (coco.getImgIds(), coco.getAnnIds(), coco.getCatIds()) == ([], [], [])


def test_pictures_are_asked_for_anew_each_time_and_sent_one_by_one():
    asked = []

    def pictures():
        asked.append(1)
        return (
            CocoPicture(f"{number}.png", 4, 3, (CocoThing("x", (0, 0, 1, 1), 1.0),)) for number in range(50)
        )

    pieces = list(coco_json(pictures, info={}))

    assert (len(asked), len(pieces) > 100, max(map(len, pieces)) < 400) == (3, True, True)


@given(st.lists(st.lists(st.text(min_size=1, max_size=8), max_size=4), max_size=5))
def test_every_thing_names_a_picture_and_a_category_that_there_are(labels):
    pictures = [
        CocoPicture(f"{number}.png", 8, 8, tuple(CocoThing(name, (0, 0, 2, 2), 4.0) for name in names))
        for number, names in enumerate(labels)
    ]

    content = json.loads("".join(coco_json(lambda: pictures, info={})))

    names = {one["id"]: one["name"] for one in content["categories"]}
    images = {one["id"]: one["file_name"] for one in content["images"]}
    told = [(images[one["image_id"]], names[one["category_id"]]) for one in content["annotations"]]
    assert told == [(f"{number}.png", name) for number, row in enumerate(labels) for name in row]
    assert [one["id"] for one in content["annotations"]] == list(range(1, len(told) + 1))
