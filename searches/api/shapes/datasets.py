"""Datasets as they are sent."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from ninja import Schema
from pydantic import Field

from searches.api.shapes.common import Input
from searches.api.shapes.runs import picture_path
from searches.enums import DatasetOrigin, DatasetState
from searches.models import Dataset, DatasetPicture
from searches.services.datasets import MOST_PICTURES
from vlmlab.core.scenes.strata import STRATA


class DatasetShape(Schema):
    """Annotated pictures."""

    slug: str = Field(description="Short name, for addresses.", examples=["streets"])
    title: str
    description: str
    origin: DatasetOrigin
    state: DatasetState = Field(description="`ready` and `failed` are final, until somebody goes on.")
    n_pictures: int = Field(description="How many there are so far.")
    domain: str = Field(description="Slug of the domain, empty when its pictures are of several.")
    recipe: dict[str, Any] = Field(
        description="How it came to be; of one that is drawn: `n`, `seed`, `strata`, size, `backend`, and "
        "`digest` once it is complete."
    )
    licence: str
    credits: str = Field(description="Must travel with the pictures.")
    error: str = Field(description="Why it is not complete.")
    created_at: datetime
    page: str = Field(description="Path of its page on the site.")


class DatasetPictureShape(Schema):
    """One picture with its truth."""

    order: int = Field(description="Its place in the dataset, from 0.")
    file_name: str
    picture: str | None = Field(description="Path of the picture; null when it is not kept.")
    width: int
    height: int
    stratum: str
    concepts: list[str]
    annotations: list[dict[str, Any]] = Field(
        description="Things with `label`, `concept`, `box` (x_min, y_min, x_max, y_max in pixels) and, where "
        "known, `amodal_box`, `visible_fraction`, `is_asked` and `mask` (compressed COCO run lengths)."
    )
    scene_seed: int | None
    attempt: int
    description_digest: str
    provenance: dict[str, Any]


class NewDataset(Input):
    """A dataset to draw from scenes."""

    title: str = Field(min_length=1, max_length=120)
    slug: str = Field("", max_length=64, description="Short name; empty: made of the title.")
    description: str = Field("", max_length=2000)
    n: int = Field(100, ge=1, le=MOST_PICTURES, description="Pictures in all.")
    seed: int = Field(0, ge=0, le=2**31 - 1, description="The same seed, the same pictures.")
    strata: list[str] = Field(
        list(STRATA), min_length=1, max_length=16, description=f"Kinds of scene: {', '.join(STRATA)}."
    )
    width: int = Field(448, ge=128, le=1280)
    height: int = Field(336, ge=96, le=1280)
    backend: str = Field("embedded", max_length=64, description="`embedded`, or a picture source.")


def dataset_shapes(rows: Sequence[Dataset]) -> list[DatasetShape]:
    """Return what is sent of datasets."""
    return [dataset_shape(row) for row in rows]


def dataset_shape(dataset: Dataset) -> DatasetShape:
    """Return what is sent of a dataset."""
    return DatasetShape(
        slug=dataset.slug,
        title=dataset.title,
        description=dataset.description,
        origin=DatasetOrigin(dataset.origin),
        state=DatasetState(dataset.state),
        n_pictures=dataset.n_pictures,
        domain=dataset.domain,
        recipe=dataset.recipe,
        licence=dataset.licence,
        credits=dataset.credits,
        error=dataset.error,
        created_at=dataset.created_at,
        page=dataset.get_absolute_url(),
    )


def picture_shapes(rows: Sequence[DatasetPicture]) -> list[DatasetPictureShape]:
    """Return what is sent of pictures."""
    return [
        DatasetPictureShape(
            order=row.order,
            file_name=row.file_name,
            picture=picture_path(row.image_sha256),
            width=row.width,
            height=row.height,
            stratum=row.stratum,
            concepts=row.concepts,
            annotations=row.annotations,
            scene_seed=row.scene_seed,
            attempt=row.attempt,
            description_digest=row.description_digest,
            provenance=row.provenance,
        )
        for row in rows
    ]
