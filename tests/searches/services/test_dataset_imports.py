"""Datasets from outside: what is read, what is refused and why, and that nothing is half stored."""

from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from searches.enums import DatasetOrigin, DatasetState
from searches.models import AuditEntry, Dataset, DatasetPicture
from searches.services.archives import ArchiveError
from searches.services.blobs import blob_path
from searches.services.dataset_imports import (
    ImportLimits,
    ImportReport,
    ImportWish,
    import_folder,
    import_zip,
)
from searches.services.dataset_imports_rows import ConceptNames, ImportRefusedError, checked_box
from tests.searches.services.uploads import CONE, coco, photograph, written, zipped
from vlmlab.core.errors import ConfigError
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.masks import decode_mask

pytestmark = pytest.mark.django_db
TABLE = b"file,concepts\none.png,cone;weather_foggy\ntwo.png,cyclist\n"


def wish(**values) -> ImportWish:
    return ImportWish(**{"title": "Street photographs", "domain": "driving"} | values)


def imported(tmp_path: Path, files: dict[str, bytes], **values) -> ImportReport:
    return import_folder(written(tmp_path / "upload", **files), wish(**values))


def reasons(report: ImportReport) -> list[str]:
    return [str(one) for one in report.refused]


def test_a_table_of_concepts_becomes_a_dataset(tmp_path):
    files = {"one__png": photograph(1), "two__png": photograph(2), "tags__csv": TABLE}

    report = imported(tmp_path, files, licence="CC0", credits="A. Person")

    dataset = Dataset.objects.get()
    assert (report.dataset, report.n_pictures, report.refused) == (dataset, 2, ())
    assert (dataset.slug, dataset.domain, dataset.n_pictures) == ("street-photographs", "driving", 2)
    assert (dataset.origin, dataset.state) == (DatasetOrigin.UPLOAD, DatasetState.READY)
    assert (dataset.licence, dataset.credits) == ("CC0", "A. Person")
    rows = list(dataset.pictures.values_list("file_name", "concepts", "annotations", "width", "height"))
    assert rows == [
        ("one.png", ["cone", "weather_foggy"], [], 40, 30),
        ("two.png", ["cyclist"], [], 40, 30),
    ]
    assert all(blob_path(row.image_sha256).is_file() for row in dataset.pictures.all())
    entry = AuditEntry.objects.get(object_type="dataset")
    assert (entry.verb, entry.after) == ("imported", {"upload": "upload", "pictures": 2, "refused": 0})


def test_boxes_of_a_table_carry_the_concept_of_their_label(tmp_path):
    table = (
        b"file,concepts,label,x_min,y_min,x_max,y_max\n"
        b"one.png,weather_foggy,cone,4,4,14,16\n"
        b"one.png,cyclist,man on a bike,20,5,30,25\n"
        b"one.png,,dog,1,1,3,3\n"
    )

    report = imported(tmp_path, {"one__png": photograph(1), "tags__csv": table})

    [row] = report.dataset.pictures.all()
    assert row.concepts == ["cyclist", "cone", "weather_foggy"]
    assert [(one["label"], one["concept"], one["box"]) for one in row.annotations] == [
        ("cone", "cone", [4.0, 4.0, 14.0, 16.0]),
        ("man on a bike", "cyclist", [20.0, 5.0, 30.0, 25.0]),
        ("dog", "", [1.0, 1.0, 3.0, 3.0]),
    ]


def test_a_coco_file_brings_boxes_and_masks_and_a_table_the_rest(tmp_path):
    thing = CONE | {"segmentation": [[4, 4, 14, 4, 14, 16, 4, 16]]}
    files = {
        "one__png": photograph(1),
        "instances__json": coco(["one.png"], [thing]),
        "tags__csv": b"file;concepts\none.png;Fog\n",
    }

    [row] = imported(tmp_path, files, mapping={"fog": "weather_foggy"}).dataset.pictures.all()

    [stored] = row.annotations
    assert row.concepts == ["cone", "weather_foggy"]
    assert stored["box"] == [4.0, 4.0, 14.0, 16.0]
    assert decode_mask(stored["mask"], width=40, height=30).sum() == 120


