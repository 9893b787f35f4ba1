"""The scene cache on disk: round trips, damage, limits."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from vlmlab.core.scenes.driving import sample_driving
from vlmlab.core.scenes.render.cache import DirectoryCache, decode_scene, description_from, encode_scene
from vlmlab.core.scenes.scene import Annotation, GeneratedScene


@pytest.fixture
def scene():
    description = sample_driving(("light_red", "cone", "far", "weather_wet"), seed=3)
    png = b"\x89PNG not really\n a picture"
    annotations = (
        Annotation("cone_0", "cone", "cone", True, (1.0, 2.0, 3.0, 4.0), (1.0, 2.0, 3.0, 5.0), 12, 0.75),
        Annotation("car_1", "car", "", False, None, (0.0, 0.0, 9.0, 9.0), 0, 0.0),
    )
    sha = hashlib.sha256(png).hexdigest()
    return GeneratedScene(description, png, sha, annotations, {"backend": "embedded"})


KEY = "0f" * 32


def test_get_returns_exactly_what_put_stored(tmp_path, scene):
    DirectoryCache(tmp_path).put(KEY, scene)

    found = DirectoryCache(tmp_path).get(KEY)

    assert found == scene
    assert found.description.digest == scene.description.digest


def test_get_of_an_unknown_key_is_none(tmp_path):
    assert DirectoryCache(tmp_path / "not_there").get(KEY) is None


@pytest.mark.parametrize("damage", ["cut", "flipped", "emptied"])
def test_get_forgets_and_removes_a_damaged_file(tmp_path, scene, damage):
    cache = DirectoryCache(tmp_path)
    cache.put(KEY, scene)
    (file,) = tmp_path.glob("*/*.scene")
    content = bytearray(file.read_bytes())
    if damage == "cut":
        content = content[:-5]
    elif damage == "flipped":
        content[200] ^= 1
    else:
        content = bytearray()
    file.write_bytes(bytes(content))

    assert cache.get(KEY) is None
    assert not file.exists()


def test_put_leaves_no_partial_files_and_survives_a_folder_that_cannot_be_made(tmp_path, scene):
    (tmp_path / "file").write_text("in the way")

    DirectoryCache(tmp_path / "file").put(KEY, scene)
    DirectoryCache(tmp_path / "good").put(KEY, scene)

    assert [path.name for path in (tmp_path / "good").glob("*/*")] == [f"{KEY}.scene"]


def test_put_removes_the_files_used_longest_ago_above_the_limit(tmp_path, scene):
    size = len(encode_scene(scene))
    cache = DirectoryCache(tmp_path, max_bytes=int(size * 3.5))
    keys = [f"{number:064x}" for number in range(5)]

    for age, key in enumerate(keys):
        cache.put(key, scene)
        file = next(tmp_path.glob(f"*/{key}.scene"), None)
        if file is not None:
            os.utime(file, ns=(age * 10**9, age * 10**9))

    kept = [key for key in keys if cache.get(key) is not None]
    assert keys[-1] in kept
    assert keys[0] not in kept
    assert len(kept) <= 3


def test_a_key_that_is_a_path_is_refused(tmp_path):
    with pytest.raises(ValueError, match="key"):
        DirectoryCache(tmp_path).get("../../etc/passwd")


def test_description_from_its_own_json_has_the_same_digest(scene):
    assert description_from(json.loads(scene.description.to_json())).digest == scene.description.digest


def test_decode_refuses_bytes_without_a_checksum():
    with pytest.raises(ValueError, match="checksum"):
        decode_scene(b"{}\n")


def sealed(record: object, png: bytes = b"") -> bytes:
    """Return a record as it lies on the disk, with its checksum in order."""
    body = json.dumps(record).encode() + b"\n" + png
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def reshaped(scene: GeneratedScene, change: str) -> object:
    record = json.loads(encode_scene(scene).split(b"\n")[1])
    if change == "a field more":
        record["annotations"][0]["colour"] = "red"
    elif change == "a field less":
        del record["description"]["camera"]
    elif change == "another type":
        record["description"]["objects"] = 7
    else:
        record = ["a list"]
    return record


@pytest.mark.parametrize("change", ["a field more", "a field less", "another type", "no record"])
def test_a_scene_that_another_version_wrote_in_another_shape_is_drawn_again(tmp_path, scene, change):
    cache = DirectoryCache(tmp_path)
    cache.put(KEY, scene)
    (file,) = tmp_path.glob("*/*.scene")
    file.write_bytes(sealed(reshaped(scene, change)))

    assert cache.get(KEY) is None
    cache.put(KEY, scene)
    assert cache.get(KEY) == scene


def refuse(*_arguments: object, **_options: object) -> None:
    raise PermissionError(30, "Read-only file system")


def test_a_damaged_file_on_a_read_only_disk_counts_as_unknown(tmp_path, scene, monkeypatch):
    cache = DirectoryCache(tmp_path)
    cache.put(KEY, scene)
    (file,) = tmp_path.glob("*/*.scene")
    file.write_bytes(b"damaged")
    for name in ("unlink", "mkdir", "replace"):
        monkeypatch.setattr(Path, name, refuse)

    assert cache.get(KEY) is None
    cache.put(KEY, scene)
    assert cache.get(KEY) is None


def test_a_folder_that_may_not_be_read_holds_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "is_file", refuse)

    assert not DirectoryCache(tmp_path).has(KEY)


def test_processes_that_share_a_folder_keep_the_limit_together(tmp_path, scene):
    size = len(encode_scene(scene))
    caches = [DirectoryCache(tmp_path, max_bytes=20 * size) for _ in range(5)]

    for number in range(100):
        caches[number % 5].put(f"{number:064x}", scene)

    assert 15 <= len(list(tmp_path.glob("*/*.scene"))) <= 20 + 5


def test_what_a_killed_process_left_half_written_goes_with_the_oldest_files(tmp_path, scene):
    size = len(encode_scene(scene))
    (tmp_path / "00").mkdir()
    half = tmp_path / "00" / "tmp1.part"
    half.write_bytes(bytes(3 * size))
    os.utime(half, ns=(0, 0))
    cache = DirectoryCache(tmp_path, max_bytes=4 * size)

    for number in range(2):
        cache.put(f"{number:064x}", scene)

    assert not half.exists()
    assert cache.has(f"{1:064x}")
