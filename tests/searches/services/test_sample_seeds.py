"""The shipped seed images: what is in them, that they load once, and that they can be made again."""

import json

import numpy as np
import pytest

from searches.enums import DatasetState
from searches.models import Blob, Dataset, DatasetPicture
from searches.services.blobs import blob_path, digest_of
from searches.services.dataset_exports import dataset_export
from searches.services.dataset_making import make_pictures
from searches.services.datasets import checked_recipe, create_dataset
from searches.services.sample_seeds import FILE, SEED_FOLDER, SLUG, dump_seeds, in_fewer_shades, load_seeds
from searches.services.seed_inputs import askable_labels
from vlmlab.core.errors import VlmLabError
from vlmlab.core.images import decode_png, encode_png, read_image
from vlmlab.core.scenes.strata import STRATA

pytestmark = pytest.mark.django_db


def test_the_shipped_set_has_25_pictures_of_each_kind_that_each_can_be_asked_about():
    notes = [load_seeds(), load_seeds()]

    dataset = Dataset.objects.get(slug=SLUG)
    rows = list(dataset.pictures.all())
    assert notes == ["Sample seed images loaded: 100 pictures.", "The sample seed images are there already."]
    assert (dataset.state, dataset.is_sample, dataset.n_pictures) == (DatasetState.READY, True, 100)
    assert {name: sum(row.stratum == name for row in rows) for name in STRATA} == dict.fromkeys(STRATA, 25)
    assert all(askable_labels(row) for row in rows)
    assert all(one["mask"] for row in rows for one in row.annotations if one["is_asked"])
    assert {(row.width, row.height) for row in rows} == {(448, 336)}
    assert Blob.objects.filter(pk__in=[row.image_sha256 for row in rows]).count() == 100
    assert all(blob_path(row.image_sha256).exists() for row in rows)
    assert ("CC-BY 3.0" in dataset.credits, dataset_export(dataset).has_assets) == (True, True)


def test_a_shipped_picture_is_canonical():
    row = json.loads((SEED_FOLDER / FILE).read_text(encoding="utf-8"))["pictures"][0]
    png = (SEED_FOLDER / row["file_name"]).read_bytes()

    assert read_image(png).sha256 == digest_of(png) == row["image_sha256"]
    assert encode_png(decode_png(png)) == png


def test_a_dataset_of_the_same_name_is_left_alone():
    Dataset.objects.create(slug=SLUG, title="Mine", origin="upload")

    assert (
        load_seeds() == "The sample seed images are left out: a dataset of your own is called “seed-images”."
    )
    assert Dataset.objects.get().title == "Mine"


def test_a_drawn_dataset_is_written_and_loaded_as_it_was(tmp_path, settings):
    settings.SCENE_SOURCE_FACTORY = "tests.doubles.make_flat_source"
    recipe = checked_recipe(n=3, width=128, height=96, strata=("street", "junction"))
    dataset = create_dataset(recipe, title="Drawn", by=None)
    with pytest.raises(VlmLabError, match="not complete"):
        dump_seeds(dataset, folder=tmp_path)
    for _ in make_pictures(dataset):
        pass
    dataset.refresh_from_db()

    dump_seeds(dataset, folder=tmp_path)
    note = load_seeds(tmp_path)

    columns = ("file_name", "stratum", "annotations", "description", "scene_seed")
    loaded = DatasetPicture.objects.filter(dataset__slug=SLUG).order_by("order")
    assert note == "Sample seed images loaded: 3 pictures."
    assert list(loaded.values_list(*columns)) == list(dataset.pictures.values_list(*columns))


def test_a_damaged_picture_loads_nothing(tmp_path):
    row = {"file_name": "one.png", "image_sha256": "0" * 64}
    (tmp_path / "one.png").write_bytes(b"damaged")
    (tmp_path / FILE).write_text(json.dumps({"format": 1, "dataset": {}, "pictures": [row]}))

    assert "000000000000… is damaged" in load_seeds(tmp_path)
    assert not Dataset.objects.exists()


def test_fewer_shades_move_no_colour_by_more_than_half_a_step():
    every = np.arange(256, dtype=np.uint8).reshape(1, 256, 1).repeat(3, axis=2)

    fewer = in_fewer_shades(every)

    assert int(np.abs(fewer.astype(int) - every).max()) == 2
    assert [int(one) for one in fewer[0, [0, 1, 2, 5, 6, 253, 255], 0]] == [0, 0, 4, 4, 8, 252, 255]
    assert np.array_equal(in_fewer_shades(fewer), fewer)
