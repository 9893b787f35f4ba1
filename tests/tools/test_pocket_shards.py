"""Rendered pictures on disk, and joining them as they appear."""

import json

import numpy as np
import pytest

from tests.tools.pocket_parts import record, seen
from tools.pocket.shards import (
    PictureRecord,
    PictureStore,
    SeenObject,
    read_records,
    read_shard,
    record_of,
    resized,
    write_shard,
)
from vlmlab.core.scenes.catalogue import load_domain
from vlmlab.core.scenes.scene import Annotation, Camera, GeneratedScene, SceneDescription, SceneObject

CONE = record("driving", "cone")
SHEEP = record("driving", "cyclist", "cone")


def annotation(name, kind, box, *, pixels=200, fraction=0.9, is_required=True):
    concept = kind if is_required else ""
    return Annotation(name, kind, concept, is_required, box, box or (0.0, 0.0, 1.0, 1.0), pixels, fraction)


def test_record_of_keeps_what_can_be_seen_with_its_label_and_box_in_fractions():
    objects = (
        SceneObject("a", "cone", (0, 9, 0), concept="cone", is_required=True),
        SceneObject("b", "emergency_vehicle", (0, 9, 0), parameters={"variant": "police_car"}),
        SceneObject("c", "tree", (0, 9, 0)),
        SceneObject("d", "garbage_bin", (0, 9, 0), concept="garbage_bin", is_required=True),
    )
    notes = (
        annotation("a", "cone", (10.0, 20.0, 30.0, 40.0)),
        annotation("b", "emergency_vehicle", (50.0, 0.0, 100.0, 25.0), fraction=0.5),
        annotation("c", "tree", (0.0, 0.0, 25.0, 50.0), is_required=False),
        annotation("d", "garbage_bin", None, pixels=0, fraction=0.0),
    )
    key = ("emergency_vehicle", "cone")
    description = SceneDescription("driving", key, 41, 0, Camera((0, 0, 1), (0, 9, 1)), {}, {}, objects)
    scene = GeneratedScene(description, b"", "", notes, {})

    found = record_of(load_domain("driving"), key, scene, size=(100, 50))

    assert found == PictureRecord(
        "driving",
        key,
        41,
        (
            SeenObject("cone", "cone", "traffic cone", True, (0.1, 0.4, 0.3, 0.8)),
            SeenObject("emergency_vehicle", "emergency_vehicle", "police car", False, (0.5, 0.0, 1.0, 0.5)),
            SeenObject("", "tree", "", False, (0.0, 0.0, 0.25, 1.0)),
        ),
    )


def test_a_written_shard_reads_back_as_it_was(tmp_path):
    pictures = np.arange(2 * 3 * 4 * 3, dtype=np.uint8).reshape(2, 3, 4, 3)

    write_shard(tmp_path / "deep" / "folder", 12, pictures, [CONE, SHEEP])

    stem = tmp_path / "deep" / "folder" / "shard_0012"
    assert read_records(stem.with_suffix(".json")) == [CONE, SHEEP]
    assert np.load(stem.with_suffix(".npy")).tolist() == pictures.tolist()
    assert sorted(path.suffix for path in stem.parent.iterdir()) == [".json", ".npy"]


def test_a_half_written_shard_is_not_read(tmp_path):
    pictures = np.full((1, 4, 4, 3), 7, np.uint8)
    np.save(tmp_path / "shard_0000.npy", pictures)
    (tmp_path / "shard_0000.tmp").write_text(json.dumps([{"domain": "driving"}]))
    store = PictureStore([tmp_path], side=4)

    before = store.refresh()
    write_shard(tmp_path, 0, pictures, [CONE])

    assert (before, store.refresh(), store.records) == (0, 1, [CONE])


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda stem: stem.with_suffix(".json").write_text("["), "is damaged"),
        (lambda stem: stem.with_suffix(".json").write_text("[{}]"), "is damaged"),
        (lambda stem: stem.with_suffix(".json").write_text("[]"), "tells of 0 pictures and there are 2"),
        (lambda stem: stem.with_suffix(".npy").write_bytes(b"\x93NUMPY"), "is damaged"),
        (lambda stem: stem.with_suffix(".npy").unlink(), "is damaged"),
    ],
)
def test_a_damaged_shard_is_named_with_what_to_do(tmp_path, damage, said):
    write_shard(tmp_path, 3, np.zeros((2, 4, 4, 3), np.uint8), [record("driving", "cone")] * 2)
    damage(tmp_path / "shard_0003")

    with pytest.raises(ValueError, match=rf"shard_0003\.json {said}.*delete both halves"):
        read_shard(tmp_path / "shard_0003.json")


def test_refresh_joins_new_shards_of_all_folders_and_skips_those_it_knows(tmp_path):
    write_shard(tmp_path / "driving", 0, np.full((2, 6, 8, 3), 7, np.uint8), [CONE, CONE])
    store = PictureStore([tmp_path, tmp_path / "later"], side=4)

    joined = [store.refresh(), store.refresh()]
    write_shard(tmp_path / "driving", 1, np.full((1, 6, 8, 3), 9, np.uint8), [SHEEP])
    joined.append(store.refresh())

    assert joined == [2, 0, 1]
    assert store.records == [CONE, CONE, SHEEP]
    assert len(store) == 3
    assert store.pictures([2, 0]).shape == (2, 4, 4, 3)
    assert store.pictures([2, 0])[:, 0, 0, 0].tolist() == [9, 7]


def test_pictures_that_are_no_shard_join_in_their_place(tmp_path):
    write_shard(tmp_path, 0, np.full((2, 4, 4, 3), 1, np.uint8), [CONE, SHEEP])
    store = PictureStore([tmp_path], side=4)
    added = np.stack([np.full((4, 4, 3), shade, np.uint8) for shade in (20, 30, 40)])

    store.add(added, [SHEEP, CONE, SHEEP])
    store.refresh()

    assert store.records == [SHEEP, CONE, SHEEP, CONE, SHEEP]
    assert store.pictures(np.array([1, 3, 2, 0, 4]))[:, 2, 2, 1].tolist() == [30, 1, 40, 20, 1]


def test_resized_leaves_a_square_of_the_same_side_as_it_is_and_squeezes_others():
    square = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    wide = np.zeros((4, 8, 3), np.uint8)
    wide[:, 4:] = 255

    assert resized(square, 4).tolist() == square.tolist()
    small = resized(wide, 4)
    assert small.shape == (4, 4, 3)
    assert (small[:, 0].max(), small[:, 3].min()) == (0, 255)


def test_seen_parts_of_the_tests_have_the_labels_of_their_kinds():
    assert seen("debris_near") == SeenObject(
        "debris_near", "debris", "heap of debris", True, (0.1, 0.2, 0.3, 0.4)
    )
    assert seen("smoke").is_asked is False
