"""Rendered training pictures on disk: one array and one JSON file a shard, joined as they appear."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from tools.pocket.truth import SceneTruth, SeenThing, truth_of
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.scene import Annotation

Pixels = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class PictureRecord:
    """The truth of one stored picture; boxes are fractions of the picture."""

    key: tuple[str, ...]
    scene_seed: int
    things: tuple[SeenThing, ...]


def seen_things(
    truth: SceneTruth, annotations: Sequence[Annotation], *, width: int, height: int
) -> tuple[SeenThing, ...]:
    """Return the things of a truth that have a visible box, with boxes in fractions."""
    states = {thing.concept: thing.state for thing in truth.things}
    seen = []
    for note in annotations:
        if note.concept not in states or note.visible_box is None:
            continue
        x_min, y_min, x_max, y_max = note.visible_box
        box = (x_min / width, y_min / height, x_max / width, y_max / height)
        seen.append(SeenThing(note.concept, states[note.concept], box))
    return tuple(seen)


def write_shard(folder: Path, number: int, pictures: Pixels, records: Sequence[PictureRecord]) -> None:
    """Write one shard; the JSON file comes last and by renaming, so a half-written shard is never read."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = folder / f"shard_{number:04d}"
    np.save(stem.with_suffix(".npy"), pictures)
    unfinished = stem.with_suffix(".tmp")
    unfinished.write_text(json.dumps([asdict(record) for record in records]))
    unfinished.rename(stem.with_suffix(".json"))


def read_records(path: Path) -> list[PictureRecord]:
    """Read the JSON half of a shard."""
    return [
        PictureRecord(
            tuple(row["key"]),
            int(row["scene_seed"]),
            tuple(SeenThing(t["concept"], t["state"], tuple(t["box"])) for t in row["things"]),
        )
        for row in json.loads(path.read_text())
    ]


class PictureStore:
    """All pictures of some folders, resized once as the model's own image processor would."""

    def __init__(self, folders: Sequence[Path], *, domain: Domain, side: int) -> None:
        self.folders = tuple(folders)
        self.domain = domain
        self.side = side
        self.records: list[PictureRecord] = []
        self.truths: list[SceneTruth] = []
        self._blocks: list[Pixels] = []
        self._starts: list[int] = []
        self._known: set[Path] = set()

    def __len__(self) -> int:
        return len(self.records)

    def refresh(self) -> int:
        """Join shards that appeared since the last call; return how many pictures came."""
        before = len(self)
        for folder in self.folders:
            for path in sorted(folder.glob("shard_*.json")):
                if path in self._known:
                    continue
                self._known.add(path)
                records = read_records(path)
                pictures = np.load(path.with_suffix(".npy"))
                self._starts.append(len(self))
                self._blocks.append(np.stack([resized(picture, self.side) for picture in pictures]))
                self.records.extend(records)
                self.truths.extend(truth_of(self.domain, record.key) for record in records)
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
