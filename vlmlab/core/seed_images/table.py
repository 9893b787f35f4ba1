"""Reads a folder with a table: a row for each thing, a row without a box for a picture without things."""

from collections.abc import Iterator

from vlmlab.core.seed_images.faults import FaultError
from vlmlab.core.seed_images.labels import LabelBook
from vlmlab.core.seed_images.numbers import size_in
from vlmlab.core.seed_images.pictures import Frame, NotedPicture, NotedThing
from vlmlab.core.seed_images.reading import Reading
from vlmlab.core.seed_images.report import Place
from vlmlab.core.seed_images.strata import TABLE_NAME
from vlmlab.core.seed_images.table_columns import TableColumns, cell_of, find_columns
from vlmlab.core.seed_images.tables import TableRow, open_table

FRAME: Frame = "upright"
"""Tables of this kind are ours to define: their boxes lie in the picture as a person sees it."""


def read_tables(reading: Reading) -> Iterator[NotedPicture]:
    """Give the pictures that the tables of a source describe."""
    for name in reading.files_named(".csv", ".tsv", ".txt"):
        if name.rpartition("/")[2].casefold() != TABLE_NAME and not _is_other_text(reading, name):
            yield from read_table(reading, name)


def read_table(reading: Reading, name: str) -> Iterator[NotedPicture]:
    """Give the pictures that a table with a head describes; one that breaks off is refused as a whole."""
    notes = TableNotes(reading, name)
    try:
        with open_table(reading.files, name, limits=reading.limits) as table:
            columns = find_columns(table.columns, separator=table.separator)
            if columns is None:
                raise FaultError(
                    "file",
                    "has no columns that describe pictures",
                    hint="Name them file, label, x_min, y_min, x_max, y_max in the first row.",
                )
            corners = _true_corners(reading, name, columns)
            for row in table.rows:
                notes.take(row, columns, as_corners=corners)
    except FaultError as fault:
        reading.report.refuse("file", Place(name), fault)
        return
    yield from notes.pictures()


class TableNotes:
    """Gathers what the rows of one table tell, picture by picture."""

    def __init__(self, reading: Reading, name: str) -> None:
        self._reading, self._name = reading, name
        self._labels: LabelBook = reading.labels
        self._pictures: dict[str, NotedPicture | None] = {}

    def take(
        self, row: TableRow, columns: TableColumns, *, as_corners: tuple[int, int, int, int] | None = None
    ) -> None:
        """Add one row; what is wrong with it is told to the report."""
        place = Place(self._name, f"row {row.number}")
        try:
            path = self._reading.finder.find(cell_of(row, columns.file), beside=self._name)
        except FaultError as fault:
            self._reading.report.refuse("thing", place, fault)
            return
        picture = self._picture(path, place)
        if picture is None:
            return
        try:
            self._tell(picture, row, columns)
        except FaultError as fault:
            self._reading.report.refuse("thing", place, fault, picture=path)
            picture.hole = picture.hole or f"{place} {fault.reason}"
        self._thing(picture, row, columns, place=place, as_corners=as_corners)

    def pictures(self) -> Iterator[NotedPicture]:
        """Give all pictures in the order of their first rows."""
        for picture in self._pictures.values():
            if picture is not None:
                yield picture

    def _picture(self, path: str, place: Place) -> NotedPicture | None:
        if path not in self._pictures:
            self._pictures[path] = None
            try:
                self._reading.claim(path, by=self._name)
            except FaultError as fault:
                self._reading.report.refuse("picture", place, fault, picture=path)
            else:
                self._pictures[path] = NotedPicture(path, place, frame=FRAME)
        return self._pictures[path]

    def _tell(self, picture: NotedPicture, row: TableRow, columns: TableColumns) -> None:
        stratum = "" if columns.stratum is None else cell_of(row, columns.stratum)
        if stratum and picture.stratum and stratum != picture.stratum:
            raise FaultError("stratum", f"names another kind of scene than {picture.place}")
        picture.stratum = stratum or picture.stratum
        if columns.size is not None:
            size = size_in(*(cell_of(row, place) for place in columns.size))
            if size is not None and picture.size not in (None, size):
                raise FaultError("size", f"tells another size than {picture.place}")
            picture.size = size or picture.size

    def _thing(
        self,
        picture: NotedPicture,
        row: TableRow,
        columns: TableColumns,
        *,
        place: Place,
        as_corners: tuple[int, int, int, int] | None,
    ) -> None:
        label: str | None = None
        told = cell_of(row, columns.label)
        try:
            if not told and not any(cell_of(row, side) for side in columns.sides):
                return  # a picture without things
            label = self._labels.label_of(told)
            if label is None:
                self._reading.left_out(told)
                return
            box = columns.box(row, as_corners=as_corners)
            if box is None:
                raise FaultError("box", f"names “{label}” without a box")
        except FaultError as fault:
            self._reading.refuse_thing(picture, place, fault, label=label)
            return
        words = columns.words(row)
        self._reading.note(
            picture, NotedThing(place, label, box, flags=words, is_sure="difficult" not in words)
        )


def _true_corners(reading: Reading, name: str, columns: TableColumns) -> tuple[int, int, int, int] | None:
    """Return the places of x_min, y_min, x_max, y_max where the head of a table crosses two names.

    Udacity's first release has the head xmin, xmax, ymin, ymax above cells in the order xmin, ymin, xmax,
    ymax; later copies correct either. All rows decide: which of both gives more boxes. Where both give as
    many, a table with Udacity's own column of addresses is taken for the first release.
    """
    if not columns.is_crossed_head:
        return None
    first = columns.sides[0]
    in_order = (first, first + 1, first + 2, first + 3)
    as_told = as_ordered = 0
    with open_table(reading.files, name, limits=reading.limits) as table:
        for row in table.rows:
            as_told += _is_box(columns, row, columns.sides)
            as_ordered += _is_box(columns, row, in_order)
    if as_ordered < as_told or (as_ordered == as_told and not columns.is_from_udacity):
        return None
    reading.report.remark(
        f"The head of {name} crosses two columns: below it stand xmin, ymin, xmax, ymax, as in Udacity's "
        "release."
    )
    return in_order


def _is_box(columns: TableColumns, row: TableRow, places: tuple[int, int, int, int]) -> bool:
    try:
        box = columns.box(row, as_corners=places)
    except FaultError:
        return False
    return box is not None and box[2] > box[0] and box[3] > box[1]


def _is_other_text(reading: Reading, name: str) -> bool:
    """Return whether a text file is only read as a table where the settings name it."""
    return name.lower().endswith(".txt") and not reading.settings.annotation_file
