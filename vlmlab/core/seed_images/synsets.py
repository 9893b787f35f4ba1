"""Names of WordNet's synsets, which ILSVRC writes as ids such as n02084071."""

import re
from functools import cache
from importlib import resources

from vlmlab.core.seed_images.faults import FaultError
from vlmlab.core.seed_images.files import read_bounded
from vlmlab.core.seed_images.reading import Reading
from vlmlab.core.seed_images.report import Place

SYNSET_ID = re.compile(r"n\d{8}", re.ASCII)
NAMED = re.compile(r"(n\d{8})[\s,;:]+(?:\d+[\s,;:]+)?(\S.*)", re.ASCII)
NAME_FILES = re.compile(r"(map|synset|words|classes|labels).*\.txt|.*(map|synset).*\.(txt|csv)", re.ASCII)


class SynsetNames:
    """Finds the label of a synset: by the settings, by a file of names in the source, or by our own table.

    Such files have the id at the beginning of a line, then perhaps a number, then names with commas between,
    of which the first is taken: ``map_det.txt`` and ``synset_words.txt`` of the devkits. Our own table
    has the 200 classes of the detection task.

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
        told = self._names.get(plain) or detection_names().get(plain)
        if told is None:
            raise FaultError(
                "class_name",
                f"is of the class {plain}, which is none of the 200 of ILSVRC-DET and named by no file",
                hint="Add a file that names it, such as synset_words.txt, or map the class to a label.",
            )
        return self._labels.label_of(told)

    def _read(self, reading: Reading, name: str) -> None:
        try:
            content = read_bounded(reading.files, name, max_bytes=reading.limits.max_small_bytes)
        except FaultError as fault:
            reading.report.refuse("file", Place(name), fault)
            return
        for synset, label in _names_in(content.decode("utf-8-sig", errors="replace")).items():
            self._names.setdefault(synset, label)


@cache
def detection_names() -> dict[str, str]:
    """Return the names of the 200 classes of the detection task by their ids."""
    table = resources.files("vlmlab.core.seed_images.data").joinpath("ilsvrc_det.txt")
    return _names_in(table.read_text("utf-8"))


def _names_in(text: str) -> dict[str, str]:
    names: dict[str, str] = {}
    for line in text.splitlines():
        found = NAMED.fullmatch(line.strip())
        if found:
            names.setdefault(found[1], re.split(r"[,;]", found[2].strip("\"' "))[0].strip("\"' "))
    return names
