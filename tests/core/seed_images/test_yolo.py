"""YOLO label files as they are found: shares beyond 1 by rounding, outlines, poses, lists of classes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.seed_images.sources import imported, photograph, red_box, told, truth
from vlmlab.core.scenes.masks import decode_mask

YAML = b"path: ../datasets/x\ntrain: images/train\nnames:\n  0: cat\n  1: dog\n  7: traffic light\n"


def one(
    lines: str | bytes,
    *,
    classes: tuple[str, bytes] = ("data.yaml", YAML),
    picture: bytes | None = None,
    **more,
):
    content = lines if isinstance(lines, bytes) else lines.encode()
    files = {
        "images/train/a.jpg": picture or photograph(form="JPEG"),
        "labels/train/a.txt": content,
        classes[0]: classes[1],
    }
    return imported(files, **more)


def test_a_box_is_centre_and_size_in_shares():
    picture = photograph(marked=(20, 15, 60, 45))

    pictures, report = one("1 0.5 0.5 0.5 0.5\n", picture=picture)

    assert truth(pictures[0]) == [("dog", (20, 15, 60, 45))]
    assert red_box(pictures[0]) == (20, 15, 60, 45)
    assert told(report) == []


@pytest.mark.parametrize(
    "line",
    [
        "1 0.5 0.5 1.0000001 1.0000001",
        "1 0.500000 0.500000 1.000000 1.000000 ",
        "1\t0.5\t0.5\t1\t1\r",
        "1.000000 0.5 .5 1 1e0",
        "\ufeff1 0.5 0.5 1 1",
        "1 0.5 0.5 1.01 1",
    ],
)
def test_shares_a_little_beyond_1_are_the_whole_picture_however_they_are_written(line):
    pictures, report = one(line)

    assert (truth(pictures[0]), told(report)) == ([("dog", (0, 0, 80, 60))], [])


def test_an_outline_becomes_a_mask_and_its_tight_box():
    pictures, report = one("0 0.25 0.25 0.75 0.25 0.75 0.75 0.25 0.75")

    mask = decode_mask(pictures[0].things[0].mask, width=80, height=60)
    wanted = np.zeros((60, 80), np.bool_)
    wanted[15:45, 20:60] = True
    assert truth(pictures[0]) == [("cat", (20, 15, 60, 45))]
    assert (mask == wanted).all()
    assert told(report) == []


def test_an_outline_a_little_beyond_1_keeps_its_mask():
    pictures, report = one("0 0 0 1.0000001 0 1.0000001 1.0000001 0 1")

    assert truth(pictures[0]) == [("cat", (0, 0, 80, 60))]
    assert pictures[0].things[0].mask != ""
    assert told(report) == []


def test_boxes_of_poses_are_read_and_their_points_are_not():
    classes = ("data.yaml", b"kpt_shape: [3, 3]\nnames: [person]\n")

    pictures, report = one("0 0.5 0.5 0.5 0.5 .3 .3 2 .4 .4 1 0 0 0", classes=classes)

    assert (truth(pictures[0]), told(report)) == ([("person", (20, 15, 60, 45))], [])


@pytest.mark.parametrize(
    ("line", "kind", "words"),
    [
        ("1 0.5 0.5 0.5 0.5 0.93", "row", "predictions with a confidence"),
        ("1 40 30 20 10", "outside", "numbers in pixels"),
        ("1 0.9 0.5 0.5 0.5", "outside", "reaches beyond"),
        ("1 0.5 0.5 0 0.5", "no_area", "less than a pixel"),
        ("1 0.5 0.5 -0.2 0.5", "box", "-0.2 x 0.5"),
        ("1 0.5 0.5 0.2", "row", "4 numbers"),
        ("1 0.5 0.5 0.2 nan", "box", "“nan” for number 5"),
        ("1 0.5 0,5 0.2 0.2", "box", "“0,5” for number 3"),
        ("1", "row", "1 numbers"),
    ],
)
def test_a_wrong_line_is_refused_with_its_number(line, kind, words):
    pictures, report = one(f"0 0.5 0.5 0.5 0.5\n\n{line}\n")

    assert told(report) == [("thing", kind, "labels/train/a.txt", "line 3")]
    assert words in report.refusals[0].reason
    assert (pictures[0].asked_labels, pictures[0].unsure_labels) == (("cat",), ("dog",))


@pytest.mark.parametrize("line", ["dog 0.5 0.5 0.5 0.5", "-1 0.5 0.5 0.5 0.5", "0.5 0.5 0.5 0.5 0.5"])
def test_a_line_without_a_class_costs_the_picture(line):
    pictures, report = one(f"0 0.5 0.5 0.5 0.5\n{line}\n")

    assert pictures == []
    assert [(one.scope, one.kind) for one in report.refusals] == [("thing", "row"), ("picture", "hole")]


def test_a_class_without_a_name_is_refused_and_the_others_are_kept():
    pictures, report = one("0 0.5 0.5 0.5 0.5\n2 0.5 0.5 0.5 0.5\n")

    assert told(report) == [("thing", "class_name", "labels/train/a.txt", "line 2")]
    assert pictures[0].asked_labels == ("cat",)


@pytest.mark.parametrize(
    "classes",
    [
        ("data.yaml", b"nc: 2\nnames: ['cat', \"dog\"]\n"),
        ("data.yml", b"names:\n- cat\n- dog\n"),
        ("classes.txt", b"cat\r\ndog\r\n\r\n"),
        ("labels/train/classes.txt", "\ufeffcat\ndog".encode()),
        ("obj.names", b"cat\ndog\n"),
        ("train/_darknet.labels", b"cat\ndog"),
    ],
)
def test_classes_are_named_by_every_usual_file(classes):
    pictures, report = one("1 0.5 0.5 0.5 0.5", classes=classes, format="yolo")

    assert (pictures[0].asked_labels, told(report)) == (("dog",), [])


def test_classes_without_any_names_can_be_mapped_by_number():
    pictures, _ = one("1 0.5 0.5 0.5 0.5", classes=("README.md", b""), labels={"1": "dog"})

    assert pictures[0].asked_labels == ("dog",)


def test_files_that_name_a_class_differently_are_refused():
    files = {
        "a.png": photograph(),
        "a.txt": b"0 0.5 0.5 0.5 0.5",
        "classes.txt": b"cat\n",
        "data.yaml": b"names: [dog]\n",
    }

    pictures, report = imported(files)

    assert pictures == []
    assert "calls the class 0 “dog”, and classes.txt calls it “cat”" in report.refusals[0].reason


@pytest.mark.parametrize(
    "content",
    [
        b"a: &a [x, x]\nb: &b [*a, *a]\nnames: [*b, *b]\n",
        b"names: !!python/object/apply:os.system ['true']\n",
        b"names: [" * 50,
        b"names: 7\n",
        b"\xff\xfe\x00",
    ],
)
def test_a_class_file_that_could_grow_or_run_is_refused(content):
    pictures, report = one("1 0.5 0.5 0.5 0.5", classes=("data.yaml", content))

    assert pictures == []
    assert ("file", "file", "data.yaml", "") in told(report)


@pytest.mark.parametrize(
    ("picture", "labels"),
    [
        ("train/images/x.y.jpg", "train/labels/x.y.txt"),
        ("obj_train_data/x.jpg", "obj_train_data/x.txt"),
        ("x.JPG", "x.txt"),
        ("images/x.jpg", "labels/x.jpg.txt"),
    ],
)
def test_label_files_find_their_pictures_in_every_usual_layout(picture, labels):
    pictures, report = imported(
        {picture: photograph(form="JPEG"), labels: b"0 .5 .5 .5 .5", "classes.txt": b"cat"}
    )

    assert ([one.file for one in pictures], told(report)) == ([picture], [])


def test_lists_and_readmes_are_no_label_files_and_missing_pictures_are_refused():
    files = {
        "train/images/a.jpg": photograph(form="JPEG"),
        "train/labels/a.txt": b"0 .5 .5 .5 .5",
        "train/labels/gone.txt": b"0 .5 .5 .5 .5",
        "train.txt": b"train/images/a.jpg\n",
        "README.roboflow.txt": b"exported by ...",
        "data.yaml": YAML,
    }

    pictures, report = imported(files)

    assert len(pictures) == 1
    assert told(report) == [("file", "missing_picture", "train/labels/gone.txt", "")]


def test_an_empty_label_file_says_that_nothing_is_there():
    _, report = one("")

    assert told(report) == [("picture", "nothing_to_ask", "images/train/a.jpg", "")]


def test_a_label_file_that_is_no_text_is_refused():
    _, report = one(b"\x89\xff\xfe")

    assert told(report)[0] == ("file", "file", "labels/train/a.txt", "")


@given(st.integers(0, 70), st.integers(0, 50), st.integers(2, 10), st.integers(2, 10), st.integers(6, 17))
def test_any_box_comes_back_within_the_digits_it_was_written_with(x, y, width, height, digits):
    shares = (x + width / 2) / 80, (y + height / 2) / 60, width / 80, height / 60

    pictures, report = one("0 " + " ".join(f"{share:.{digits}f}" for share in shares))

    assert told(report) == []
    found = pictures[0].things[0].box
    assert found == pytest.approx((x, y, x + width, y + height), abs=2e-4)
