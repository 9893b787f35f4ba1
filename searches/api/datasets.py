"""Datasets: annotated pictures, drawn from scenes or uploaded."""

from typing import Any

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from ninja import Query, Router, Status

from searches import launch
from searches.api.findings import file_of
from searches.api.operations import operation, person_of
from searches.api.paging import Page, Paging, page_of
from searches.api.shapes.datasets import (
    DatasetPictureShape,
    DatasetShape,
    NewDataset,
    dataset_shape,
    dataset_shapes,
    picture_shapes,
)
from searches.enums import DatasetState
from searches.models import Dataset
from searches.services import dataset_pages, datasets
from searches.services.dataset_exports import dataset_export
from searches.services.scene_archives import export_zip
from vlmlab.web.streaming import stream_zip

router = Router(tags=["Datasets"])
ARCHIVE = file_of(("application/zip",))


@operation(router, "GET", "/datasets", response=Page[DatasetShape], errors=(422,))
def list_datasets(request: HttpRequest, paging: Query[Paging]) -> dict[str, Any]:
    """List the datasets, newest first."""
    return page_of(dataset_pages.dataset_rows(), paging, request, shape=dataset_shapes)


@operation(router, "POST", "/datasets", response=DatasetShape, status=202, errors=(400, 422))
def make_dataset(request: HttpRequest, payload: NewDataset) -> Status[DatasetShape]:
    """Draw a dataset from scenes.

    Returns it at once, with state `making`; ask again until it is `ready` or `failed`. The same seed and
    settings make the same pictures, with the same digest.
    """
    recipe = datasets.checked_recipe(**payload.model_dump(exclude={"title", "slug", "description"}))
    dataset = launch.start_dataset(
        recipe, title=payload.title, slug=payload.slug, text=payload.description, by=person_of(request)
    )
    return Status(202, dataset_shape(dataset))


@operation(router, "GET", "/datasets/{slug:slug}", response=DatasetShape, errors=(404,))
def read_dataset(request: HttpRequest, slug: str) -> DatasetShape:
    """Read one dataset; one whose drawing died counts as failed, so that nobody waits for it."""
    dataset = _dataset(slug)
    shape, reason = dataset_shape(dataset), datasets.died_because(dataset)
    return shape.model_copy(update={"state": DatasetState.FAILED, "error": reason}) if reason else shape


@operation(
    router,
    "GET",
    "/datasets/{slug:slug}/pictures",
    response=Page[DatasetPictureShape],
    errors=(404, 422),
)
def list_dataset_pictures(request: HttpRequest, slug: str, paging: Query[Paging]) -> dict[str, Any]:
    """List the pictures of a dataset with their truth, in their order."""
    rows = _dataset(slug).pictures.all()
    return page_of(rows, paging, request, shape=picture_shapes, order="order")


@operation(
    router, "GET", "/datasets/{slug:slug}/export.zip", response=None, errors=(404,), openapi_extra=ARCHIVE
)
def export_dataset(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Download a dataset.

    An archive of the pictures, a COCO instances file, tables and credits; sent piece by piece, whatever its
    size.
    """
    export = dataset_export(_dataset(slug))
    return stream_zip(export_zip(export), name=f"{export.name}-{timezone.localdate():%Y-%m-%d}.zip")


def _dataset(slug: str) -> Dataset:
    dataset = datasets.find_dataset(slug)
    if dataset is None:
        raise Http404(f"There is no dataset “{slug}”.")
    return dataset
