"""Which kind of scene a picture shows: what its row says, a table, its folder, or one name for all."""

import re

from vlmlab.core.seed_images.faults import FaultError, SeedImportError
from vlmlab.core.seed_images.labels import clean_stratum
from vlmlab.core.seed_images.pictures import NotedPicture
from vlmlab.core.seed_images.reading import Reading
from vlmlab.core.seed_images.report import Place
from vlmlab.core.seed_images.table_columns import FILE_COLUMNS, STRATUM_COLUMNS, cell_of, first_of
from vlmlab.core.seed_images.tables import open_table

TABLE_NAME = "strata.csv"
"""A table of this name with the columns file and stratum serves every format."""

PLAIN_FOLDERS = re.compile(
    r"(jpeg|raw)?_?(images?|imgs?|pictures?|photos?|frames?|data|dataset|det|ilsvrc|voc)[-_]?\d*"
    r"|(.*_)?(train(ing|val)?|val(id|idation)?|test)[-_]?\d*|obj_.*_data|object-d.*",
    re.ASCII,
)
"""Folders that say how a dataset is kept, not what its pictures show."""


class StrataBook:
    """Knows the kind of scene of every picture.

    Args:
        reading: the import.

    Raises:
        SeedImportError: the name for all cannot be used.
    """

    def __init__(self, reading: Reading) -> None:
        self._by_folder = reading.settings.strata_by_folder
        try:
            self._default = clean_stratum(reading.settings.stratum)
        except FaultError as error:
            raise SeedImportError(
                f"The kind of scene {error.reason}.", hint=error.hint, field="stratum"
            ) from error
        self._told: dict[str, str] = {}
        for name in reading.names:
            if name.rpartition("/")[2].casefold() == TABLE_NAME:
                self._read(reading, name)

    def stratum_of(self, picture: NotedPicture) -> str:
        """Return the kind of scene of a picture.

        Raises:
            FaultError: its row or its folder names it in a way that cannot be used.
        """
        told = picture.stratum or self._told.get(picture.file, "")
        if told:
            return clean_stratum(told)
        folders = picture.file.split("/")[:-1] if self._by_folder else []
        named = [folder for folder in folders if not PLAIN_FOLDERS.fullmatch(folder.casefold())]
        return clean_stratum(named[-1]) if named else self._default

    def _read(self, reading: Reading, name: str) -> None:
        try:
            with open_table(reading.files, name, limits=reading.limits) as table:
                file, stratum = (first_of(table.columns, names) for names in (FILE_COLUMNS, STRATUM_COLUMNS))
                if file is None or stratum is None:
                    raise FaultError("file", "needs the columns file and stratum")
                for row in table.rows:
                    try:
                        picture = reading.finder.find(cell_of(row, file), beside=name)
                    except FaultError as fault:
                        reading.report.refuse("picture", Place(name, f"row {row.number}"), fault)
                    else:
                        self._told[picture] = cell_of(row, stratum)
        except FaultError as fault:
            reading.report.refuse("file", Place(name), fault)
