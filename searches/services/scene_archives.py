"""The archive that scenes are downloaded as: pictures, COCO file, tables, descriptions, credits."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from searches.services.blobs import StorageError, open_blob
from searches.services.exports import csv_lines
from vlmlab import __version__
from vlmlab.core.scenes.coco import CocoPicture, CocoThing, coco_json
from vlmlab.core.scenes.render.credits import ATTRIBUTION_FILE
from vlmlab.web.zip_streams import text_bytes, zip_pieces

FILE_BYTES = 256 * 1024
CONCEPT_COLUMNS = (
    "file_name", "stratum", "concepts", "labels", "domain", "rule", "expected", "answered", "verdict",
    "scene_seed", "attempt", "description_digest", "picture_sha256",
)  # fmt: skip
MISSING_COLUMNS = ("picture", "concepts", "scene_seed", "attempt", "description_digest")


@dataclass(frozen=True)
class ScenePicture:
    """One picture with all that is known of it; ``values`` are further columns of the table of concepts."""

    file_name: str
    sha256: str
    width: int
    height: int
    concepts: tuple[str, ...]
    things: tuple[CocoThing, ...]
    scene_seed: int | None
    attempt: int
    digest: str
    provenance: Mapping[str, Any]
    description: Callable[[], Mapping[str, Any]]
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SceneExport:
    """What an archive is made of.

    Attributes:
        name: of the file, without ending.
        title: for people.
        pictures: gives those that are kept, in the same order each time.
        missing: gives those that are not.
        credits, licence: whom the pictures are owed to, and on what terms.
        has_assets: whether the table of assets belongs to it.
    """

    name: str
    title: str
    pictures: Callable[[], Iterable[ScenePicture]]
    missing: Callable[[], Iterable[ScenePicture]]
    credits: str
    licence: str
    has_assets: bool


def export_zip(export: SceneExport) -> Iterator[bytes]:
    """Return an archive piece by piece."""
    return zip_pieces(_members(export))


def _members(export: SceneExport) -> Iterator[tuple[str, Iterable[bytes]]]:
    yield "README.txt", text_bytes([_readme(export)])
    yield "CREDITS.txt", text_bytes([_credits(export)])
    if export.has_assets:
        yield "ATTRIBUTION.tsv", [ATTRIBUTION_FILE.read_bytes()]
    yield "annotations.json", text_bytes(_coco(export))
    yield "concepts.csv", text_bytes(_table(CONCEPT_COLUMNS, map(_concept_row, export.pictures())))
    yield "descriptions.jsonl", text_bytes(_descriptions(export))
    yield "missing.csv", text_bytes(_table(MISSING_COLUMNS, map(_missing_row, export.missing())))
    for picture in export.pictures():
        yield f"images/{picture.file_name}", _file(picture)


def _file(picture: ScenePicture) -> Iterator[bytes]:
    try:
        with open_blob(picture.sha256) as file:
            while piece := file.read(FILE_BYTES):
                yield piece
    except StorageError:  # collected since it was listed: an empty file says so, the archive goes on
        return


def _coco(export: SceneExport) -> Iterator[str]:
    def pictures() -> Iterator[CocoPicture]:
        for one in export.pictures():
            extra = {"concepts": list(one.concepts), "sha256": one.sha256, "license": 1}
            yield CocoPicture(one.file_name, one.width, one.height, one.things, extra)

    licence = {"id": 1, "name": export.licence or "see CREDITS.txt", "url": ""}
    info = {"description": export.title, "version": __version__, "contributor": "VLM Lab"}
    return coco_json(pictures, info=info, licences=[licence])


def _table(columns: tuple[str, ...], rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    return csv_lines(columns, ([row.get(name, "") for name in columns] for row in rows))


def _concept_row(picture: ScenePicture) -> dict[str, Any]:
    return {
        **picture.values,
        "file_name": picture.file_name,
        "concepts": ";".join(picture.concepts),
        "labels": ";".join(sorted({one.label for one in picture.things})),
        "scene_seed": "" if picture.scene_seed is None else picture.scene_seed,
        "attempt": picture.attempt,
        "description_digest": picture.digest,
        "picture_sha256": picture.sha256,
    }


def _missing_row(picture: ScenePicture) -> dict[str, Any]:
    return _concept_row(picture) | {"picture": picture.file_name}


def _descriptions(export: SceneExport) -> Iterator[str]:
    for one in export.pictures():
        row = {
            "file_name": one.file_name,
            "scene_seed": one.scene_seed,
            "attempt": one.attempt,
            "digest": one.digest,
            "made_by": dict(one.provenance),
            "description": one.description() or None,
        }
        yield json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n"


def _credits(export: SceneExport) -> str:
    lines = [f"{export.title}", "", f"Licence: {export.licence or 'not stated'}", ""]
    return "\n".join([*lines, export.credits or "Nobody is named for these pictures.", ""])


def _readme(export: SceneExport) -> str:
    missing = sum(1 for _ in export.missing())
    gone = (
        f"{missing} pictures are not kept any more and listed in missing.csv"
        if missing
        else "None is missing"
    )
    return README.format(title=export.title, version=__version__, gone=gone)


README = """{title}
Written by VLM Lab {version}.

images/             the pictures, PNG
annotations.json    COCO instances: boxes and, where known, masks (compressed run-length) of what is visible.
                    Beside COCO's fields, an annotation has kind, concept, amodal_box (x_min, y_min, x_max,
                    y_max of the whole thing, cut at the frame), visible_fraction, and is_asked: whether
                    "locate the CATEGORY" has exactly this answer in the picture. An empty segmentation means
                    that no mask is known. Things that no concept asks for are not annotated.
concepts.csv        a line a picture: its concepts, joined by ";", and what decides the expected answer
descriptions.jsonl  a line a picture: seed, attempt, digest, what made it, and the scene in metres, Z up.
                    The description is null where this version cannot tell it.
missing.csv         pictures that are not kept: the seed makes them again. {gone}.
CREDITS.txt         whom the pictures are owed to; it must travel with them. ATTRIBUTION.tsv is the table.

In tables a quote stands before a cell that a spreadsheet would take for a formula.
"""
