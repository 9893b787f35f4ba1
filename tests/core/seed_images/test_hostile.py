"""Broken and hostile sources: an import ends with pictures, refusals or a sentence, whatever they hold."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.core.seed_images.sources import coco, imported, photograph, thing, voc
from vlmlab.core.seed_images.faults import SeedImportError
from vlmlab.core.seed_images.report import ImportReport
from vlmlab.core.seed_images.settings import ImportLimits

PICTURE = photograph(form="JPEG")
NOTES = {
    "coco": (
        "notes.json",
        coco(
            [{"id": 1, "file_name": "a.jpg", "width": 80, "height": 60}],
            [
                {
                    "id": 1,
                    "image_id": 1,
                    "category_id": 1,
                    "bbox": [1, 1, 9, 9],
                    "segmentation": [[1, 1, 9, 1, 9, 9]],
                },
                {
                    "id": 2,
                    "image_id": 1,
                    "category_id": 1,
                    "segmentation": {"size": [60, 80], "counts": [0, 100, 4700]},
                },
            ],
            [{"id": 1, "name": "dog"}],
        ),
    ),
    "voc": ("a.xml", voc("a.jpg", thing("dog", (1, 1, 9, 9)) + thing("cat", (2, 2, 30, 30)))),
    "ilsvrc": ("a.xml", voc("a", thing("n02084071", (1, 1, 9, 9)))),
    "yolo": ("a.txt", b"0 0.5 0.5 0.5 0.5\n0 0.1 0.1 0.9 0.1 0.9 0.9\n"),
    "udacity": ("labels.csv", b'a.jpg 1 1 30 30 0 "car"\na.jpg 5 5 30 30 1 "trafficLight" "Red"\n'),
    "table": ("boxes.csv", b'file,label,x_min,y_min,x_max,y_max\na.jpg,"a ""big"" dog",1,1,30,30\n'),
}
MORE = {
    "classes.txt": b"dog\n",
    "map_det.txt": b"n02084071 58 dog\n",
    "strata.csv": b"file,stratum\na.jpg,street\n",
}

anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from([10**400, "1e999"]),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def survives(files: dict[str, bytes], **more) -> tuple[int, ImportReport | None]:
    """Return how many pictures came; nothing but a sentence for a person may be raised."""
    try:
        pictures, report = imported(files, **more)
    except SeedImportError:
        return 0, None
    for picture in pictures:
        for one in picture.things:
            x_min, y_min, x_max, y_max = one.box
            assert 0 <= x_min < x_max <= picture.image.width
            assert 0 <= y_min < y_max <= picture.image.height
            assert one.label.strip() != ""
        assert picture.asked_labels != ()
    for refusal in report.refusals:
        assert all("\n" not in text for text in (refusal.file, refusal.row, refusal.reason))
        assert refusal.hint != ""
    return len(pictures), report


@pytest.mark.parametrize("name", NOTES)
def test_the_sources_below_are_sound_before_they_are_broken(name):
    count, report = survives({"a.jpg": PICTURE, **dict([NOTES[name]]), **MORE}, format=name)

    assert (count, report.counts) == (1, {})


@pytest.mark.parametrize("name", NOTES)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_bytes_that_are_changed_lost_or_added_break_nothing(name, data):
    file, content = NOTES[name]
    place = data.draw(st.integers(0, len(content)))
    length = data.draw(st.integers(0, 12))
    new = data.draw(
        st.binary(max_size=6) | st.sampled_from([b'"', b"<", b"\n", b",", b"-", b"9" * 30, b"{", b"[", b"e9"])
    )

    survives({"a.jpg": PICTURE, file: content[:place] + new + content[place + length :], **MORE}, format=name)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_anything_in_the_place_of_a_field_of_a_coco_file_breaks_nothing(data):
    content = json.loads(NOTES["coco"][1])
    part = data.draw(st.sampled_from(["images", "annotations", "categories"]))
    fields = [
        "id",
        "image_id",
        "category_id",
        "bbox",
        "segmentation",
        "iscrowd",
        "file_name",
        "width",
        "name",
        "stratum",
    ]
    row = content[part][0]
    row[data.draw(st.sampled_from(fields))] = data.draw(anything)

    survives({"a.jpg": PICTURE, "notes.json": json.dumps(content).encode()}, format="coco")


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text(alphabet="0123456789.,;-+eE\"' naif\t", max_size=30), max_size=5),
    st.sampled_from(sorted(NOTES)),
)
def test_rows_of_any_signs_break_nothing(rows, name):
    file, content = NOTES[name]

    survives({"a.jpg": PICTURE, file: content + "\n".join(rows).encode(), **MORE}, format=name)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, len(PICTURE)), st.binary(max_size=20))
def test_a_picture_with_changed_bytes_is_taken_or_refused(place, new):
    files = {"a.jpg": PICTURE[:place] + new + PICTURE[place + len(new) :], **dict([NOTES["table"]])}

    survives(files, format="table")


def test_files_that_list_without_end_are_ended():
    listed = coco(
        [{"id": n, "file_name": f"{n}.jpg"} for n in range(200)],
        [],
        [{"id": n, "name": str(n)} for n in range(50)],
    )
    table = "file,label,x_min,y_min,x_max,y_max\n" + "".join(
        f"a.jpg,thing {n},1,1,30,30\n" for n in range(50)
    )

    for notes, limits, words in (
        ({"x.json": listed}, ImportLimits(max_listed=100), "lists more than 100 images"),
        ({"x.json": listed}, ImportLimits(max_listed=20), "lists more than 20 images"),
        ({"x.json": listed}, ImportLimits(max_labels=20), "more than 20 different labels"),
        ({"x.csv": table.encode()}, ImportLimits(max_labels=20), "more than 20 different labels"),
    ):
        with pytest.raises(SeedImportError, match=words):
            imported({"a.jpg": PICTURE, **notes}, limits=limits)
