"""Archives of datasets, runs, sets and scenes: COCO tools read them, credits travel with them."""

import csv
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from pycocotools.coco import COCO

from searches.enums import DatasetOrigin, JobKind
from searches.models import Dataset, DatasetPicture, Job
from searches.services.blobs import blob_path, store_blob
from searches.services.dataset_exports import dataset_export, job_export, run_export
from searches.services.dataset_making import make_pictures
from searches.services.datasets import checked_recipe, create_dataset
from searches.services.jobs import run_job
from searches.services.leases import take_job
from searches.services.scene_archives import export_zip
from tests.doubles import paint_png
from tests.factories import make_campaign, make_run, make_trial
from vlmlab.core.scenes.masks import encode_mask
from vlmlab.core.scenes.render.credits import ATTRIBUTION_FILE, credit_lines

pytestmark = pytest.mark.django_db
TRUTH = {
    "label": "traffic cone",
    "kind": "cone",
    "concept": "cone",
    "is_asked": True,
    "box": [1.0, 2.0, 5.0, 8.0],
    "amodal_box": [1.0, 2.0, 6.0, 8.0],
    "visible_pixels": 12,
    "visible_fraction": 0.75,
}


def archive_of(export) -> zipfile.ZipFile:
    archive = zipfile.ZipFile(io.BytesIO(b"".join(export_zip(export))))
    assert archive.testzip() is None
    return archive


def rows_of(archive: zipfile.ZipFile, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(archive.read(name).decode(), newline="")))


def coco_of(archive: zipfile.ZipFile, tmp_path: Path) -> COCO:
    path = tmp_path / "annotations.json"
    path.write_bytes(archive.read("annotations.json"))
    return COCO(str(path))


def make_dataset(*, masks: bool = True, n: int = 2) -> Dataset:
    dataset = Dataset.objects.create(
        slug="cones",
        title="Cones",
        origin=DatasetOrigin.SCENES,
        recipe={"n": n},
        credits=credit_lines(),
        licence="CC-BY 3.0",
    )
    mask = np.zeros((12, 16), np.bool_)
    mask[2:8, 1:3] = True
    for order in range(n):
        DatasetPicture.objects.create(
            dataset=dataset,
            order=order,
            file_name=f"street_{order:05d}.png",
            image_sha256=store_blob(paint_png((order, 9, 9))),
            width=16,
            height=12,
            stratum="street",
            concepts=["cone"],
            annotations=[TRUTH | {"mask": encode_mask(mask) if masks else ""}],
            description={"domain": "driving", "seed": order},
            description_digest="d" * 64,
            scene_seed=order,
            provenance={"backend": "flat"},
        )
    return dataset


def test_coco_tools_read_boxes_and_masks_of_a_dataset(tmp_path):
    coco = coco_of(archive_of(dataset_export(make_dataset())), tmp_path)

    assert [one["name"] for one in coco.loadCats(coco.getCatIds())] == ["traffic cone"]
    assert [(one["file_name"], one["width"], one["height"]) for one in coco.loadImgs(coco.getImgIds())] == [
        ("street_00000.png", 16, 12),
        ("street_00001.png", 16, 12),
    ]
    [first, second] = coco.loadAnns(coco.getAnnIds())
    assert (first["bbox"], first["area"], first["image_id"], second["image_id"]) == ([1, 2, 4, 6], 12, 1, 2)
    assert (first["concept"], first["is_asked"], first["visible_fraction"]) == ("cone", True, 0.75)
    mask = coco.annToMask(first)
    assert (mask.shape, int(mask.sum()), mask[2, 1], mask[1, 1]) == ((12, 16), 12, 1, 0)


def test_a_thing_without_a_mask_has_a_box_and_no_segmentation(tmp_path):
    coco = coco_of(archive_of(dataset_export(make_dataset(masks=False))), tmp_path)

    assert [one["segmentation"] for one in coco.loadAnns(coco.getAnnIds())] == [[], []]


def test_the_archive_of_a_dataset_holds_every_picture_with_all_that_makes_it_again():
    dataset = make_dataset()

    archive = archive_of(dataset_export(dataset))

    assert archive.namelist() == [
        "README.txt",
        "CREDITS.txt",
        "ATTRIBUTION.tsv",
        "annotations.json",
        "concepts.csv",
        "descriptions.jsonl",
        "missing.csv",
        "images/street_00000.png",
        "images/street_00001.png",
    ]
    assert archive.read("images/street_00001.png") == paint_png((1, 9, 9))
    [first, _] = rows_of(archive, "concepts.csv")
    assert (
        first["file_name"],
        first["concepts"],
        first["labels"],
        first["stratum"],
        first["scene_seed"],
    ) == (
        "street_00000.png",
        "cone",
        "traffic cone",
        "street",
        "0",
    )
    told = [json.loads(line) for line in archive.read("descriptions.jsonl").decode().splitlines()]
    assert [(one["file_name"], one["description"], one["made_by"]) for one in told] == [
        ("street_00000.png", {"domain": "driving", "seed": 0}, {"backend": "flat"}),
        ("street_00001.png", {"domain": "driving", "seed": 1}, {"backend": "flat"}),
    ]


def test_credits_travel_with_every_archive():
    archive = archive_of(dataset_export(make_dataset()))

    assert credit_lines() in archive.read("CREDITS.txt").decode()
    assert archive.read("ATTRIBUTION.tsv") == ATTRIBUTION_FILE.read_bytes()


