"""Small foreign datasets for tests: pictures, COCO files and tables, in folders and archives."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

from PIL import Image

CONE = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [4, 4, 10, 12]}


def photograph(shade: int, *, size: tuple[int, int] = (40, 30), ending: str = "PNG", turn: int = 1) -> bytes:
    """Return a picture of one shade; ``turn`` is its EXIF orientation."""
    out, exif = io.BytesIO(), Image.Exif()
    exif[0x0112] = turn
    Image.new("RGB", size, (shade, 90, 120)).save(out, ending, exif=exif)
    return out.getvalue()


def coco(
    files: list[str],
    annotations: list[dict[str, Any]],
    *,
    categories: tuple[str, ...] = ("cone",),
    **image: Any,
) -> bytes:
    """Return a COCO file; images and categories count from 1."""
    size = {"width": 40, "height": 30}
    content = {
        "images": [{"id": n, "file_name": file, **size, **image} for n, file in enumerate(files, start=1)],
        "categories": [{"id": n, "name": name} for n, name in enumerate(categories, start=1)],
        "annotations": annotations,
    }
    return json.dumps(content).encode()


def written(folder: Path, **files: bytes) -> Path:
    """Write files, ``__`` for the dot of a name, and return the folder."""
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_bytes(content)
    return folder


def zipped(files: dict[str, bytes]) -> io.BytesIO:
    """Return an archive of files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    out.seek(0)
    return out
