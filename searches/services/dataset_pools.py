"""A dataset as the pool of pictures that a picture source draws from."""

import hashlib
import json
from functools import lru_cache

from django.db.models import Count, Max

from searches.enums import DatasetState
from searches.models import Dataset, DatasetPicture
from searches.services.blobs import StorageError, open_blob
from vlmlab.core.errors import SourceAwayError
from vlmlab.core.scenes.pools import PicturePool, PoolAnnotation, PoolPicture

CHUNK = 500
ROW_FIELDS = ("image_sha256", "file_name", "width", "height", "concepts", "annotations")


def pool_of_dataset(dataset: Dataset) -> PicturePool:
    """Return the pictures of a dataset; kept in memory as long as no picture is added or taken away.

    Raises:
        SourceAwayError: the dataset is not ready.
    """
    if dataset.state != DatasetState.READY:
        raise SourceAwayError(
            f"The dataset {dataset.title} is {dataset.get_state_display().lower()}.",
            hint="Wait until it is ready, or choose another.",
            field="dataset",
        )
    rows = DatasetPicture.objects.filter(dataset=dataset)
    state = rows.aggregate(last=Max("id"), number=Count("id"))
    return _pool(dataset.pk, dataset.slug, state["last"] or 0, state["number"])


@lru_cache(maxsize=8)
def _pool(dataset_id: int, slug: str, last: int, number: int) -> PicturePool:
    rows = DatasetPicture.objects.filter(dataset_id=dataset_id).order_by("order").values(*ROW_FIELDS)
    pictures, total = [], hashlib.sha256()
    for row in rows.iterator(chunk_size=CHUNK):
        total.update(json.dumps(row, sort_keys=True, separators=(",", ":")).encode())
        pictures.append(
            PoolPicture(
                sha256=row["image_sha256"],
                name=row["file_name"],
                width=row["width"],
                height=row["height"],
                concepts=tuple(row["concepts"]),
                annotations=tuple(_annotation(one) for one in row["annotations"]),
            )
        )
    return PicturePool(slug, total.hexdigest()[:16], tuple(pictures), _read)


def _annotation(row: dict[str, object]) -> PoolAnnotation:
    box = row["box"]
    assert isinstance(box, list)
    x_min, y_min, x_max, y_max = box
    return PoolAnnotation(
        label=str(row["label"]),
        concept=str(row.get("concept") or ""),
        box=(x_min, y_min, x_max, y_max),
        mask=str(row.get("mask") or ""),
    )


def _read(sha256: str) -> bytes:
    try:
        with open_blob(sha256) as file:
            return file.read()
    except StorageError as error:
        raise SourceAwayError(
            "A picture of the dataset is not on the disk any more.",
            hint="Restore the folder of VLMLAB_BLOB_DIR from a backup, or import the dataset again.",
        ) from error
