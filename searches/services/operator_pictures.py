"""Pictures under one operator: which picture, how large, and the PNG of it at a severity."""

import hashlib
import io
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from django.db.models import F
from PIL import Image

from searches.enums import DatasetState
from searches.models import Blob, Dataset, DatasetPicture
from searches.services.blobs import open_blob, store_blob, touch_blob
from vlmlab.core.errors import VlmLabError
from vlmlab.core.images import CanonicalImage, decode_png, png_size, read_image
from vlmlab.core.perturb.draws import operator_generator
from vlmlab.core.perturb.image_operator import Pixels, Size
from vlmlab.core.perturb.image_operators import IMAGE_OPERATORS

THUMBNAIL_SIDE = 176
"""Longest side of a small picture in pixels: at most this much is shown of it in a strip of six."""

WORKING_PIXELS = 500_000
"""A larger picture is scaled down before an operator acts, so that every picture comes within 0.1 s."""

MOST_SHOWN_BOXES = 30
LARGEST_SEED = 2**63 - 1
_decoding = threading.Lock()
_COMPRESSION = 3  # these pictures are looked at once: half the time of the usual level, a tenth more bytes


@dataclass(frozen=True)
class ShownPicture:
    """The picture that the operators act on.

    Attributes:
        sha256: digest of its canonical PNG.
        width, height: in pixels.
        row: its place in a dataset; None for an uploaded one.
        dataset_slug: of that dataset, "" for an uploaded one.
    """

    sha256: str
    width: int
    height: int
    row: DatasetPicture | None = None
    dataset_slug: str = ""

    @property
    def working_size(self) -> Size:
        """Width and height at which operators act on it."""
        return working_size(self.width, self.height)

    @property
    def named(self) -> str:
        """What it is called."""
        return str(self.row) if self.row is not None else "Uploaded picture"


def usable_datasets() -> list[Dataset]:
    """Return the datasets with pictures, those that come with the lab first."""
    rows = Dataset.objects.filter(state=DatasetState.READY, n_pictures__gt=0)
    return list(rows.order_by(F("is_sample").desc(), "title").defer("recipe", "credits"))


def chosen_picture(
    datasets: Sequence[Dataset], *, slug: str = "", order: int | None = None, upload: str = ""
) -> ShownPicture | None:
    """Return the picture that somebody chose: an uploaded one, one of a dataset, or the first there is.

    Raises:
        VlmLabError: it is not there; ``field`` says what to change.
    """
    if upload:
        return find_uploaded(upload)
    if not datasets:
        return None
    dataset = next((one for one in datasets if one.slug == slug), datasets[0])
    return find_dataset_picture(dataset, first_order(dataset) if order is None else order)


def find_dataset_picture(dataset: Dataset, order: int) -> ShownPicture:
    """Return a picture of a dataset by its place, or the first one.

    Raises:
        VlmLabError: there is none there, or its file is not kept.
    """
    rows = dataset.pictures.defer("description", "provenance")
    row = rows.filter(order=order).first()
    if row is None:
        raise VlmLabError(
            f"{dataset.title} has no picture {order}.",
            hint="Enter the number of another one; its page lists them.",
            field="order",
        )
    if not _is_kept(row.image_sha256):
        raise VlmLabError("The file of this picture is not kept.", hint="Choose another.", field="order")
    return ShownPicture(row.image_sha256, row.width, row.height, row, dataset.slug)


def first_order(dataset: Dataset) -> int:
    """Return the place of a dataset's first picture; 0 where it has none."""
    return dataset.pictures.order_by("order").values_list("order", flat=True).first() or 0


def find_uploaded(sha256: str) -> ShownPicture:
    """Return a stored picture by its digest, and keep it from collection for as long as somebody looks.

    Raises:
        VlmLabError: it is not kept (any more).
    """
    if not _is_kept(sha256):
        raise VlmLabError("This picture is not kept any more.", hint="Upload it again.", field="upload")
    touch_blob(sha256)
    with open_blob(sha256) as file:
        width, height = png_size(file.read(24))
    return ShownPicture(sha256, width, height)


def store_upload(content: bytes) -> CanonicalImage:
    """Check an uploaded picture, store it, and return it in canonical form.

    Nothing names it but the address of the page, so it is collected once nobody has looked for an hour.

    Raises:
        ImageError: it is no picture, too large, or damaged.
        StorageError: it cannot be written.
    """
    image = read_image(content)
    store_blob(image.png)
    return image


def check_is_kept(sha256: str) -> None:
    """Make sure that a picture is stored.

    Raises:
        VlmLabError: it is not kept (any more).
    """
    if not _is_kept(sha256):
        raise VlmLabError("This picture is not kept any more.", hint="Choose or upload another.")


def operator_png(sha256: str, operator: str, *, severity: float, seed: int, is_small: bool) -> bytes:
    """Return a stored picture under an operator as PNG.

    Args:
        sha256: digest of a stored picture.
        operator: key of ``IMAGE_OPERATORS``.
        severity: in [0, 1].
        seed: what a run would have as run seed.
        is_small: scaled down after the operator has acted.

    Raises:
        VlmLabError: the picture is not kept.
    """
    with _decoding:  # a page asks for many at once; only the first decodes a picture that may be large
        pixels = _working_pixels(sha256)
    rng = operator_generator(seed, image_id=sha256, operator=operator)
    changed = IMAGE_OPERATORS[operator].apply(pixels, severity, rng)
    image = Image.fromarray(changed)
    if is_small:
        image = image.resize(thumbnail_size(*image.size), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=_COMPRESSION)
    return buffer.getvalue()


def etag_of(content: bytes) -> str:
    """Return the entity tag of a file."""
    return f'"{hashlib.sha256(content).hexdigest()[:32]}"'


def working_size(width: int, height: int) -> Size:
    """Return the size at which operators act: the picture's own, or with at most ``WORKING_PIXELS``."""
    factor = min(1.0, (WORKING_PIXELS / (width * height)) ** 0.5)
    return max(1, int(width * factor)), max(1, int(height * factor))


def thumbnail_size(width: int, height: int) -> Size:
    """Return the size of a small picture; a picture that is smaller stays as it is."""
    factor = min(1.0, THUMBNAIL_SIDE / max(width, height))
    return max(1, round(width * factor)), max(1, round(height * factor))


def _is_kept(sha256: str) -> bool:
    return Blob.objects.filter(pk=sha256, media_type="image/png").exists()


@lru_cache(maxsize=6)
def _working_pixels(sha256: str) -> Pixels:
    """Return the pixels of a stored picture; a page asks for the same one 150 times."""
    with open_blob(sha256) as file:
        png = file.read()
    pixels = decode_png(png)
    size = working_size(pixels.shape[1], pixels.shape[0])
    if size != (pixels.shape[1], pixels.shape[0]):
        pixels = np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.BOX), dtype=np.uint8)
    pixels.flags.writeable = False
    return pixels
