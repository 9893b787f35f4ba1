"""The entrance: formats told by their files, one picture in memory at a time, a complete report."""

from itertools import islice

import pytest
from pydantic import ValidationError

from tests.core.seed_images.sources import coco, imported, photograph, thing, told, voc
from vlmlab.core.seed_images.faults import KINDS, FaultError, SeedImportError
from vlmlab.core.seed_images.files import ReadFiles
from vlmlab.core.seed_images.importing import FORMATS, LookedAt, import_pictures, import_steps
from vlmlab.core.seed_images.report import ImportReport, Place, shown
from vlmlab.core.seed_images.settings import ImportLimits, ImportSettings

TABLE = b"file,label,x_min,y_min,x_max,y_max\na.png,dog,1,1,30,30\n"
COCO = coco(
    [{"id": 1, "file_name": "a.png"}],
    [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 9, 9]}],
    [{"id": 1, "name": "dog"}],
)
AUTTI = b'a.jpg 1 1 30 30 0 "car"\n'
SOURCES = {
    "coco": {"notes.json": COCO, "package.json": b'{"name": "x"}'},
    "voc": {"a.xml": voc("a.png", thing("dog", (1, 1, 9, 9)))},
    "yolo": {"a.txt": b"0 .5 .5 .5 .5", "classes.txt": b"dog"},
    "ilsvrc": {"a.xml": voc("a", thing("n02084071", (1, 1, 9, 9))), "map_det.txt": b"n02084071 58 dog"},
    "udacity": {"labels.csv": AUTTI, "a.jpg": photograph(30, form="JPEG")},
    "table": {"boxes.csv": TABLE},
}


def test_every_format_has_a_source_here():
    assert set(SOURCES) == set(FORMATS)


@pytest.mark.parametrize("name", SOURCES)
def test_the_format_is_told_by_the_files_and_can_be_told_by_hand(name):
    files = {"a.png": photograph(), **SOURCES[name]}

    by_itself, _ = imported(files)
    by_hand, _ = imported(files, format=name)

    assert [len(one.things) for one in by_itself] == [1]
    assert by_itself == by_hand


def test_files_of_two_formats_need_a_choice():
    files = {"a.png": photograph(), **SOURCES["voc"], **SOURCES["yolo"]}

    with pytest.raises(SeedImportError, match="could be read as voc or as yolo") as error:
        imported(files)
    pictures, _ = imported(files, format="yolo")

    assert (error.value.field, len(pictures)) == ("format", 1)


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"a.png": b""},
        {"x.json": b"{}"},
        {"x.xml": b"<html/>"},
        {"x.csv": b"a,b\n"},
        {"x.csv": b"\x00\xff"},
    ],
)
def test_a_source_without_descriptions_is_said(files):
    with pytest.raises(SeedImportError, match="No file says what the pictures show"):
        imported(files)


def test_a_file_that_may_have_said_it_but_cannot_be_read_is_named():
    with pytest.raises(SeedImportError) as refusal:
        imported({"a.png": photograph(), "a.xml": b"<!DOCTYPE a [<!ENTITY b 'c'>]><annotation/>"})

    assert refusal.value.message == (
        "No file says what the pictures show, and a.xml declares a document type, which could make it grow "
        "without end."
    )


def test_pictures_that_no_file_describes_are_told():
    _, report = imported({"a.png": photograph(), "b.png": photograph(9), "boxes.csv": TABLE})

    assert told(report) == [("picture", "not_named", "b.png", "")]


def test_pictures_come_one_by_one_and_only_what_is_asked_for_is_opened():
    opened = []
    files = {f"{n}.png": photograph(n) for n in range(5)}
    files["boxes.csv"] = TABLE.splitlines()[0] + b"".join(b"\n%d.png,dog,1,1,30,30" % n for n in range(5))

    def read(name: str) -> bytes:
        opened.append(name)
        return files[name]

    pictures = import_pictures(ReadFiles(tuple(files), read), report=ImportReport())
    next(pictures)

    assert [name for name in opened if name.endswith(".png")] == ["0.png"]


def test_the_same_source_gives_the_same_pictures_and_the_same_report():
    files = {
        "a.png": photograph(),
        "b.png": photograph(),
        "boxes.csv": TABLE + b"b.png,cat,1,1,3,3\nb.png,x,9,1,3,3\n",
    }

    first, second = imported(files), imported(dict(reversed(files.items())))

    assert first[0] == second[0]
    assert first[1].refusals == second[1].refusals


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (ImportLimits(max_files=1), "more than 1 files"),
        (ImportLimits(max_pictures=1), "more than 1 pictures"),
    ],
)
def test_too_large_a_source_ends_the_import(limits, words):
    files = {"a.png": photograph(), "b.png": photograph(9), "boxes.csv": TABLE + b"b.png,dog,1,1,30,30\n"}

    with pytest.raises(SeedImportError, match=words):
        imported(files, limits=limits)


