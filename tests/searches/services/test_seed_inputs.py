"""A stored picture becomes a clean input: which label is asked, with which words, what the truth is."""

import numpy as np
import pytest

from searches.models import DatasetPicture
from searches.services.blobs import StorageError, blob_path, store_blob
from searches.services.seed_inputs import askable_labels, chosen_label, seed_image_of, words_for
from tests.searches.modality_factory import make_seed_dataset
from vlmlab.core.errors import VlmLabError
from vlmlab.core.images import encode_png
from vlmlab.core.scenes.masks import encode_mask
from vlmlab.core.suts.asking import AskingParams

WIDTH, HEIGHT = 40, 30
TEMPLATE = "Look well. Find {targets} here. Answer as JSON."


def thing(label: str, box=(2.0, 3.0, 12.0, 13.0), **values):
    return {"label": label, "box": list(box), "mask": ""} | values


def mask(left: int, top: int, right: int, bottom: int) -> str:
    drawn = np.zeros((HEIGHT, WIDTH), dtype=np.bool_)
    drawn[top:bottom, left:right] = True
    return encode_mask(drawn)


def picture(*things, **values) -> DatasetPicture:
    return DatasetPicture(width=WIDTH, height=HEIGHT, annotations=list(things), **values)


@pytest.fixture
def stored(db):
    pixels = np.arange(HEIGHT * WIDTH * 3, dtype=np.uint8).reshape(HEIGHT, WIDTH, 3)
    row = picture(thing("bus"), file_name="street/1.png", dataset=make_seed_dataset(0), order=0)
    row.image_sha256 = store_blob(encode_png(pixels))
    row.save()
    return row, pixels


def made(row: DatasetPicture, label: str = "bus", *, protect_format: bool = True, **asking):
    params = AskingParams(localization_template=TEMPLATE, **asking)
    return seed_image_of(row, label, asking=params, protect_format=protect_format)


def test_things_of_a_scene_say_whether_they_may_be_asked_for():
    row = picture(thing("cup", is_asked=True), thing("child", is_asked=False), thing("bus", is_asked=True))

    assert askable_labels(row) == ("bus", "cup")


def test_labels_of_an_upload_may_be_asked_for_unless_the_import_was_unsure():
    row = picture(thing("cup"), thing("bus"), thing("cup"), unsure_labels=["bus"])

    assert askable_labels(row) == ("cup",)


@pytest.mark.parametrize("label", ["", "  ", "x" * 121])
def test_what_cannot_be_asked_or_stored_is_no_label(label):
    assert askable_labels(picture(thing(label))) == ()


def test_the_label_depends_on_seed_and_picture_only():
    labels = [thing(name) for name in ("bus", "cup", "dog", "egg")]
    rows = [picture(*labels, image_sha256=f"{number:064x}") for number in range(40)]

    chosen = [chosen_label(row, seed=1) for row in rows]

    assert chosen == [chosen_label(row, seed=1) for row in rows]
    assert set(chosen) == {"bus", "cup", "dog", "egg"}
    assert chosen != [chosen_label(row, seed=2) for row in rows]
    assert chosen_label(picture(), seed=1) is None


@pytest.mark.parametrize(("n", "words"), [(1, "the red bus"), (2, "every red bus")])
def test_several_things_are_asked_for_as_every(n, words):
    assert words_for("red bus", n) == words


def test_a_seed_image_has_pixels_prompt_truth_and_what_is_protected(stored):
    row, pixels = stored

    seed = made(row)

    assert (seed.image_id, seed.label) == (row.image_sha256, "bus")
    assert np.array_equal(seed.pixels, pixels)
    assert seed.prompt == "Look well. Find the bus here. Answer as JSON."
    assert seed.truth.tolist() == [[2.0, 3.0, 12.0, 13.0]]
    assert seed.protected == ("Look well.", "Answer as JSON.")
    assert made(row, protect_format=False).protected == ()


def test_all_things_of_the_label_are_the_truth_in_their_order(stored):
    row, _ = stored
    row.annotations = [thing("bus", (0, 0, 5, 5)), thing("cup"), thing("bus", (9, 9, 20, 20))]

    seed = made(row)

    assert seed.truth.tolist() == [[0.0, 0.0, 5.0, 5.0], [9.0, 9.0, 20.0, 20.0]]
    assert "every bus" in seed.prompt


def test_masks_count_where_every_thing_has_one(stored):
    row, _ = stored
    row.annotations = [thing("bus", mask=mask(0, 0, 5, 5)), thing("bus", mask=mask(9, 9, 20, 20))]

    masks = made(row).masks

    assert masks.shape == (2, HEIGHT, WIDTH)
    assert masks.sum(axis=(1, 2)).tolist() == [25, 121]


@pytest.mark.parametrize("second", ["", "not a mask", "é", mask(0, 0, 0, 0)])
def test_without_a_readable_mask_of_each_thing_the_boxes_are_the_truth(stored, second):
    row, _ = stored
    row.annotations = [thing("bus", mask=mask(0, 0, 5, 5)), thing("bus", mask=second)]

    seed = made(row)

    assert seed.masks is None
    assert len(seed.truth) == 2


def test_a_label_with_quotes_and_other_letters_is_asked_as_it_stands(stored):
    row, _ = stored
    row.annotations = [thing('"Straßen\u2060bahn" {targets} 電車')]

    assert made(row, '"Straßen\u2060bahn" {targets} 電車').prompt == (
        'Look well. Find the "Straßen\u2060bahn" {targets} 電車 here. Answer as JSON.'
    )


def test_a_label_that_is_gone_says_that_the_dataset_was_changed(stored):
    with pytest.raises(VlmLabError, match=r"Nothing called “tram” is annotated in street/1\.png\."):
        made(stored[0], "tram")


def test_a_picture_that_is_gone_is_named_with_what_to_do(stored):
    row, _ = stored
    blob_path(row.image_sha256).unlink()

    with pytest.raises(StorageError, match=r"street/1\.png is not stored any more\. Restore the folder"):
        made(row)


def test_a_stored_picture_of_another_size_is_refused(stored):
    row, _ = stored
    row.width = WIDTH + 1

    with pytest.raises(StorageError, match="has 40 x 30 pixels instead of 41 x 30"):
        made(row)
