"""COCO, YOLO and VOC: written, read back, and the traps of other tools."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlmlab.core.studies.box_files import (
    BoxedImage,
    BoxFileError,
    LabelledBox,
    coco_text,
    read_coco,
    read_voc,
    read_yolo,
    voc_text,
    yolo_names,
    yolo_text,
)


def image(*corners, size=(640, 480), name="a.png", label="cone"):
    return BoxedImage(name, *size, tuple(LabelledBox(label, one) for one in corners))


def voc_corners(text):
    return [tuple(one.corners) for one in read_voc(text).boxes]


def test_a_box_of_the_whole_picture_in_each_format():
    whole = image((0.0, 0.0, 640.0, 480.0))

    (coco,) = json.loads(coco_text([whole], info={}))["annotations"]
    voc = voc_text(whole)

    assert coco["bbox"] == [0.0, 0.0, 640.0, 480.0]
    assert [
        f"<{name}>{value}</{name}>" in voc
        for name, value in (("xmin", 1), ("ymin", 1), ("xmax", 640), ("ymax", 480))
    ] == [True] * 4
    assert yolo_text(whole, ["cone"]) == "0 0.500000 0.500000 1.000000 1.000000\n"


def test_all_four_numbers_of_an_asymmetric_box_are_right_in_each_format():
    one = image((11.0, 23.0, 57.0, 101.0), size=(200, 400))

    (coco,) = json.loads(coco_text([one], info={}))["annotations"]

    assert (coco["bbox"], coco["area"]) == ([11.0, 23.0, 46.0, 78.0], 46.0 * 78.0)
    assert voc_corners(voc_text(one)) == [(11.0, 23.0, 57.0, 101.0)]
    assert yolo_text(one, ["cone"]) == "0 0.170000 0.155000 0.230000 0.195000\n"


EDGES = [(444, 998, 534, 1080), (1828, 710, 1920, 814), (0, 138, 80, 208)]


@pytest.mark.parametrize("corners", EDGES)
def test_yolo_boxes_on_an_edge_stay_inside_when_they_are_read(corners):
    line = yolo_text(image(tuple(map(float, corners)), size=(1920, 1080)), ["cone"])

    x, y, width, height = (float(value) for value in line.split()[1:])

    assert x - width / 2 >= 0
    assert x + width / 2 <= 1
    assert y - height / 2 >= 0
    assert y + height / 2 <= 1


sides = st.tuples(st.integers(1, 12_000), st.integers(1, 12_000))


@given(size=sides, shares=st.tuples(*[st.floats(0, 1)] * 4))
def test_yolo_stays_inside_and_comes_back_within_millionths_of_the_picture(size, shares):
    width, height = size
    left, right = sorted((shares[0] * width, shares[1] * width))
    top, bottom = sorted((shares[2] * height, shares[3] * height))
    one = image((left, top, right, bottom), size=size)

    back = read_yolo(yolo_text(one, ["cone"]), names=["cone"], file_name="a.png", width=width, height=height)

    (box,) = back.boxes
    x, y, wide, high = (float(value) for value in yolo_text(one, ["cone"]).split()[1:])
    assert 0 <= x - wide / 2 <= x + wide / 2 <= 1
    assert 0 <= y - high / 2 <= y + high / 2 <= 1
    for found, given_, side in zip(box.corners, (left, top, right, bottom), (width, height) * 2, strict=True):
        assert found == pytest.approx(given_, abs=3e-6 * side)


def test_coco_comes_back_exactly_with_each_pictures_own_size():
    images = [
        image((1.25, 2.5, 100.125, 99.0), (3.0, 4.0, 5.0, 6.0), size=(261, 193), name="a.png"),
        image(size=(1600, 1200), name="empty.png"),
        BoxedImage("c.png", 33, 21, (LabelledBox("person", (0.0, 0.0, 33.0, 21.0)),)),
    ]

    assert read_coco(coco_text(images, info={"description": "x"})) == images


def test_a_box_near_the_right_edge_of_a_wide_picture_does_not_move():
    wide = image((1800.0, 10.0, 1919.0, 590.0), size=(1920, 600))

    assert read_coco(coco_text([wide], info={})) == [wide]


def test_whole_pixels_come_back_exactly_from_voc():
    one = BoxedImage("a & <b>.png", 261, 193, (LabelledBox("stop sign", (10.0, 20.0, 30.0, 40.0)),))

    assert read_voc(voc_text(one)) == one


def test_voc_holds_every_pixel_that_a_box_touches():
    assert voc_corners(voc_text(image((10.2, 20.0, 30.1, 40.9)))) == [(10.0, 20.0, 31.0, 41.0)]


@pytest.mark.parametrize(
    "name", ["Capture_d\u00e9cran (1) 测试 😀.png", "Capture_de\u0301cran (1) 测试 😀.png"]
)
def test_names_of_any_script_stay_as_they_are(name):
    one = image((1.0, 1.0, 5.0, 5.0), name=name)

    assert read_coco(coco_text([one], info={}))[0].file_name == name
    assert read_voc(voc_text(one)).file_name == name
    assert name in coco_text([one], info={})


def test_labels_have_numbers_in_sorted_order():
    images = [BoxedImage("a.png", 9, 9, (LabelledBox("b", (0, 0, 3, 3)), LabelledBox("a", (0, 0, 9, 9))))]

    assert yolo_names(images) == ["a", "b"]
    assert [line[0] for line in yolo_text(images[0], ["a", "b"]).splitlines()] == ["1", "0"]


def test_extra_fields_are_kept_by_coco_and_cannot_replace_its_own():
    one = BoxedImage(
        "a.png", 9, 9, (LabelledBox("a", (0, 0, 3, 3), {"participant": 4, "id": 99}),), {"case": 7}
    )

    content = json.loads(coco_text([one], info={}))

    assert (content["images"][0]["case"], content["annotations"][0]["participant"]) == (7, 4)
    assert content["annotations"][0]["id"] == 1


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"images": [], "annotations": [{}], "categories": []}', "nul"]
)
def test_what_is_no_coco_file_is_refused(text):
    with pytest.raises(BoxFileError, match="no COCO"):
        read_coco(text)


@pytest.mark.parametrize("line", ["1 0.5", "x 0.5 0.5 1 1", "7 0.5 0.5 1 1", "0 0.5 0.5 1 y"])
def test_a_wrong_yolo_line_is_named(line):
    with pytest.raises(BoxFileError, match=r"Line 2 of a\.txt"):
        read_yolo(f"0 0.5 0.5 1 1\n{line}\n", names=["cone"], file_name="a.txt", width=9, height=9)


@pytest.mark.parametrize("text", ["", "<annotation/>", "<annotation>", "<a><filename>x</filename></a>"])
def test_what_is_no_voc_file_is_refused(text):
    with pytest.raises(BoxFileError, match="no Pascal VOC"):
        read_voc(text)


def test_a_voc_file_with_entities_is_refused():
    with pytest.raises(BoxFileError, match="declaration"):
        read_voc('<!DOCTYPE a [<!ENTITY b "c">]><annotation/>')


@pytest.mark.parametrize("line", ["-1 0.5 0.5 1 1", "0 nan 0.5 1 1", "0 0.5 inf 1 1", "0 0.5 0.5 -0.1 1"])
def test_a_yolo_line_that_names_no_box_is_refused(line):
    with pytest.raises(BoxFileError, match=r"Line 1 of a\.txt"):
        read_yolo(line, names=["cone"], file_name="a.txt", width=9, height=9)


def coco_of(bbox="[0, 0, 1, 1]", width="9"):
    return (
        f'{{"images": [{{"id": 1, "file_name": "a", "width": {width}, "height": 9}}],'
        f'"annotations": [{{"image_id": 1, "category_id": 1, "bbox": {bbox}}}],'
        '"categories": [{"id": 1, "name": "cone"}]}'
    )


@pytest.mark.parametrize(
    "text",
    [
        coco_of("[0, 0, NaN, 1]"),
        coco_of("[0, 0, Infinity, 1]"),
        coco_of("[5, 5, -1, 1]"),
        coco_of(f"[0, 0, 1{'0' * 400}, 1]"),
        coco_of(width="1e999"),
        coco_of(width="0"),
        "[" * 100_000,
    ],
)
def test_a_coco_file_with_impossible_numbers_or_depth_is_refused(text):
    assert len(read_coco(coco_of())) == 1
    with pytest.raises(BoxFileError, match="no COCO"):
        read_coco(text)


@pytest.mark.parametrize(
    ("found", "wrong"), [("<xmin>2<", "<xmin>nan<"), ("<xmin>2<", "<xmin>9<"), ("<width>9<", "<width>0<")]
)
def test_a_voc_file_with_impossible_numbers_is_refused(found, wrong):
    text = voc_text(image((1.0, 1.0, 5.0, 5.0), size=(9, 9)))

    assert text.count(found) == 1
    with pytest.raises(BoxFileError, match="no Pascal VOC"):
        read_voc(text.replace(found, wrong))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\x0b", "\x1c", "\x85", "\u2028"])
def test_a_label_with_a_line_end_stays_one_line_of_text_formats_and_whole_in_coco(end):
    one = image((1.0, 1.0, 5.0, 5.0), label=f"stop{end}sign", size=(9, 9))

    assert yolo_names([one]) == ["stop sign"]
    assert yolo_text(one, ["cone", "stop sign"]).startswith("1 ")
    assert read_voc(voc_text(one)).boxes[0].label == "stop sign"
    assert read_coco(coco_text([one], info={})) == [one]


def test_a_box_without_extent_on_the_last_edge_is_the_last_pixel_in_voc():
    assert voc_corners(voc_text(image((640.0, 480.0, 640.0, 480.0)))) == [(639.0, 479.0, 640.0, 480.0)]
