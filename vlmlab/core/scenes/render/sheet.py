"""Contact sheets: many scenes on one picture, with labels and boxes if wanted."""

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO

from PIL import Image, ImageDraw, ImageFont

from vlmlab.core.errors import GenerationError
from vlmlab.core.scenes.blind import BlindItem
from vlmlab.core.scenes.concepts import Domain, Key
from vlmlab.core.scenes.scene import Annotation, GeneratedScene, SceneSource

LABEL_HEIGHT = 18
BOX_COLOUR = (255, 0, 200)
MISSING_COLOUR = (210, 210, 210)


@dataclass(frozen=True)
class SheetCell:
    """One place on a sheet: its label and its scene, or the reason why there is none."""

    label: str
    scene: GeneratedScene | None
    reason: str = ""


def read_sets(text: str, domain: Domain) -> tuple[Key, ...]:
    """Read one concept set a line, ids between commas; empty lines and lines that start with # are skipped.

    Raises:
        ConceptError: a line holds an unknown concept.
    """
    lines = [line.strip() for line in text.splitlines()]
    return tuple(
        domain.canonical(part.strip() for part in line.split(",") if part.strip())
        for line in lines
        if line and not line.startswith("#")
    )


def draw_cells(source: SceneSource, sets: Sequence[Key], *, seed: int) -> tuple[SheetCell, ...]:
    """Draw each set with the same seed; a set that cannot be shown keeps its place with the reason."""
    return tuple(_draw(source, key, ", ".join(key), seed=seed) for key in sets)


def beside(left: Sequence[SheetCell], right: Sequence[SheetCell]) -> tuple[SheetCell, ...]:
    """Return two sheets of the same sets pair by pair; an even number of columns keeps pairs together."""
    return tuple(cell for pair in zip(left, right, strict=True) for cell in pair)


def draw_blind(source: SceneSource, items: Sequence[BlindItem]) -> tuple[SheetCell, ...]:
    """Draw the pictures of a blind test; their labels are numbers from 1."""
    return tuple(
        _draw(source, item.key, str(number), seed=item.scene_seed) for number, item in enumerate(items, 1)
    )


def _draw(source: SceneSource, key: Key, label: str, *, seed: int) -> SheetCell:
    try:
        return SheetCell(label, source.generate(key, seed=seed))
    except GenerationError as error:
        return SheetCell(label, None, error.message)


def compose_sheet(
    cells: Sequence[SheetCell],
    *,
    width: int,
    height: int,
    columns: int = 5,
    with_labels: bool = True,
    with_boxes: bool = False,
) -> Image.Image:
    """Return all cells on one picture, row by row.

    Args:
        cells: what to show.
        width: of one picture in pixels.
        height: of one picture in pixels.
        columns: pictures a row.
        with_labels: write the set below each picture.
        with_boxes: draw the visible box of each required object.
    """
    strip = LABEL_HEIGHT if with_labels else 0
    columns = max(1, min(columns, len(cells)))
    rows = max(1, -(-len(cells) // columns))
    sheet = Image.new("RGB", (columns * width, rows * (height + strip)), "white")
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(12)
    for number, cell in enumerate(cells):
        left, top = number % columns * width, number // columns * (height + strip)
        if cell.scene is None:
            draw.rectangle([left, top, left + width - 1, top + height - 1], fill=MISSING_COLOUR)
            draw.text((left + 6, top + 6), cell.reason[:60], fill="black", font=font)
        else:
            sheet.paste(Image.open(BytesIO(cell.scene.image_png)), (left, top))
            if with_boxes:
                _draw_boxes(draw, cell.scene.annotations, left=left, top=top)
        if with_labels:
            label = _fitting(cell.label, font, width - 8)
            draw.text((left + 4, top + height + 1), label, fill="black", font=font)
    return sheet


def _fitting(text: str, font: ImageFont.ImageFont | ImageFont.FreeTypeFont, width: int) -> str:
    """Return as much of a text as fits into so many pixels; what is cut off leaves an ellipsis."""
    if font.getlength(text) <= width:
        return text
    kept = next((end for end in range(len(text), 0, -1) if font.getlength(text[:end] + "…") <= width), 0)
    return text[:kept] + "…"


def _draw_boxes(
    draw: ImageDraw.ImageDraw, annotations: tuple[Annotation, ...], *, left: int, top: int
) -> None:
    for annotation in annotations:
        if annotation.is_required and annotation.visible_box is not None:
            x_min, y_min, x_max, y_max = annotation.visible_box
            draw.rectangle([left + x_min, top + y_min, left + x_max - 1, top + y_max - 1], outline=BOX_COLOUR)
