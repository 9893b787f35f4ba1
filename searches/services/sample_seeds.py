"""The shipped seed images: 25 annotated pictures of each kind of scene, drawn by the lab's own renderer."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db import transaction

from searches.enums import DatasetOrigin, DatasetState
from searches.models import Dataset, DatasetPicture
from searches.services.blobs import blob_path, digest_of, record_blobs, write_file
from searches.services.datasets import recipe_of
from searches.services.sample_data import FOLDER
from vlmlab.core.errors import VlmLabError
from vlmlab.core.images import decode_png, encode_png
from vlmlab.web.numbers import write_many

SEED_FOLDER = FOLDER / "seed_images"
FILE = "seed_images.json"
CREDITS_FILE = "CREDITS.txt"
FORMAT = 1
SLUG = "seed-images"
TITLE = "Seed images"
ABOUT = (
    "Drawn streets, junctions and kitchens, each with boxes and masks of what it shows. Modality searches "
    "can start from them on the first day."
)
SHADES_APART = 4
"""Colours are kept in steps of this: sensor noise fills a file and shows nothing."""

COLUMNS = (
    "order", "file_name", "image_sha256", "width", "height", "stratum", "concepts", "unsure_labels",
    "annotations", "description", "description_digest", "scene_seed", "attempt", "provenance",
)  # fmt: skip


def dump_seeds(dataset: Dataset, *, folder: Path = SEED_FOLDER) -> Path:
    """Write a dataset that was drawn from scenes as the shipped seed images: a JSON file and its pictures.

    Raises:
        VlmLabError: it is not complete, or was not drawn.
    """
    recipe = recipe_of(dataset)
    if recipe is None or dataset.state != DatasetState.READY:
        raise VlmLabError(
            f"{dataset.title} cannot be shipped: it is not complete, or was not drawn from scenes.",
            hint="Make it with `manage.py make_dataset --n 100`, then try again.",
        )
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.png"):
        old.unlink()
    pictures = []
    for row in dataset.pictures.order_by("order"):
        png = encode_png(in_fewer_shades(decode_png(blob_path(row.image_sha256).read_bytes())))
        (folder / row.file_name).write_bytes(png)
        pictures.append({name: getattr(row, name) for name in COLUMNS} | {"image_sha256": digest_of(png)})
    content = {
        "format": FORMAT,
        "dataset": {
            "credits": dataset.credits,
            "licence": dataset.licence,
            "recipe": {"drawn": dataset.recipe},
        },
        "pictures": pictures,
    }
    terms = f"{TITLE} of VLM Lab. Licence: {dataset.licence}.\n\n{dataset.credits.strip()}\n"
    (folder / CREDITS_FILE).write_text(terms, encoding="utf-8")
    path = folder / FILE
    path.write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    return path


def in_fewer_shades(pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return a picture whose colours are multiples of ``SHADES_APART``, or 255.

    Args:
        pixels: ``(height, width, 3)`` uint8; the result differs by at most half a step.
    """
    steps = (pixels.astype(np.int16) + SHADES_APART // 2) // SHADES_APART
    return (steps * SHADES_APART).clip(max=255).astype(np.uint8)


def load_seeds(folder: Path = SEED_FOLDER) -> str:
    """Store the shipped seed images as a dataset; what is there already stays as it is.

    Returns:
        One sentence on what was done or left out.
    """
    there = Dataset.objects.filter(slug=SLUG).first()
    if there is not None:
        return (
            "The sample seed images are there already."
            if there.is_sample
            else f"The sample seed images are left out: a dataset of your own is called “{SLUG}”."
        )
    path = folder / FILE
    if not path.exists():
        return "No sample seed images are shipped with this version."
    content = json.loads(path.read_text(encoding="utf-8"))
    if content.get("format") != FORMAT:
        return "The sample seed images were written by another version and are left out."
    try:
        dataset = _stored(content, folder)
    except (VlmLabError, OSError) as error:
        return f"The sample seed images cannot be loaded: {error}"
    return f"Sample seed images loaded: {write_many(dataset.n_pictures, 'picture')}."


def _stored(content: dict[str, Any], folder: Path) -> Dataset:
    rows = content["pictures"]
    pngs = {row["image_sha256"]: (folder / row["file_name"]).read_bytes() for row in rows}
    for sha256, png in pngs.items():
        if digest_of(png) != sha256:
            raise VlmLabError(
                f"The picture {sha256[:12]}… is damaged.", hint="Restore the folder of the lab's sample data."
            )
    record_blobs({sha256: len(png) for sha256, png in pngs.items()})
    for png in pngs.values():
        write_file(png)
    return _rows_stored(content)


@transaction.atomic
def _rows_stored(content: dict[str, Any]) -> Dataset:
    rows = content["pictures"]
    dataset = Dataset.objects.create(
        slug=SLUG,
        title=TITLE,
        description=ABOUT,
        origin=DatasetOrigin.SAMPLE,
        state=DatasetState.READY,
        n_pictures=len(rows),
        is_sample=True,
        **content["dataset"],
    )
    DatasetPicture.objects.bulk_create(DatasetPicture(dataset=dataset, **row) for row in rows)
    return dataset
