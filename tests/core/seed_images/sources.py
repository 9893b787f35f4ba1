"""Small foreign datasets, written by hand the way the tools of each format write them."""

import io
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from PIL import Image

from vlmlab.core.images import decode_png
from vlmlab.core.seed_images.files import ReadFiles
from vlmlab.core.seed_images.importing import import_pictures
from vlmlab.core.seed_images.pictures import SeedPicture
from vlmlab.core.seed_images.report import ImportReport
from vlmlab.core.seed_images.settings import ImportLimits, ImportSettings

RED = (255, 0, 0)


def photograph(
    shade: int = 60,
    *,
    size: tuple[int, int] = (80, 60),
    marked: tuple[int, int, int, int] | None = None,
    form: str = "PNG",
    turn: int = 1,
) -> bytes:
    """Return a picture of one shade with a red rectangle; ``turn`` is its EXIF orientation."""
    pixels = np.full((size[1], size[0], 3), (shade, 90, 120), np.uint8)
    if marked is not None:
        pixels[marked[1] : marked[3], marked[0] : marked[2]] = RED
    return saved(Image.fromarray(pixels), form, turn=turn)


def saved(image: Image.Image, form: str, *, turn: int = 1, **options: Any) -> bytes:
    """Return a picture as a file."""
    out, exif = io.BytesIO(), Image.Exif()
    if turn != 1:
        exif[0x0112] = turn
        options["exif"] = exif
    image.save(out, form, **options)
    return out.getvalue()


def red_box(picture: SeedPicture) -> tuple[int, int, int, int]:
    """Return the corners of the red pixels of a picture that was taken."""
    pixels = decode_png(picture.image.png).astype(int)
    rows, columns = np.nonzero((pixels[:, :, 0] > 200) & (pixels[:, :, 1] < 60))
    return int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1


def imported(
    files: Mapping[str, bytes], *, limits: ImportLimits | None = None, **settings: Any
) -> tuple[list[SeedPicture], ImportReport]:
    """Return what an import of files takes, and its report."""
    report = ImportReport()
    source = ReadFiles(tuple(files), files.__getitem__)
    pictures = list(import_pictures(source, ImportSettings(**settings), report=report, limits=limits))
    return pictures, report


def told(report: ImportReport) -> list[tuple[str, str, str, str]]:
    """Return scope, kind, file and row of every refusal."""
    return [(one.scope, one.kind, one.file, one.row) for one in report.refusals]


def truth(picture: SeedPicture) -> list[tuple[str, tuple[float, ...]]]:
    """Return label and box of every thing, rounded to a thousandth of a pixel."""
    return [(one.label, tuple(round(side, 3) for side in one.box)) for one in picture.things]


def coco(
    images: list[dict[str, Any]],
    annotations: list[dict[str, Any]],
    categories: list[dict[str, Any]],
    **more: Any,
) -> bytes:
    """Return a COCO file with its keys in the order of the official files: categories come last."""
    return json.dumps(
        {
            "info": {"description": "by hand", "year": 2017},
            "licenses": [{"id": 1, "name": "CC", "url": "http://example.org"}],
            "images": images,
            "annotations": annotations,
            **more,
            "categories": categories,
        }
    ).encode()


def voc(
    filename: str,
    objects: str,
    *,
    size: tuple[int, int] | None = (80, 60),
    head: str = '<?xml version="1.0"?>',
) -> bytes:
    """Return a VOC file."""
    sides = f"<size><width>{size[0]}</width><height>{size[1]}</height><depth>3</depth></size>" if size else ""
    names = f"<folder>VOC2007</folder><filename>{filename}</filename>"
    return f"{head}<annotation>{names}{sides}{objects}</annotation>".encode()


def thing(name: str, box: tuple[object, ...], *, more: str = "") -> str:
    """Return an object of a VOC file, its box in the order of the oldest files: xmax first."""
    x_min, y_min, x_max, y_max = box
    sides = f"<xmax>{x_max}</xmax><xmin>{x_min}</xmin><ymax>{y_max}</ymax><ymin>{y_min}</ymin>"
    return f"<object><name>{name}</name>{more}<bndbox>{sides}</bndbox></object>"
