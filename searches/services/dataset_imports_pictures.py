"""Pictures of an upload, opened and checked against the rows that name them."""

from typing import Any

from searches.models import DatasetPicture
from searches.services.archives import WHOLE_ARCHIVE
from searches.services.blobs import store_blob
from searches.services.dataset_imports_files import UploadFiles
from searches.services.dataset_imports_rows import (
    Box,
    ImportRefusedError,
    NotedPicture,
    NotedThing,
    Refusal,
    RowError,
    checked_box,
    printable,
)
from vlmlab.core.errors import VlmLabError
from vlmlab.core.images import DEFAULT_LIMITS, CanonicalImage, read_image
from vlmlab.core.scenes.concepts import Domain
from vlmlab.core.scenes.mask_checks import checked_mask

MOST_NAME_CHARACTERS = 200
UNSAFE_SIGNS = frozenset('\\:*?"<>|')  # that one system or another takes for something else


class PictureGathering:
    """Opens picture after picture, checks its rows against it, and keeps what is sound.

    Args:
        files: of the upload.
        domain: whose concepts are meant.
        max_pixels: of all pictures together; None for no limit.
    """

    def __init__(self, files: UploadFiles, domain: Domain, *, max_pixels: int | None) -> None:
        self._files, self._domain, self._max_pixels = files, domain, max_pixels
        self._seen: dict[str, str] = {}
        self._names: set[str] = set()
        self._pixels = 0
        self.rows: list[DatasetPicture] = []
        self.refused: list[Refusal] = []

    def take(self, noted: NotedPicture) -> None:
        """Add one picture to the rows, or what is wrong with it to the refusals.

        Raises:
            ArchiveError: all files together hold too much.
            ImportRefusedError: all pictures together have too many pixels.
            StorageError: the disk is full.
        """
        if noted.faults:
            self.refused += noted.faults
            self.refused.append(Refusal(noted.file, "left out, because a row of it is wrong."))
            return
        try:
            image = read_image(self._files.read(noted.file, max_bytes=DEFAULT_LIMITS.max_bytes))
        except VlmLabError as error:
            if error.field == WHOLE_ARCHIVE:
                raise
            self.refused.append(Refusal(noted.file, str(error)))
            return
        self._count_pixels(image)
        try:
            self._check_picture(noted, image)
            things = [_annotation(thing, image) for thing in noted.things]
        except RowError as error:
            self.refused.append(Refusal(noted.file, f"{error}."))
            return
        self._seen[image.sha256] = noted.file
        store_blob(image.png)
        self.rows.append(
            DatasetPicture(
                order=len(self.rows),
                file_name=free_name(noted.file, taken=self._names, number=len(self.rows)),
                image_sha256=image.sha256,
                width=image.width,
                height=image.height,
                concepts=list(self._domain.canonical(noted.concepts)),
                annotations=things,
            )
        )

    def _check_picture(self, noted: NotedPicture, image: CanonicalImage) -> None:
        if image.sha256 in self._seen:
            raise RowError(f"is the same picture as {self._seen[image.sha256]}")
        if noted.size is not None and noted.size != (image.width, image.height):
            width, height = noted.size
            turned = " once it is turned upright" if noted.size == (image.height, image.width) else ""
            raise RowError(
                f"has {image.width} x {image.height} pixels{turned}, its row says {width} x {height}"
            )

    def _count_pixels(self, image: CanonicalImage) -> None:
        self._pixels += image.width * image.height
        if self._max_pixels is not None and self._pixels > self._max_pixels:
            raise ImportRefusedError(
                f"The pictures have more than {self._max_pixels / 1e6:,.0f} million pixels together.",
                hint="Scale them down, or import them with `manage.py import_dataset`.",
            )


def free_name(path: str, *, taken: set[str], number: int) -> str:
    """Return the name of a picture in exports: a plain path of its own on every system.

    Args:
        path: in the upload.
        taken: names in use, without regard to case; the new one is added.
        number: of the picture, for one whose name is taken.
    """
    name = "".join("_" if sign in UNSAFE_SIGNS else sign for sign in printable(path))
    while len(name) > MOST_NAME_CHARACTERS and "/" in name:
        name = name.partition("/")[2]
    name = name[-MOST_NAME_CHARACTERS:].lstrip(".")
    if name.casefold() in taken:
        name = f"{number:06d}-{name.rpartition('/')[2]}"[-MOST_NAME_CHARACTERS:]
    taken.add(name.casefold())
    return name


def _annotation(thing: NotedThing, image: CanonicalImage) -> dict[str, Any]:
    """Return the stored form of a thing.

    Raises:
        RowError: its box or mask does not fit the picture.
    """
    size = {"width": image.width, "height": image.height}
    try:
        mask = checked_mask(thing.segmentation, **size)
        box = checked_box(thing.box if thing.box is not None else _box_of_mask(mask, **size), **size)
    except RowError as error:
        raise RowError(f"left out, because of {thing.where}: {error}") from error
    except ValueError as error:
        raise RowError(f"left out, because of {thing.where}: the segmentation {error}") from error
    return {
        "label": thing.label,
        "concept": thing.concept,
        "box": list(box),
        "amodal_box": list(box),
        "visible_fraction": 1.0,
        "mask": mask,
    }


def _box_of_mask(mask: str, *, width: int, height: int) -> Box:
    # Imported here: the decoder is only needed for things that have a mask and no box.
    from pycocotools import mask as coco

    if not mask:
        raise RowError("it has neither box nor mask")
    left, top, wide, high = coco.toBbox({"size": [height, width], "counts": mask.encode("ascii")})
    return float(left), float(top), float(left + wide), float(top + high)
