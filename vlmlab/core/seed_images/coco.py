"""Reads COCO instances files of any size: pictures first, then things, entry by entry."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from vlmlab.core.seed_images.faults import FaultError, SeedImportError
from vlmlab.core.seed_images.files import opened
from vlmlab.core.seed_images.json_stream import top_entries
from vlmlab.core.seed_images.labels import clean_label
from vlmlab.core.seed_images.numbers import number_in, size_in
from vlmlab.core.seed_images.pictures import Corners, NotedPicture, NotedThing
from vlmlab.core.seed_images.reading import Reading
from vlmlab.core.seed_images.report import Place, Scope
from vlmlab.core.seed_images.table_columns import STRATUM_COLUMNS

ARRAYS = ("images", "annotations", "categories")
NO_OUTLINE = b"0"
"""Stands for a segmentation nested so deeply that it is certainly none; the check of masks refuses it."""

NO_CROWD = (None, 0, "0", "")

Id = int | str


def read_coco(reading: Reading) -> Iterator[NotedPicture]:
    """Give the pictures that the COCO files of a source describe."""
    for name in reading.files_named(".json"):
        yield from _CocoFile(reading, name).pictures()


class _CocoFile:
    """One COCO file, read twice: in most of them annotations come before categories."""

    def __init__(self, reading: Reading, name: str) -> None:
        self._reading, self._name = reading, name
        self._pictures: dict[Id, NotedPicture | None] = {}
        self._by_file: dict[str, NotedPicture] = {}
        self._labels: dict[Id, str | None] = {}
        self._class_names: dict[Id, str] = {}

    def pictures(self) -> Iterator[NotedPicture]:
        """Give its pictures in the order of the file."""
        try:
            found = self._pass({"categories": self._category, "images": self._image})
            missing = [key for key in ARRAYS if key not in found]
            if missing:
                raise FaultError(
                    "format", f"is no COCO instances file: it has no list “{missing[0]}” at the top"
                )
            self._pass({"annotations": self._annotation})
        except FaultError as fault:
            self._reading.report.refuse("file", Place(self._name), fault)
            return
        yield from self._by_file.values()

    def _pass(self, readers: Mapping[str, Callable[[Mapping[str, Any], Place], None]]) -> set[str]:
        limits, found = self._reading.limits, set()
        with opened(self._reading.files, self._name) as stream:
            for key, number, row in top_entries(
                stream, max_bytes=limits.max_note_bytes, max_characters=limits.max_row_characters
            ):
                found.add(key)
                if number and key in readers:
                    self._guarded(readers[key], row, Place(self._name, f"{key} {number}"))
        return found

    def _guarded(self, read: Callable[[Mapping[str, Any], Place], None], row: object, place: Place) -> None:
        scope: Scope = "picture" if read == self._image else "thing"
        try:
            if not isinstance(row, dict):
                raise FaultError("row", "is no group of names and values")
            read(row, place)
        except FaultError as fault:
            self._reading.report.refuse(scope, place, fault)

    def _check_listed(self, listed: Mapping[Id, object]) -> None:
        most = self._reading.limits.max_listed
        if len(listed) > most:
            raise SeedImportError(
                f"{self._name} lists more than {most:,} images or classes.", hint="Import it in parts."
            )

    def _category(self, row: Mapping[str, Any], place: Place) -> None:
        number = _id_of(row, "id")
        self._check_listed(self._class_names)
        if number in self._class_names:
            raise FaultError("row", f"tells the class {number} a second time")
        name = clean_label(row.get("name"))
        self._class_names[number] = name
        self._labels[number] = self._reading.labels.label_of(name)

    def _image(self, row: Mapping[str, Any], place: Place) -> None:
        self._check_listed(self._pictures)
        number, file = _id_of(row, "id"), row.get("file_name")
        if number in self._pictures:
            raise FaultError("row", f"tells the image {number} a second time")
        self._pictures[number] = None  # things of an image that is refused need no refusal of their own
        if not isinstance(file, str):
            raise FaultError("row", "names no picture")
        path = self._reading.finder.find(file, beside=self._name)
        self._reading.claim(path, by=self._name)
        size = size_in(row.get("width"), row.get("height"))
        picture = self._by_file.get(path)
        if picture is None:
            picture = self._by_file[path] = NotedPicture(path, place, size=size)
        elif picture.size != size:
            picture.hole = f"{place} tells another size than {picture.place}"
        told = next((row[name] for name in STRATUM_COLUMNS if isinstance(row.get(name), str)), "")
        picture.stratum = picture.stratum or told
        self._pictures[number] = picture

    def _annotation(self, row: Mapping[str, Any], place: Place) -> None:
        number = _id_of(row, "image_id")
        if number not in self._pictures:
            raise FaultError("row", f"names the image {number}, which the file does not have")
        picture = self._pictures[number]
        if picture is None:
            return
        label: str | None = None
        try:
            kind = _id_of(row, "category_id")
            if kind not in self._labels:
                fault = FaultError(
                    "class_name", f"is of the class {kind}, to which the file gives no usable name"
                )
                self._reading.refuse_class(picture, place, fault)
                return
            label = self._labels[kind]
            if label is None:
                self._reading.left_out(self._class_names[kind])
                return
            if row.get("iscrowd") not in NO_CROWD:
                raise FaultError("crowd", f"is a crowd of “{label}”, not one thing")
            thing = NotedThing(place, label, _box_of(row), _outline_of(row), is_sure=not row.get("ignore"))
        except FaultError as fault:
            self._reading.refuse_thing(picture, place, fault, label=label)
            return
        self._reading.note(picture, thing)


def _id_of(row: Mapping[str, Any], name: str) -> Id:
    """Return an id; tools write the same one as 7, 7.0 or "7"."""
    value = row.get(name)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
        raise FaultError("row", f"has no {name}")
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
        return int(value)
    return value


def _box_of(row: Mapping[str, Any]) -> Corners | None:
    """Return the corners of a COCO box, which is told as left, top, width, height; None without one."""
    box = row.get("bbox")
    if box in (None, []):
        return None
    if not isinstance(box, list) or len(box) != 4:
        raise FaultError("box", "has a box that is not left, top, width, height")
    left, top, width, height = (
        number_in(value, what=name)
        for value, name in zip(box, ("left", "top", "width", "height"), strict=True)
    )
    if width < 0 or height < 0:
        raise FaultError("box", f"has a box of {width:g} x {height:g} pixels")
    return left, top, left + width, top + height


def _outline_of(row: Mapping[str, Any]) -> bytes:
    """Return the segmentation as the shortest JSON text: many are held, and lists of numbers are large."""
    told = row.get("segmentation")
    if told in (None, [], {}, ""):
        return b""
    try:
        return json.dumps(told, separators=(",", ":")).encode("ascii")
    except RecursionError:
        return NO_OUTLINE
