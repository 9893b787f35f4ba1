"""Rendered training pictures on disk: one array and one JSON file a shard, joined as they appear."""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from vlmlab.core.scenes.asked_labels import label_of
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.scene import GeneratedScene
from vlmlab.core.scenes.strata import truth_of as annotated_truth

Pixels = npt.NDArray[np.uint8]
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class SeenObject:
    """One visible object of a picture.

    Attributes:
        concept: the concept it realises, "" for a distractor.
        kind: of the scene object.
        label: what it is called in a prompt, "" where it has no fixed name.
        is_asked: whether "locate the LABEL" has exactly this answer.
        box: what can be seen of it: x_min, y_min, x_max, y_max as fractions of the picture.
    """

    concept: str
    kind: str
    label: str
    is_asked: bool
    box: Box


@dataclass(frozen=True)
class PictureRecord:
    """The truth of one stored picture: its domain and set, and what can be seen, in scene order."""

    domain: str
    key: tuple[str, ...]
    scene_seed: int
    objects: tuple[SeenObject, ...]


def record_of(
    domain: Domain, key: tuple[str, ...], scene: GeneratedScene, *, size: tuple[int, int]
) -> PictureRecord:
    """Return the record of a generated scene; ``size`` is the picture's width and height in pixels."""
    width, height = size
    asked = {(one.kind, one.box) for one in annotated_truth(scene, domain, size=size) if one.is_asked}
    variants = {one.id: one.parameters for one in scene.description.objects}
    objects = []
    for note in scene.annotations:
        box = note.visible_box
        if box is None:
            continue
        label = label_of(note.kind, variants.get(note.object_id, {}))
        objects.append(
            SeenObject(
                concept=note.concept,
                kind=note.kind,
                label=label.text if label is not None else "",
                is_asked=(note.kind, box) in asked,
                box=(box[0] / width, box[1] / height, box[2] / width, box[3] / height),
            )
        )
    return PictureRecord(domain.slug, key, scene.description.seed, tuple(objects))


def write_shard(folder: Path, number: int, pictures: Pixels, records: Sequence[PictureRecord]) -> None:
    """Write one shard, both halves by renaming, the JSON half last: a half-written shard is never read."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = folder / f"shard_{number:04d}"
    unfinished = stem.with_suffix(f".{os.getpid()}.tmp")
    with unfinished.open("wb") as file:
        np.save(file, pictures)
    unfinished.rename(stem.with_suffix(".npy"))
    unfinished.write_text(json.dumps([asdict(record) for record in records]))
    unfinished.rename(stem.with_suffix(".json"))


def read_shard(path: Path) -> tuple[Pixels, list[PictureRecord]]:
    """Read both halves of a shard by the path of its JSON half.

    Raises:
        ValueError: a half is damaged, or they are not of one length.
    """
    try:
        pictures: Pixels = np.load(path.with_suffix(".npy"))
        records = read_records(path)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged ({error}): delete both halves and render it again.") from error
    if len(pictures) != len(records):
        raise ValueError(
            f"{path} tells of {len(records)} pictures and there are {len(pictures)}: delete both halves and "
            "render it again."
        )
    return pictures, records


def read_records(path: Path) -> list[PictureRecord]:
    """Read the JSON half of a shard."""
    return [
        PictureRecord(
            str(row["domain"]),
            tuple(row["key"]),
            int(row["scene_seed"]),
            tuple(SeenObject(**{**one, "box": tuple(one["box"])}) for one in row["objects"]),
        )
        for row in json.loads(path.read_text())
    ]


class PictureStore:
    """All pictures of some folders, resized once as the model's own image processor would."""

    def __init__(self, folders: Sequence[Path], *, side: int) -> None:
        self.folders = tuple(folders)
        self.side = side
        self.records: list[PictureRecord] = []
        self._blocks: list[Pixels] = []
        self._starts: list[int] = []
        self._known: set[Path] = set()

    def __len__(self) -> int:
        return len(self.records)

    def add(self, pictures: Pixels, records: Sequence[PictureRecord]) -> None:
        """Join ``(n, side, side, 3)`` pictures that are no shard."""
        self._starts.append(len(self))
        self._blocks.append(pictures)
        self.records.extend(records)

    def refresh(self) -> int:
        """Join shards that appeared since the last call; return how many pictures came."""
        before = len(self)
        for folder in self.folders:
            for path in sorted(folder.rglob("shard_*.json")):
                if path in self._known:
                    continue
                self._known.add(path)
                pictures, records = read_shard(path)
                self.add(np.stack([resized(picture, self.side) for picture in pictures]), records)
        return len(self) - before

    def pictures(self, numbers: Iterable[int]) -> Pixels:
        """Return ``(n, side, side, 3)`` pictures."""
        numbers = [int(number) for number in numbers]
        places = np.searchsorted(self._starts, numbers, side="right") - 1
        return np.stack(
            [
                self._blocks[place][number - self._starts[place]]
                for place, number in zip(places, numbers, strict=True)
            ]
        )


def resized(picture: Pixels, side: int) -> Pixels:
    """Return the picture as a square, with the resampling of the shipped image processor."""
    image = Image.fromarray(picture).resize((side, side), Image.Resampling.BICUBIC)
    return np.asarray(image)