def test_a_thing_with_a_mask_alone_gets_its_box_from_it(tmp_path):
    thing = {name: value for name, value in CONE.items() if name != "bbox"}
    thing["segmentation"] = [[4, 4, 14, 4, 14, 16, 4, 16]]

    report = imported(tmp_path, {"one__png": photograph(1), "a__json": coco(["one.png"], [thing])})

    assert report.dataset.pictures.get().annotations[0]["box"] == [4.0, 4.0, 14.0, 16.0]


def test_categories_that_are_no_concepts_stay_as_company_and_are_remarked(tmp_path):
    things = [CONE, CONE | {"id": 2, "category_id": 2}, CONE | {"id": 3, "category_id": 3}]
    files = {
        "one__png": photograph(1),
        "a__json": coco(["one.png"], things, categories=("Traffic  cone", "zebra", "bike rider")),
    }

    report = imported(tmp_path, files, mapping={"traffic cone": "cone", "bike rider": "-"})

    [row] = report.dataset.pictures.all()
    assert row.concepts == ["cone"]
    assert [one["concept"] for one in row.annotations] == ["cone", "", ""]
    assert report.remarks == ("“zebra” is no concept of Driving: 1 thing is kept as company.",)


@pytest.mark.parametrize(
    ("thing", "reason"),
    [
        ({"bbox": [4, 4, 60, 4]}, "the box 4, 4, 64, 8 reaches beyond the picture of 40 x 30 pixels."),
        ({"bbox": [4, 4, 0, 4]}, "the box 4, 4, 4, 8 is empty."),
        ({"bbox": [4, 4, float("nan"), 4]}, "the box has a side that is no number."),
        ({"bbox": [4, 4]}, "the box is not left, top, width, height."),
        ({"bbox": ["a", 4, 1, 1]}, "“a” is no number."),
        ({"bbox": None}, "it has neither box nor mask."),
        ({"category_id": 9}, "there is no category 9."),
        (
            {"segmentation": {"size": [30, 40], "counts": "garbage"}},
            "the segmentation is no run-length string.",
        ),
        (
            {"segmentation": {"size": [30, 40], "counts": [1, 2]}},
            "the segmentation has run lengths that do not add up to the picture.",
        ),
    ],
)
def test_a_wrong_thing_leaves_its_picture_out_and_says_why(tmp_path, thing, reason):
    files = {
        "one__png": photograph(1),
        "two__png": photograph(2),
        "a__json": coco(["one.png", "two.png"], [CONE | thing, CONE | {"id": 2, "image_id": 2}]),
    }

    report = imported(tmp_path, files)

    assert [row.file_name for row in report.dataset.pictures.all()] == ["two.png"]
    assert any("a.json, annotation 1: " in one and one.endswith(reason) for one in reasons(report))
    assert report.dataset.recipe["n_refused"] == len(report.refused)


def test_a_box_a_little_beyond_its_picture_is_cut():
    assert checked_box((-1.0, 0.0, 41.5, 30.0), width=40, height=30) == (0.0, 0.0, 40.0, 30.0)


def test_wrong_rows_of_a_table_are_refused_with_their_numbers(tmp_path):
    table = b"file,concepts\none.png,unicorn\ngone.png,cone\n,cone\ntwo.png,cone\n"

    report = imported(tmp_path, {"one__png": photograph(1), "two__png": photograph(2), "t__csv": table})

    assert reasons(report) == [
        "t.csv, row 3: the file “gone.png” is not there.",
        "t.csv, row 4: the file “” is not there.",
        "t.csv, row 2: “unicorn” is no concept of Driving.",
        "one.png: left out, because a row of it is wrong.",
    ]


def test_the_same_picture_twice_and_unreadable_ones_are_refused(tmp_path):
    table = b"file,concepts\na.png,cone\nb.png,cone\nc.png,cone\n"
    files = {"a__png": photograph(1), "b__png": photograph(1), "c__png": b"no picture", "t__csv": table}

    report = imported(tmp_path, files)

    first, second = reasons(report)
    assert first == "b.png: is the same picture as a.png."
    assert second.startswith("c.png: The file is not a readable image")


