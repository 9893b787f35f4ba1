"""Names of WordNet's synsets, which ILSVRC writes as ids such as n02084071."""

import re

from vlmlab.core.seed_images.faults import FaultError
from vlmlab.core.seed_images.files import read_bounded
from vlmlab.core.seed_images.reading import Reading
from vlmlab.core.seed_images.report import Place

SYNSET_ID = re.compile(r"n\d{8}", re.ASCII)
NAMED = re.compile(r"(n\d{8})[\s,;:]+(?:\d+[\s,;:]+)?(\S.*)", re.ASCII)
NAME_FILES = re.compile(r"(map|synset|words|classes|labels).*\.txt|.*(map|synset).*\.(txt|csv)", re.ASCII)


class SynsetNames:
    """Finds the label of a synset: as the settings map it, else by a file of names in the source.

    Such files have the id at the beginning of a line, then perhaps a number, then names with commas between,
    of which the first is taken: ``map_det.txt`` and ``synset_words.txt`` of the devkits.

    Args:
        reading: the import.
    """

    def __init__(self, reading: Reading) -> None:
        self._labels = reading.labels
        self._names: dict[str, str] = {}
        for name in reading.names:
            if NAME_FILES.fullmatch(name.rpartition("/")[2].lower()):
                self._read(reading, name)

    def label_of(self, name: str) -> str | None:
        """Return the label of a class, None where its things are left out.

        Raises:
            FaultError: nobody told what the id is called.
        """
        plain = name.strip()
        if not SYNSET_ID.fullmatch(plain) or self._labels.is_mapped(plain):
            return self._labels.label_of(plain)
        if plain not in self._names:
            raise FaultError(
                "class_name",
                f"is of the class {plain}, which no file names",
                hint="Add map_det.txt of the devkit, or map the class to a label.",
            )
        return self._labels.label_of(self._names[plain])

    def _read(self, reading: Reading, name: str) -> None:
        try:
            content = read_bounded(reading.files, name, max_bytes=reading.limits.max_small_bytes)
        except FaultError as fault:
            reading.report.refuse("file", Place(name), fault)
            return
        for line in content.decode("utf-8-sig", errors="replace").splitlines():
            found = NAMED.fullmatch(line.strip())
            if found:
                self._names.setdefault(found[1], re.split(r"[,;]", found[2].strip("\"' "))[0].strip("\"' "))
