"""Reads COCO instances files: pictures, categories, boxes, masks; no picture is opened here."""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from searches.services.dataset_imports_rows import (
    MOST_LABEL_CHARACTERS,
    ConceptNames,
    ImportRefusedError,
    NotedPicture,
    NotedThing,
    Notes,
    PictureFinder,
    Refusal,
    RowError,
    number_in,
    printable,
)
from vlmlab.core.scenes.concepts import Domain

Id = int | str


def coco_content(text: bytes, *, name: str) -> dict[str, Any] | None:
    """Return the content of a COCO instances file, or None of other JSON.

    Raises:
        ImportRefusedError: it is no JSON.
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ImportRefusedError(f"{name} is no JSON.", hint="Export it again.") from error
    if not isinstance(content, dict):
        return None
    is_coco = all(isinstance(content.get(part), list) for part in ("images", "annotations", "categories"))
    return content if is_coco else None


class CocoReader:
    """Adds what a COCO file says to notes.

    Args:
        notes: of the upload.
        file: path of the COCO file.
        domain: whose concepts are meant.
        names: finds concepts of categories.
        finder: finds the pictures.
    """

    def __init__(
        self, notes: Notes, *, file: str, domain: Domain, names: ConceptNames, finder: PictureFinder
    ) -> None:
        self._notes, self._file, self._domain = notes, file, domain
        self._names, self._finder = names, finder
        self._pictures: dict[Id, NotedPicture | None] = {}
        self._labels: dict[Id, str] = {}
        self._unknown: Counter[str] = Counter()

    def read(self, content: Mapping[str, Any]) -> None:
        """Read categories, pictures and things; wrong rows are refused with their place."""
        for place, row in enumerate(content["categories"]):
            self._guarded(f"category {place + 1}", row, self._category)
        for place, row in enumerate(content["images"]):
            self._guarded(f"image {place + 1}", row, self._image)
        for place, row in enumerate(content["annotations"]):
            self._guarded(f"annotation {place + 1}", row, self._annotation)
        for label, count in sorted(self._unknown.items()):
            things = "thing is" if count == 1 else "things are"
            self._notes.remarks.append(
                f"“{label}” is no concept of {self._domain.title}: {count:,} {things} kept as company."
            )

    def _guarded(self, what: str, row: object, read: Any) -> None:
        where = f"{self._file}, {what}"
        try:
            if not isinstance(row, Mapping):
                raise RowError("is no group of names and values")
            read(row, where)
        except RowError as error:
            self._notes.refused.append(Refusal(where, f"{error}."))

    def _category(self, row: Mapping[str, Any], where: str) -> None:
        name = row.get("name")
        if not isinstance(name, str) or not name.strip():
            raise RowError("the category has no name")
        self._labels[_id_of(row, "id")] = printable(name.strip()[:MOST_LABEL_CHARACTERS])

    def _image(self, row: Mapping[str, Any], where: str) -> None:
        number, name = _id_of(row, "id"), row.get("file_name")
        if number in self._pictures:
            raise RowError(f"there is an image {number} already")
        self._pictures[number] = None  # things of an image that is refused need no complaint of their own
        if not isinstance(name, str):
            raise RowError("the image names no file")
        picture = self._notes.picture(self._finder.find(name, beside=self._file), where)
        picture.size = _size_of(row)
        self._pictures[number] = picture
        for concept in self._told_concepts(row):
            found = self._names.find(concept)
            if found is None:
                picture.faults.append(
                    Refusal(where, f"“{concept[:80]}” is no concept of {self._domain.title}.")
                )
            elif found:
                picture.concepts.add(found)

    def _told_concepts(self, row: Mapping[str, Any]) -> list[str]:
        told = row.get("concepts", [])
        if not isinstance(told, list) or not all(isinstance(one, str) for one in told):
            raise RowError("its concepts are no list of names")
        return told

    def _annotation(self, row: Mapping[str, Any], where: str) -> None:
        number = _id_of(row, "image_id")
        if number not in self._pictures:
            raise RowError(f"there is no image {number}")
        picture = self._pictures[number]
        if picture is None:
            return
        try:
            picture.things.append(self._thing(row, where))
        except RowError as error:
            picture.faults.append(Refusal(where, f"{error}."))
        else:
            if picture.things[-1].concept:
                picture.concepts.add(picture.things[-1].concept)

    def _thing(self, row: Mapping[str, Any], where: str) -> NotedThing:
        label = self._labels.get(_id_of(row, "category_id"))
        if label is None:
            raise RowError(f"there is no category {row.get('category_id')}")
        told = row.get("concept")  # what our own exports write
        concept = self._names.find(label)
        if concept is None and isinstance(told, str) and told:
            concept = self._names.find(told)
        if concept is None:
            self._unknown[label] += 1
        return NotedThing(where, label, concept or "", _box_of(row), row.get("segmentation"))


def _id_of(row: Mapping[str, Any], name: str) -> Id:
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise RowError(f"{name} is missing")
    return value


def _size_of(row: Mapping[str, Any]) -> tuple[int, int] | None:
    width, height = row.get("width"), row.get("height")
    if width is None and height is None:
        return None
    if not isinstance(width, int) or not isinstance(height, int):
        raise RowError("its width and height are no whole numbers")
    return width, height


def _box_of(row: Mapping[str, Any]) -> tuple[float, float, float, float] | None:
    """Return the box of a COCO row, which writes left, top, width, height."""
    box = row.get("bbox")
    if box in (None, []):
        return None
    if not isinstance(box, list) or len(box) != 4:
        raise RowError("the box is not left, top, width, height")
    left, top, width, height = map(number_in, box)
    return left, top, left + width, top + height