def test_a_turned_photograph_is_stored_upright_and_boxes_for_the_lying_one_are_refused(tmp_path):
    files = {"a__jpg": photograph(1, ending="JPEG", turn=6), "t__csv": b"file,concepts\na.jpg,cone\n"}

    upright = imported(tmp_path, files).dataset.pictures.get()

    assert (upright.width, upright.height) == (30, 40)
    files |= {"c__json": coco(["a.jpg"], [CONE])}
    with pytest.raises(ImportRefusedError, match="once it is turned upright, its row says 40 x 30"):
        imported(tmp_path, files, title="Lying")


def test_nothing_is_stored_when_no_picture_is_sound_or_a_strict_import_refuses_one(tmp_path):
    files = {"one__png": photograph(1), "tags__csv": TABLE}

    with pytest.raises(ImportRefusedError) as raised:
        imported(tmp_path, files, is_strict=True)
    with pytest.raises(ImportRefusedError):
        imported(tmp_path, {"tags__csv": b"file,concepts\n"})

    assert "tags.csv, row 3: the file “two.png” is not there." in raised.value.message
    assert not Dataset.objects.exists()
    assert not DatasetPicture.objects.exists()


def test_pictures_without_any_word_about_them_are_refused(tmp_path):
    with pytest.raises(ImportRefusedError, match="No file says what the pictures show"):
        imported(tmp_path, {"one__png": photograph(1), "notes__json": b"{}", "other__csv": b"a,b\n1,2\n"})


@pytest.mark.parametrize(
    ("name", "content"), [("a__json", b"{"), ("a__json", b"[" * 100_000), ("t__csv", b"file,concepts\n\xff")]
)
def test_files_that_cannot_be_read_are_refused(tmp_path, name, content):
    with pytest.raises(ImportRefusedError, match=r"is no JSON|is not written in UTF-8"):
        imported(tmp_path, {"one__png": photograph(1), name: content})


def test_two_coco_files_are_refused(tmp_path):
    one = coco(["one.png"], [CONE])

    with pytest.raises(ImportRefusedError, match="are both COCO files"):
        imported(tmp_path, {"one__png": photograph(1), "a__json": one, "b__json": one})


def test_an_archive_is_imported_with_its_folders():
    file = zipped(
        {
            "set/images/one.png": photograph(1),
            "set/annotations/instances.json": coco(["one.png"], [CONE]),
            "set/images/spare.png": photograph(3),
        }
    )

    report = import_zip(file, wish(), name="set.zip", by=None)

    assert report.dataset.pictures.get().file_name == "set/images/one.png"
    assert report.remarks == ("“set/images/spare.png” is named in no file and left out.",)


def test_an_archive_that_reaches_outside_stores_nothing():
    with pytest.raises(ArchiveError):
        import_zip(zipped({"../one.png": photograph(1), "t.csv": TABLE}), wish(), name="x.zip", by=None)

    assert not Dataset.objects.exists()


def test_too_many_pictures_and_too_many_pixels_are_refused():
    files = {"one.png": photograph(1), "two.png": photograph(2), "t.csv": TABLE}

    for limits in (ImportLimits(max_pictures=1), ImportLimits(max_pixels=2_000)):
        with pytest.raises(ImportRefusedError, match=r"manage\.py import_dataset|pixels together"):
            import_zip(zipped(files), wish(), name="x.zip", by=None, limits=limits)
    assert not Dataset.objects.exists()


def test_links_of_a_folder_are_not_followed(tmp_path):
    folder = written(tmp_path / "upload", tags__csv=b"file,concepts\none.png,cone\n")
    (tmp_path / "secret.png").write_bytes(photograph(9))
    (folder / "one.png").symlink_to(tmp_path / "secret.png")

    with pytest.raises(ImportRefusedError, match="is not there"):
        import_folder(folder, wish())


def test_a_mapping_to_no_concept_of_the_domain_is_refused():
    with pytest.raises(ConfigError) as raised:
        ConceptNames(load_domain("driving"), {"person": "human"})

    assert raised.value.field == "mapping"


def test_names_of_concepts_are_found_by_id_alias_label_and_mapping():
    names = ConceptNames(load_domain("driving"), {"Person ": "pedestrian", "sky": "-"})

    found = {name: names.find(name) for name in ("cone", "Foggy", "dumpster_near", "person", "sky", "x")}

    assert found == {
        "cone": "cone",
        "Foggy": "weather_foggy",
        "dumpster_near": "obstruction_near",
        "person": "pedestrian",
        "sky": "",
        "x": None,
    }