def test_an_uploaded_dataset_carries_its_own_credits_and_no_table_of_ours():
    dataset = make_dataset()
    Dataset.objects.update(origin=DatasetOrigin.UPLOAD, credits="Photographs by Ada.", licence="CC0 1.0")
    dataset.refresh_from_db()

    archive = archive_of(dataset_export(dataset))

    assert "ATTRIBUTION.tsv" not in archive.namelist()
    assert "Licence: CC0 1.0\n\nPhotographs by Ada." in archive.read("CREDITS.txt").decode()


def test_the_same_dataset_gives_the_same_bytes():
    dataset = make_dataset()

    assert b"".join(export_zip(dataset_export(dataset))) == b"".join(export_zip(dataset_export(dataset)))


def test_a_picture_that_is_gone_is_listed_and_left_out():
    dataset = make_dataset()
    gone = dataset.pictures.get(order=0)
    blob_path(gone.image_sha256).unlink()
    from searches.models import Blob

    Blob.objects.filter(pk=gone.image_sha256).delete()

    archive = archive_of(dataset_export(dataset))

    assert [name for name in archive.namelist() if name.startswith("images/")] == ["images/street_00001.png"]
    [missing] = rows_of(archive, "missing.csv")
    assert (missing["picture"], missing["scene_seed"], missing["concepts"]) == (
        "street_00000.png",
        "0",
        "cone",
    )
    assert "1 pictures are not kept" in archive.read("README.txt").decode()
    assert len(json.loads(archive.read("annotations.json"))["images"]) == 1


def test_no_cell_of_a_table_is_a_formula():
    dataset = make_dataset(n=1)
    DatasetPicture.objects.update(file_name="=HYPERLINK(1).png", concepts=["+cone"])

    [row] = rows_of(archive_of(dataset_export(dataset)), "concepts.csv")

    assert (row["file_name"], row["concepts"]) == ("'=HYPERLINK(1).png", "'+cone")


@pytest.mark.parametrize("pictures", [1, 450])
def test_an_archive_is_sent_in_pieces_and_asks_for_few_rows_at_a_time(pictures):
    dataset = make_dataset(n=1)
    only = dataset.pictures.get()
    rows = []
    for order in range(1, pictures):
        only.pk, only.order, only.file_name = None, order, f"p{order}.png"
        rows.append(
            DatasetPicture(**{f.name: getattr(only, f.name) for f in only._meta.fields if f.name != "id"})
        )
    DatasetPicture.objects.bulk_create(rows)

    pieces = list(export_zip(dataset_export(dataset)))

    assert len(pieces) > pictures
    assert max(map(len, pieces)) < 300_000


def test_the_scenes_of_a_run_and_of_one_set_come_with_rule_and_verdict(tmp_path):
    run = make_run(
        campaign=make_campaign(config={"algorithm": "random", "image_width": 160, "image_height": 120})
    )
    seen = {
        "object_id": "cone", "kind": "cone", "concept": "cone", "is_required": True, "visible_fraction": 1.0,
        "visible_box": [3.0, 4.0, 9.0, 10.0], "amodal_box": [3.0, 4.0, 9.0, 10.0], "visible_pixels": 30,
    }  # fmt: skip
    first = make_trial(run, ("cone",), verdicts="FP", rule_id="R1", expected_action="slow_down")
    make_trial(run, ("pedestrian",), verdicts="F")
    first.samples.update(annotations=[seen, seen | {"is_required": False, "kind": "tree"}], rule_id="R1")

    whole, one = archive_of(run_export(run)), archive_of(run_export(run, first))

    assert [row["file_name"] for row in rows_of(whole, "concepts.csv")] == [
        "set_00001_sample_001.png",
        "set_00001_sample_002.png",
        "set_00002_sample_001.png",
    ]
    table = rows_of(one, "concepts.csv")
    assert [(row["verdict"], row["rule"], row["answered"]) for row in table] == [
        ("fail", "R1", "continue"),
        ("pass", "R1", "stop"),
    ]
    coco = coco_of(one, tmp_path)
    things = coco.loadAnns(coco.getAnnIds())
    assert [(thing["bbox"], thing["area"], thing["kind"]) for thing in things] == [
        ([3, 4, 6, 6], 30, "cone")
    ] * 2
    assert coco.loadImgs([1])[0]["width"] == 160


def test_a_drawn_scene_is_an_archive_of_one_picture(settings, tmp_path):
    settings.SCENE_SOURCE_FACTORY = "tests.doubles.make_flat_source"
    params = {"domain": "driving", "concepts": ["cone"], "seed": 5, "width": 64, "height": 48}
    job = Job.objects.create(kind=JobKind.RENDER_SCENE, params=params)
    run_job(take_job("w", ["cpu"]))
    job.refresh_from_db()

    archive = archive_of(job_export(job))

    [row] = rows_of(archive, "concepts.csv")
    assert (row["file_name"], row["expected"], row["scene_seed"]) == ("scene.png", "emergency_stop", "5")
    assert json.loads(archive.read("descriptions.jsonl"))["description"] == job.result["description"]
    coco = coco_of(archive, tmp_path)
    assert [one["name"] for one in coco.loadCats(coco.getCatIds())] == ["traffic cone"]


def test_a_made_dataset_is_read_by_coco_tools(settings, tmp_path):
    settings.SCENE_SOURCE_FACTORY = "tests.doubles.make_flat_source"
    dataset = create_dataset(
        checked_recipe(n=4, seed=1, width=128, height=96, strata=("street",)), title="Made", by=None
    )
    list(make_pictures(dataset))
    dataset.refresh_from_db()

    coco = coco_of(archive_of(dataset_export(dataset)), tmp_path)

    assert len(coco.getImgIds()) == 4
    assert all(coco.getAnnIds(imgIds=[number]) for number in coco.getImgIds())
