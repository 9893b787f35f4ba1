"""Kinds of scenes: a row comes before a table, a table before folders, folders before one name for all."""

import pytest

from tests.core.seed_images.sources import coco, imported, photograph, thing, told, voc
from vlmlab.core.seed_images.faults import SeedImportError


def source(*paths: str, **more: bytes):
    files = {path: photograph(10 * n) for n, path in enumerate(paths, start=1)}
    notes = {
        f"{path.rpartition('.')[0]}.xml": voc("x", thing("dog", (1, 1, 9, 9)), size=None) for path in paths
    }
    return {**files, **notes, **more}


def strata_of(files, **settings):
    pictures, report = imported(files, **settings)
    return {one.file: one.stratum for one in pictures}, report


def test_all_pictures_are_of_one_kind_where_nothing_is_said():
    assert strata_of(source("a.png", "x/b.png"))[0] == {"a.png": "all", "x/b.png": "all"}
    assert strata_of(source("a.png"), stratum="street  at night")[0] == {"a.png": "street at night"}


@pytest.mark.parametrize(
    ("path", "stratum"),
    [
        ("street/a.png", "street"),
        ("images/train/street/a.png", "street"),
        ("street/images/a.png", "street"),
        ("train2017/a.png", "all"),
        ("valid/images/a.png", "all"),
        ("JPEGImages/a.png", "all"),
        ("data/кухня/val/a.png", "кухня"),
        ("trains/a.png", "trains"),
        ("city/rain/a.png", "rain"),
    ],
)
def test_folders_name_kinds_of_scenes_apart_from_those_that_only_keep_pictures(path, stratum):
    assert strata_of(source(path), strata_by_folder=True)[0] == {path: stratum}


def test_a_table_of_strata_serves_every_format_and_comes_before_folders():
    table = "\ufefffile;scene_type\nx/b.png;kitchen\ngone.png;street\n".encode()

    strata, report = strata_of(source("x/a.png", "x/b.png", **{"strata.csv": table}), strata_by_folder=True)

    assert strata == {"x/a.png": "x", "x/b.png": "kitchen"}
    assert told(report) == [("picture", "missing_picture", "strata.csv", "row 3")]


def test_what_a_row_says_comes_before_the_table():
    images = [{"id": 1, "file_name": "a.png", "scene_type": "junction"}]
    rows = [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 9, 9]}]
    files = {
        "a.png": photograph(),
        "notes.json": coco(images, rows, [{"id": 1, "name": "dog"}]),
        "strata.csv": b"file,stratum\na.png,street\n",
    }

    assert strata_of(files)[0] == {"a.png": "junction"}


@pytest.mark.parametrize("name", ["x" * 33, "a\u202eb"])
def test_a_kind_of_scene_that_cannot_be_stored_costs_its_picture(name):
    files = source("a.png", "b.png", **{"strata.csv": f"file,stratum\na.png,{name}\n".encode()})

    strata, report = strata_of(files)

    assert strata == {"b.png": "all"}
    assert [(one.scope, one.kind, one.picture) for one in report.refusals] == [
        ("picture", "stratum", "a.png")
    ]


def test_a_table_of_strata_without_its_columns_is_refused():
    _, report = strata_of(source("a.png", **{"strata.csv": b"picture name,kind\na.png,street\n"}))

    assert told(report) == [("file", "file", "strata.csv", "")]


def test_a_wrong_name_for_all_is_said_before_anything_is_read():
    with pytest.raises(SeedImportError, match="The kind of scene has an empty kind of scene") as error:
        imported({}, stratum=" ", format="voc")

    assert error.value.field == "stratum"