def test_the_command_imports_and_says_what_was_refused(tmp_path, capsys):
    folder = written(tmp_path / "upload", one__png=photograph(1), tags__csv=TABLE)

    call_command("import_dataset", folder, title="Streets", domain="driving", mapping=["person=pedestrian"])

    assert capsys.readouterr().out.splitlines() == [
        "1 picture stored as the dataset streets.",
        "1 refusal:",
        "  tags.csv, row 3: the file “two.png” is not there.",
    ]
    for wrong, code in (({"mapping": ["person"]}, 2), ({"domain": "driving", "strict": True}, 1)):
        with pytest.raises(CommandError) as raised:
            call_command("import_dataset", folder, **{"title": "Again", "domain": "driving"} | wrong)
        assert raised.value.returncode == code


def test_a_short_name_that_is_taken_during_an_import_makes_way_for_the_next(tmp_path):
    folder = written(tmp_path / "upload", one__png=photograph(1), two__png=photograph(2), tags__csv=TABLE)

    def meanwhile(done, _total):
        if done == 1:
            import_folder(folder, wish())

    report = import_folder(folder, wish(), on_progress=meanwhile)

    assert report.dataset.slug == "street-photographs-2"
    assert list(Dataset.objects.order_by("slug").values_list("slug", "n_pictures")) == [
        ("street-photographs", 2),
        ("street-photographs-2", 2),
    ]


def test_a_wanted_short_name_that_is_taken_during_an_import_is_said_and_nothing_is_stored(tmp_path):
    folder = written(tmp_path / "upload", one__png=photograph(1), two__png=photograph(2), tags__csv=TABLE)

    def meanwhile(done, _total):
        if done == 1:
            import_folder(folder, wish(slug="mine"))

    with pytest.raises(ConfigError, match="There is a dataset “mine” already"):
        import_folder(folder, wish(slug="mine"), on_progress=meanwhile)

    assert Dataset.objects.count() == 1


def test_foreign_texts_are_stored_printable_and_short(tmp_path):
    notes = coco(
        ["one.png", "\ud800.png", "x" * 1000 + ".png"],
        [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 5, 5]}],
        categories=("dog\ud800\x00\u202e",),
    )

    report = imported(tmp_path, {"one__png": photograph(1), "notes__json": notes})

    [row] = report.dataset.pictures.all()
    assert row.annotations[0]["label"] == "dog???"
    assert reasons(report)[0] == "notes.json, image 2: the file “?.png” is not there."
    assert all(len(one) < 1000 for one in reasons(report))
    assert report.dataset.recipe["remarks"] == [
        "“dog???” is no concept of Driving: 1 thing is kept as company."
    ]


def test_a_name_that_no_concept_has_is_looked_up_once(monkeypatch):
    names, domain = ConceptNames(load_domain("driving"), {}), load_domain("driving")
    looked_up = []
    monkeypatch.setattr(names, "_look_up", lambda name: looked_up.append(name))

    assert [names.find("dog") for _ in range(3)] == [None] * 3
    assert looked_up == ["dog"]
    assert ConceptNames(domain, {}).find("dog" * 100_000) is None


def test_names_in_exports_are_plain_paths_of_their_own(tmp_path):
    folder = tmp_path / "upload"
    deep = folder / ("a" * 99) / ("b" * 98 + "..")
    deep.mkdir(parents=True)
    names = ["a:b?.png", "A_b_.png"]
    for shade, name in enumerate(names):
        (folder / name).write_bytes(photograph(shade))
    (deep / "c.png").write_bytes(photograph(9))
    rows = [*names, f"{'a' * 99}/{'b' * 98}../c.png"]
    (folder / "tags.csv").write_text("file,concepts\n" + "".join(f'"{name}",cone\n' for name in rows))

    report = import_folder(folder, wish())

    stored = list(report.dataset.pictures.order_by("order").values_list("file_name", flat=True))
    assert stored == ["a_b_.png", "000001-A_b_.png", f"{'b' * 98}../c.png"]
