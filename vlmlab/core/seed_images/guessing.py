"""Tells the format of a source by its files; where two could be meant, a person says which."""

import re
from collections.abc import Callable, Mapping

from vlmlab.core.seed_images.faults import FaultError, SeedImportError
from vlmlab.core.seed_images.files import read_bounded
from vlmlab.core.seed_images.reading import Reading
from vlmlab.core.seed_images.report import shown
from vlmlab.core.seed_images.synsets import SYNSET_ID
from vlmlab.core.seed_images.table_columns import find_columns
from vlmlab.core.seed_images.tables import column_names, first_line, head_of, separator_of
from vlmlab.core.seed_images.udacity import is_autti, is_crowdai
from vlmlab.core.seed_images.xml_tree import read_xml
from vlmlab.core.seed_images.yolo import label_files

COCO_KEYS = re.compile(rb'"(images|annotations|categories)"\s*:')
MOST_LOOKED_AT = 50
"""Files of one kind that are looked at before it is given up."""


def guess_format(reading: Reading) -> str:
    """Return the one format that the files of a source can be read as.

    Raises:
        SeedImportError: there is none, or there are several.
    """
    found = [name for name in (_json(reading), _xml(reading), _table(reading), _yolo(reading)) if name]
    if not found:
        raise SeedImportError(
            f"No file says what the pictures show{_broken_xml(reading)}.",
            hint="Add COCO, VOC or YOLO files, or a table with the columns file, label, x_min, y_min, x_max, "
            "y_max.",
            field="format",
        )
    if len(found) > 1:
        raise SeedImportError(
            f"The files could be read as {' or as '.join(found)}.",
            hint="Choose the format, or keep the files of one.",
            field="format",
        )
    return found[0]


def _json(reading: Reading) -> str:
    return "coco" if _any(reading, (".json",), lambda head: COCO_KEYS.search(head) is not None) else ""


def _xml(reading: Reading) -> str:
    kinds = {"synset": "ilsvrc", "voc": "voc"}
    seen = [_xml_kind(reading, name) for name in reading.files_named(".xml")[:MOST_LOOKED_AT]]
    return next((format_name for kind, format_name in kinds.items() if kind in seen), "")


def _xml_kind(reading: Reading, name: str) -> str:
    try:
        root = read_xml(read_bounded(reading.files, name, max_bytes=reading.limits.max_small_bytes))
    except FaultError:
        return ""
    if root.name.casefold() != "annotation":
        return ""
    names = [one.text_of("name") or "" for one in root.all("object")]
    return "synset" if any(SYNSET_ID.fullmatch(one) for one in names) else "voc"


def _broken_xml(reading: Reading) -> str:
    """Return the end of a sentence about the first XML file that cannot be read, "" where all can."""
    for name in reading.files_named(".xml")[:MOST_LOOKED_AT]:
        try:
            read_xml(read_bounded(reading.files, name, max_bytes=reading.limits.max_small_bytes))
        except FaultError as fault:
            return f", and {shown(name)} {fault.reason}"
    return ""


def _table(reading: Reading) -> str:
    tests: Mapping[str, Callable[[bytes], bool]] = {"udacity": _is_udacity, "table": _is_table}
    for format_name, test in tests.items():
        if _any(reading, (".csv", ".tsv"), test):
            return format_name
    return ""


def _yolo(reading: Reading) -> str:
    return "yolo" if label_files(reading) else ""


def _is_udacity(head: bytes) -> bool:
    line = first_line(head)
    return is_autti(line) or is_crowdai(line)


def _is_table(head: bytes) -> bool:
    line = first_line(head)
    separator = separator_of(line)
    columns = column_names([cell.strip('" ') for cell in line.split(separator)])
    return find_columns(columns, separator=separator) is not None


def _any(reading: Reading, endings: tuple[str, ...], test: Callable[[bytes], bool]) -> bool:
    for name in reading.files_named(*endings)[:MOST_LOOKED_AT]:
        try:
            if test(head_of(reading.files, name)):
                return True
        except FaultError:
            continue
    return False
