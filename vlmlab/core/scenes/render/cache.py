"""Keeping finished scenes on disk, so that the same scene is never drawn twice."""

import hashlib
import json
import os
import tempfile
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from vlmlab.core.scenes.scene import Annotation, Camera, GeneratedScene, SceneDescription, SceneObject

SUFFIX = ".scene"
PART = ".part"
KEPT_SHARE = 0.9
COUNTED_EACH = 0.02  # of the limit; others write into the same folder, so it is counted again and again
DEFAULT_MAX_BYTES = 2_000_000_000


def scene_key(identity: str, concepts: tuple[str, ...], *, seed: int) -> str:
    """Return the key of the scene that a source of this identity makes of a canonical set and a seed."""
    return hashlib.sha256("\n".join([identity, str(seed), *concepts]).encode()).hexdigest()


class SceneCache(Protocol):
    """Remembers scenes by a key of hexadecimal digits."""

    def get(self, key: str) -> GeneratedScene | None:
        """Return the scene of a key; None when it is unknown, or damaged."""
        ...

    def has(self, key: str) -> bool:
        """Return whether a scene of this key is remembered; it may still turn out to be damaged."""
        ...

    def put(self, key: str, scene: GeneratedScene) -> None:
        """Remember a scene; never raises because of the storage."""
        ...


class DirectoryCache:
    """One file a scene below a folder: a line of JSON, then the PNG; the oldest files go first.

    A file that is cut, altered or of another shape counts as unknown and is removed. Writing is atomic, so
    several processes may share a folder. A full or read-only disk only means that nothing is remembered.

    Args:
        path: the folder; made when it is missing.
        max_bytes: size above which the files used longest ago are removed.
    """

    def __init__(self, path: Path, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._room: float | None = None

    def get(self, key: str) -> GeneratedScene | None:
        """Return the scene of a key, or None."""
        file = self._file(key)
        try:
            content = file.read_bytes()
        except OSError:
            return None
        try:
            scene = decode_scene(content)
        except ValueError:
            with suppress(OSError):
                file.unlink(missing_ok=True)
            return None
        with suppress(OSError):
            os.utime(file)
        return scene

    def has(self, key: str) -> bool:
        """Return whether there is a file of this key."""
        try:
            return self._file(key).is_file()
        except OSError:
            return False

    def put(self, key: str, scene: GeneratedScene) -> None:
        """Write a scene; a storage error leaves the cache without it."""
        content = encode_scene(scene)
        file = self._file(key)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=file.parent, suffix=PART, delete=False) as part:
                try:
                    part.write(content)
                    part.close()
                    Path(part.name).replace(file)
                except OSError:
                    Path(part.name).unlink(missing_ok=True)
                    return
            self._make_room(len(content))
        except OSError:
            return

    def _file(self, key: str) -> Path:
        if not key or not key.isalnum():
            raise ValueError(f"key: expected letters and digits, got {key!r}")
        return self._path / key[:2] / f"{key}{SUFFIX}"

    def _make_room(self, added: int) -> None:
        """Remove the files used longest ago once the limit is passed; those half written by the dead count.

        Between two counts this process adds a small share of the limit.
        """
        if self._room is not None and added <= self._room:
            self._room -= added
            return
        states = []
        for file in sorted(self._path.glob("*/*")):
            if file.suffix not in (SUFFIX, PART):
                continue
            try:
                state = file.stat()
            except OSError:
                continue
            states.append((state.st_mtime_ns, state.st_size, file))
        total = sum(size for _, size, _ in states)
        if total > self._max_bytes:
            for _, size, file in sorted(states, key=lambda entry: entry[0]):
                if total <= self._max_bytes * KEPT_SHARE:
                    break
                file.unlink(missing_ok=True)
                total -= size
        self._room = min(self._max_bytes - total, self._max_bytes * COUNTED_EACH)


def encode_scene(scene: GeneratedScene) -> bytes:
    """Return a scene as one line of JSON and its PNG, with a checksum over both."""
    record = {
        "description": asdict(scene.description),
        "annotations": [asdict(annotation) for annotation in scene.annotations],
        "provenance": scene.provenance,
        "image_sha256": scene.image_sha256,
        "masks": scene.masks,
    }
    body = json.dumps(record, sort_keys=True, separators=(",", ":")).encode() + b"\n" + scene.image_png
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def decode_scene(content: bytes) -> GeneratedScene:
    """Read what ``encode_scene`` wrote.

    Raises:
        ValueError: the bytes were cut or altered, or another version wrote them in another shape.
    """
    checksum, _, body = content.partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != checksum:
        raise ValueError("content: the checksum does not match")
    line, _, image_png = body.partition(b"\n")
    try:
        return _scene_from(json.loads(line), image_png)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"content: not the shape of a scene ({error})") from error


def _scene_from(record: dict[str, Any], image_png: bytes) -> GeneratedScene:
    return GeneratedScene(
        description=description_from(record["description"]),
        image_png=image_png,
        image_sha256=record["image_sha256"],
        annotations=tuple(_annotation_from(row) for row in record["annotations"]),
        provenance=record["provenance"],
        masks=record.get("masks", {}),
    )


def description_from(record: dict[str, Any]) -> SceneDescription:
    """Return the description that ``to_json`` wrote, from its parsed JSON."""
    camera = record["camera"]
    return SceneDescription(
        domain=record["domain"],
        concepts=tuple(record["concepts"]),
        seed=record["seed"],
        attempt=record["attempt"],
        camera=Camera(
            position=_triple(camera["position"]),
            look_at=_triple(camera["look_at"]),
            fov=camera["fov"],
            roll=camera["roll"],
        ),
        environment={name: _value(value) for name, value in record["environment"].items()},
        world={name: _value(value) for name, value in record["world"].items()},
        objects=tuple(
            SceneObject(**{**item, "position": _triple(item["position"])}) for item in record["objects"]
        ),
    )


def _annotation_from(row: dict[str, Any]) -> Annotation:
    visible = row["visible_box"]
    boxes = {"visible_box": tuple(visible) if visible else None, "amodal_box": tuple(row["amodal_box"])}
    return Annotation(**{**row, **boxes})


def _triple(values: list[float]) -> tuple[float, float, float]:
    x, y, z = values
    return x, y, z


def _value(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
