"""Which columns of a foreign table hold what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vlmlab.core.seed_images.faults import FaultError
from vlmlab.core.seed_images.numbers import number_in
from vlmlab.core.seed_images.pictures import Corners
from vlmlab.core.seed_images.tables import TableRow

FILE_COLUMNS = (
    "file", "file_name", "filename", "image", "image_name", "image_path", "picture", "path", "frame",
    "image_id",
)  # fmt: skip
LABEL_COLUMNS = ("label", "class", "class_name", "category", "name", "object", "class_id")
STRATUM_COLUMNS = ("stratum", "scene_type", "scene")
ATTRIBUTE_COLUMNS = ("attribute", "attributes")
FLAG_COLUMNS = ("occluded", "truncated", "difficult")
X_MIN = ("x_min", "xmin", "x1", "left")
Y_MIN = ("y_min", "ymin", "y1", "top")
X_MAX = ("x_max", "xmax", "x2", "right")
Y_MAX = ("y_max", "ymax", "y2", "bottom")
LEFT = ("x", "box_x", "bbox_x", "left", "x_min", "xmin")
TOP = ("y", "box_y", "bbox_y", "top", "y_min", "ymin")
WIDTH = ("w", "box_width", "bbox_width", "width")
HEIGHT = ("h", "box_height", "bbox_height", "height")
CROSSED_HEAD = ("xmin", "xmax", "ymin", "ymax")
"""How the first release of Udacity's table names the columns xmin, ymin, xmax, ymax."""


@dataclass(frozen=True)
class TableColumns:
    """Places of cells in a row; None where a table has no such column.

    Attributes:
        file: name of the picture.
        label: what the thing is called.
        sides: x_min, y_min, x_max, y_max; or left, top, width, height.
        is_width_height: which of both.
        size: width and height of the picture.
        stratum: kind of scene.
        attributes: words about the thing.
        flags: words whose cells are 0 or 1.
        has_decimal_comma: whether numbers are written with a comma.
        is_crossed_head: whether the head reads xmin, xmax, ymin, ymax, in this order.
        is_from_udacity: whether it has the column of addresses that only Udacity's table has.
    """

    file: int
    label: int
    sides: tuple[int, int, int, int]
    is_width_height: bool = False
    size: tuple[int, int] | None = None
    stratum: int | None = None
    attributes: int | None = None
    flags: Mapping[str, int] | None = None
    has_decimal_comma: bool = False
    is_crossed_head: bool = False
    is_from_udacity: bool = False

    def box(self, row: TableRow, *, as_corners: tuple[int, int, int, int] | None = None) -> Corners | None:
        """Return the corners that a row tells, None where all its sides are empty.

        Args:
            row: of the table.
            as_corners: other places of x_min, y_min, x_max, y_max.

        Raises:
            FaultError: a side is missing or no number.
        """
        sides = as_corners or self.sides
        cells = [cell_of(row, place) for place in sides]
        if not any(cells):
            return None
        names = (
            ("left", "top", "width", "height")
            if self.is_width_height
            else ("x_min", "y_min", "x_max", "y_max")
        )
        first, second, third, fourth = (
            number_in(cell, what=name, has_decimal_comma=self.has_decimal_comma)
            for cell, name in zip(cells, names, strict=True)
        )
        if not self.is_width_height:
            return first, second, third, fourth
        if third < 0 or fourth < 0:
            raise FaultError("box", f"has a box of {third:g} x {fourth:g} pixels")
        return first, second, first + third, second + fourth

    def words(self, row: TableRow) -> tuple[str, ...]:
        """Return the words that a row says about its thing, sorted."""
        words = {word for word, place in (self.flags or {}).items() if is_set(cell_of(row, place))}
        if self.attributes is not None and cell_of(row, self.attributes):
            words.add(cell_of(row, self.attributes)[:40].casefold())
        return tuple(sorted(words))


def find_columns(columns: Sequence[str], *, separator: str) -> TableColumns | None:
    """Return which columns hold what, or None where a table does not describe pictures.

    Args:
        columns: their names in one spelling.
        separator: of the table.
    """
    file, label = first_of(columns, FILE_COLUMNS), first_of(columns, LABEL_COLUMNS)
    if file is None or label is None:
        return None
    sides = _places(columns, (X_MIN, Y_MIN, X_MAX, Y_MAX))
    size = _places(columns, (("width", "image_width"), ("height", "image_height"))) if sides else None
    is_width_height = sides is None
    if sides is None:
        sides = _places(columns, (LEFT, TOP, WIDTH, HEIGHT))
        size = _places(columns, (("image_width",), ("image_height",)))
    if sides is None:
        return None
    flags = {name: columns.index(name) for name in FLAG_COLUMNS if name in columns}
    return TableColumns(
        file=file,
        label=label,
        sides=(sides[0], sides[1], sides[2], sides[3]),
        is_width_height=is_width_height,
        size=(size[0], size[1]) if size else None,
        stratum=first_of(columns, STRATUM_COLUMNS),
        attributes=first_of(columns, ATTRIBUTE_COLUMNS),
        flags=flags,
        has_decimal_comma=separator == ";",
        is_crossed_head=_is_crossed(columns),
        is_from_udacity="preview_url" in columns,
    )


def first_of(columns: Sequence[str], names: Sequence[str]) -> int | None:
    """Return the place of the first of these names that a table has as a column."""
    return next((columns.index(name) for name in names if name in columns), None)


def cell_of(row: TableRow, place: int) -> str:
    """Return a cell without blanks around, "" where the row is shorter."""
    return row.cells[place].strip() if place < len(row.cells) else ""


def is_set(cell: str) -> bool:
    """Return whether a cell of a flag says yes."""
    return cell.casefold() in ("1", "1.0", "true", "yes")


def _is_crossed(columns: Sequence[str]) -> bool:
    places = [columns.index(name) if name in columns else -9 for name in CROSSED_HEAD]
    return places == list(range(places[0], places[0] + 4))


def _places(columns: Sequence[str], wanted: Sequence[Sequence[str]]) -> tuple[int, ...] | None:
    found = [first_of(columns, names) for names in wanted]
    places = tuple(place for place in found if place is not None)
    return places if len(places) == len(wanted) == len(set(places)) else None
