"""Small datasets and picture sources for tests."""

from typing import Any

from searches.enums import DatasetOrigin
from searches.models import Dataset, DatasetPicture, PictureSource
from tests.doubles import paint_png
from tests.factories import make_blob

SHOWN = (("cone",), ("cone",), ("cone", "cyclist"), ("cyclist",))


def make_pool(slug: str = "pool", *, shown: tuple[tuple[str, ...], ...] = SHOWN, **values: Any) -> Dataset:
    """Make a dataset of one-colour pictures that are tagged with concepts."""
    defaults: dict[str, Any] = {
        "title": slug.replace("-", " ").title(),
        "origin": DatasetOrigin.UPLOAD,
        "domain": "driving",
        "n_pictures": len(shown),
    }
    dataset = Dataset.objects.create(slug=slug, **defaults | values)
    for order, concepts in enumerate(shown):
        blob = make_blob(paint_png((40 + order, 80, 120), concepts=concepts))
        DatasetPicture.objects.create(
            dataset=dataset,
            order=order,
            file_name=f"{order}.png",
            image_sha256=blob.sha256,
            width=16,
            height=12,
            concepts=list(concepts),
            annotations=[
                {"label": one, "concept": one, "box": [2, 2, 10, 10], "mask": ""} for one in concepts
            ],
        )
    return dataset


def make_source(slug: str = "photos", *, dataset: Dataset | None = None, **values: Any) -> PictureSource:
    """Make a source that draws from a small pool."""
    defaults: dict[str, Any] = {
        "name": slug.title(),
        "kind": "image_pool",
        "params": {"match": "contains", "fit": "contain"},
    }
    return PictureSource.objects.create(
        slug=slug, dataset=dataset or make_pool(f"{slug}-pool"), **defaults | values
    )
