"""Writes the pool: pictures, a COCO instances file, a README and the credits."""

from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from tools.warehouse_pool.drawing import Drawn
from tools.warehouse_pool.plan import SCENE
from vlmlab.core.scenes.coco import CocoPicture, CocoThing, coco_json
from vlmlab.core.scenes.masks import encode_mask
from vlmlab.core.scenes.render.credits import attributions

COCO_FILE, README_FILE, CREDITS_FILE = "instances.json", "README.md", "CREDITS.txt"
LICENCE, LICENCE_ADDRESS = "CC0 1.0", "https://creativecommons.org/publicdomain/zero/1.0/"
SHIPPED_AS = "vlmlab/assets/warehouse_pool"
JPEG_QUALITY = 84
BODIES = ("cone", "h_adult_walk", "h_police", "h_sitter", "h_woman_reach")
"""The shapes of others that stand in the pictures; all the rest is built from simple solids here."""

README = """# Warehouse pictures

{count} drawn pictures of a storage hall, {width} x {height} pixels, for the example domain "Warehouse".
`{coco}` is a COCO instances file: its categories are the ids of the domain's concepts, each thing has a box
and a mask, and `concepts` of an image names all that it shows. Every picture shows the hall.

They are drawn by the lab's own renderer; nothing is a photograph. To draw the same ones again, in the root
of the repository:

    python -m tools.warehouse_pool --out {folder} --seed {seed}

Licence: {licence} ({address}). The shapes of the people and of the cone are by others; `{credits}` names
them and travels with the pictures.
"""


def file_name(number: int, drawn: Drawn) -> str:
    """Return the name of a picture: its number and what it shows."""
    return f"{number:03d}-{'-'.join(drawn.concepts)}.jpg"


def write_pool(folder: Path, pictures: Sequence[Drawn], *, seed: int) -> None:
    """Write all files of a pool; pictures of an earlier one go.

    Args:
        folder: made where it is missing.
        pictures: at least one, all of one size.
        seed: that they were drawn with.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.jpg"):
        old.unlink()
    for number, drawn in enumerate(pictures):
        path = folder / file_name(number, drawn)
        Image.fromarray(drawn.image).save(path, quality=JPEG_QUALITY, optimize=True)
    info = {"description": "Warehouse pictures drawn for the example domain", "version": "1"}
    licence = {"id": 1, "name": LICENCE, "url": LICENCE_ADDRESS}
    rows = [_row(number, drawn) for number, drawn in enumerate(pictures)]
    (folder / COCO_FILE).write_text("".join(coco_json(lambda: rows, info=info, licences=[licence])), "utf-8")
    height, width = pictures[0].image.shape[:2]
    text = README.format(
        count=len(pictures), width=width, height=height, coco=COCO_FILE, folder=SHIPPED_AS,
        seed=seed, licence=LICENCE, address=LICENCE_ADDRESS, credits=CREDITS_FILE,
    )  # fmt: skip
    (folder / README_FILE).write_text(text, "utf-8")
    (folder / CREDITS_FILE).write_text(credits_text(), "utf-8")


def _row(number: int, drawn: Drawn) -> CocoPicture:
    height, width = drawn.image.shape[:2]
    things = tuple(
        CocoThing(one.concept, one.box, float(one.mask.sum()), encode_mask(one.mask)) for one in drawn.seen
    )
    extra = {"license": 1, "concepts": [SCENE, *drawn.concepts]}
    return CocoPicture(file_name(number, drawn), width, height, things, extra)


def credits_text() -> str:
    """Return who made the shapes of others that the pictures show."""
    lines = [
        f"{row.title} by {row.author}, {row.source} ({row.source_address}), {row.licence} "
        f"({row.licence_address}); changed: {row.modified}."
        for row in attributions()
        if row.asset in BODIES
    ]
    return "\n".join(["The warehouse pictures show shapes by these people:", *lines]) + "\n"