def test_an_annotation_file_that_is_not_there_is_said():
    with pytest.raises(SeedImportError, match="annotation file is not in the source") as error:
        imported({"a.png": photograph(), "boxes.csv": TABLE}, annotation_file="other.csv")

    assert error.value.field == "annotation_file"


@pytest.mark.parametrize("mapping", [{"dog": ""}, {"": "dog"}, {"dog": "x" * 101}, {"dog": "a\x00b"}])
def test_a_mapping_that_cannot_be_used_is_said(mapping):
    with pytest.raises(SeedImportError) as error:
        imported({"a.png": photograph(), "boxes.csv": TABLE}, labels=mapping)

    assert error.value.field == "labels"


def test_settings_are_frozen_and_refuse_what_they_do_not_know():
    with pytest.raises(ValidationError):
        ImportSettings(formats="coco")
    with pytest.raises(ValidationError):
        ImportSettings().format = "voc"


# The report


def test_a_report_keeps_the_first_refusals_counts_all_and_tells_all():
    seen = []
    report = ImportReport(on_refusal=seen.append, max_kept=2)

    for number in range(5):
        report.refuse(
            "thing", Place("a.csv", f"row {number}"), FaultError("box", "is wrong"), picture="a.png"
        )
    report.refuse("picture", Place("a.png"), FaultError("picture", "is torn"))

    assert [one.row for one in report.refusals] == ["row 0", "row 1"]
    assert (report.n_refused, report.lost("thing"), report.lost("picture"), report.lost("mask")) == (
        6,
        5,
        1,
        0,
    )
    assert [one.row for one in seen] == ["row 0", "row 1", "row 2", "row 3", "row 4", ""]
    assert str(seen[0]) == "a.csv, row 0: is wrong. Correct the box, or take it out."


def test_words_of_a_report_are_printable_and_short():
    assert shown("a\nb\x1b[31m\u202e") == "a?b?[31m?"
    assert shown("می‌خواهم") == "می‌خواهم"
    assert len(shown("x" * 10_000)) == 301


def test_a_fault_has_a_kind_with_words_for_it():
    with pytest.raises(ValueError, match="kind must be one of"):
        FaultError("other", "is wrong")
    assert all(hint.endswith(".") for hint in KINDS.values())


MIXED = {
    **{f"{name}.png": photograph(shade) for shade, name in enumerate("abc", start=20)},
    "d.png": b"damaged",
    "nobody.png": photograph(90),
    "a/a.xml": voc("a.png", thing("dog", (1, 1, 9, 9)) + thing("cat", (70, 1, 99, 9))),
    "b.xml": voc("b.png", thing("dog", (5, 5, 5, 9))),
    "c.xml": voc("c.png", thing("Dog", (1, 1, 9, 9)) + thing("Dog", (1, 1, 9, 9))),
    "d.xml": voc("d.png", thing("dog", (1, 1, 9, 9))),
    "e.xml": voc("e.png", thing("dog", (1, 1, 9, 9))),
    "f.xml": b"<annotation>",
}
MANY = {
    "coco": {
        **{f"{name}.png": photograph(shade) for shade, name in enumerate("abc", start=20)},
        "notes.json": coco(
            [{"id": n, "file_name": f"{name}.png"} for n, name in enumerate("abcx", start=1)],
            [
                {"id": 10 * n, "image_id": n, "category_id": 1 + n % 2, "bbox": [1, 1, 9 * (n != 2), 9]}
                for n in (1, 2, 2, 3, 4, 9)
            ],
            [{"id": 1, "name": "dog"}, {"id": 2, "name": "cat"}],
        ),
    },
    "voc": MIXED,
}


@pytest.mark.parametrize("name", MANY)
@pytest.mark.parametrize("parts", [(1, 1, 1, None), (2, None), (3, None)])
def test_an_import_that_is_cut_and_goes_on_gives_the_same_pictures_and_report(name, parts):
    whole, report = imported(MANY[name])
    source = ReadFiles(tuple(MANY[name]), MANY[name].__getitem__)

    again, found, n_described = ImportReport(), [], 0
    for length in parts:
        before = LookedAt(n_described, {one.image.sha256: one.file for one in found})
        steps = list(islice(import_steps(source, report=again, before=before), length))
        n_described += len(steps)
        found += [one for one in steps if one is not None]

    assert found == whole
    assert (len(told(report)) > 0, told(again), again.counts) == (True, told(report), report.counts)
    assert (again.n_pictures, again.n_things) == (report.n_pictures, report.n_things)
    assert (again.remarks, again.strata) == (report.remarks, report.strata)
