"""Boxes in the formats of other tools, derived from the rows of an export, and read back.

The lab's boxes are x_min, y_min, x_max, y_max in pixels; corners are pixel edges, so the right and lower edge
do not belong to the box. COCO: left, top, width, height in pixels, fractions kept. YOLO: centre and size as
shares of the picture. Pascal VOC: whole pixels counted from 1, both ends inside, so a box of the whole
640 x 480 picture is 1, 1, 640, 480.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor
from typing import Any
from xml.etree import ElementTree as ET

from vlmlab.core.boxes import Box
from vlmlab.core.checks import check_count
from vlmlab.core.errors import VlmLabError

Corners = tuple[float, float, float, float]
YOLO_DIGITS = 6


class BoxFileError(VlmLabError):
    """A file of boxes cannot be read; the message names the entry."""


@dataclass(frozen=True)
class LabelledBox:
    """A box with its label; ``extra`` are fields that only formats with room for them keep.

    Raises:
        ValueError: a corner is no finite number, or the right or lower edge lies before the other.
    """

    label: str
    corners: Corners
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        Box(*self.corners)


@dataclass(frozen=True)
class BoxedImage:
    """One picture with its boxes.

    Attributes:
        file_name: as the picture is called beside the file; any Unicode.
        width, height: pixels of this picture.
        boxes: inside the picture.
        extra: further fields of the picture's entry.

    Raises:
        ValueError: the picture has no pixel.
    """

    file_name: str
    width: int
    height: int
    boxes: tuple[LabelledBox, ...]
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_count("width", self.width, low=1)
        check_count("height", self.height, low=1)


def coco_text(images: Sequence[BoxedImage], *, info: Mapping[str, Any]) -> str:
    """Return a COCO instances file; ids count from 1, categories are sorted by name."""
    names = sorted({box.label for image in images for box in image.boxes})
    category = {name: number for number, name in enumerate(names, start=1)}
    annotations: list[dict[str, Any]] = []
    for image_id, image in enumerate(images, start=1):
        for box in image.boxes:
            left, top, right, bottom = box.corners
            annotations.append(
                {
                    **box.extra,
                    "id": len(annotations) + 1,
                    "image_id": image_id,
                    "category_id": category[box.label],
                    "bbox": [left, top, right - left, bottom - top],
                    "area": (right - left) * (bottom - top),
                    "iscrowd": 0,
                    "segmentation": [],
                }
            )
    content = {
        "info": dict(info),
        "licenses": [],
        "images": [
            {**image.extra, "id": number, "file_name": image.file_name, "width": image.width,
             "height": image.height}
            for number, image in enumerate(images, start=1)
        ],
        "annotations": annotations,
        "categories": [{"id": number, "name": name} for name, number in category.items()],
    }  # fmt: skip
    return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)


def read_coco(text: str) -> list[BoxedImage]:
    """Return the pictures of a COCO instances file with their boxes, in its order.

    Raises:
        BoxFileError: it is no such file, or an annotation names a picture or category that is not in it.
    """
    try:
        content = json.loads(text)
        names = {row["id"]: str(row["name"]) for row in content["categories"]}
        boxes: dict[Any, list[LabelledBox]] = {row["id"]: [] for row in content["images"]}
        for row in content["annotations"]:
            left, top, width, height = (float(value) for value in row["bbox"])
            label = names[row["category_id"]]
            boxes[row["image_id"]].append(LabelledBox(label, (left, top, left + width, top + height)))
        return [
            BoxedImage(str(row["file_name"]), int(row["width"]), int(row["height"]), tuple(boxes[row["id"]]))
            for row in content["images"]
        ]
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise BoxFileError(
            f"This is no COCO instances file: {error!r}.", hint="Export it again as COCO instances."
        ) from error


def yolo_names(images: Sequence[BoxedImage]) -> list[str]:
    """Return the labels in the order of their YOLO numbers, counted from 0; each is one line of a file."""
    return sorted({_one_line(box.label) for image in images for box in image.boxes})


def yolo_text(image: BoxedImage, names: Sequence[str]) -> str:
    """Return the YOLO lines of one picture: number of the label, centre x and y, width, height as shares.

    Shares have six digits. They are rounded so that the box they spell stays inside the picture, which
    readers demand: its edges are rounded first, and centre and size are those of the rounded edges.
    """
    lines = []
    for box in image.boxes:
        left, top, right, bottom = box.corners
        x, width = _centre_and_size(left / image.width, right / image.width)
        y, height = _centre_and_size(top / image.height, bottom / image.height)
        lines.append(f"{list(names).index(_one_line(box.label))} {x} {y} {width} {height}\n")
    return "".join(lines)


def read_yolo(text: str, *, names: Sequence[str], file_name: str, width: int, height: int) -> BoxedImage:
    """Return the picture that YOLO lines describe.

    Raises:
        BoxFileError: a line is not five finite numbers, or its label has no name; the line is named.
    """
    boxes = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            label, x, y, wide, high = line.split()
            centre_x, centre_y, share_x, share_y = (float(value) for value in (x, y, wide, high))
            name = names[check_count("label", int(label))]
            box = LabelledBox(
                name,
                (
                    (centre_x - share_x / 2) * width,
                    (centre_y - share_y / 2) * height,
                    (centre_x + share_x / 2) * width,
                    (centre_y + share_y / 2) * height,
                ),
            )
        except (ValueError, IndexError) as error:
            raise BoxFileError(
                f"Line {number} of {file_name} is not a label's number and four shares.",
                hint="Export it again as YOLO.",
            ) from error
        boxes.append(box)
    return BoxedImage(file_name, width, height, tuple(boxes))


def voc_text(image: BoxedImage) -> str:
    """Return the Pascal VOC file of one picture: every pixel that a box touches is in it, counted from 1."""
    root = ET.Element("annotation")
    ET.SubElement(root, "filename").text = _xml_text(image.file_name)
    size = ET.SubElement(root, "size")
    for name, value in (("width", image.width), ("height", image.height), ("depth", 3)):
        ET.SubElement(size, name).text = str(value)
    ET.SubElement(root, "segmented").text = "0"
    for box in image.boxes:
        thing = ET.SubElement(root, "object")
        ET.SubElement(thing, "name").text = _xml_text(box.label)
        for name in ("pose", "truncated", "difficult"):
            ET.SubElement(thing, name).text = "Unspecified" if name == "pose" else "0"
        bounds = ET.SubElement(thing, "bndbox")
        left, top, right, bottom = box.corners
        first_x, last_x = _pixels(left, right, image.width)
        first_y, last_y = _pixels(top, bottom, image.height)
        places = (("xmin", first_x), ("ymin", first_y), ("xmax", last_x), ("ymax", last_y))
        for name, place in places:
            ET.SubElement(bounds, name).text = str(place)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"


def read_voc(text: str) -> BoxedImage:
    """Return the picture that a Pascal VOC file describes; boxes are whole pixels.

    Raises:
        BoxFileError: it is no such file, or it declares entities.
    """
    if "<!" in text:  # a declaration can make a small file huge; no box file needs one
        raise BoxFileError("This VOC file holds a declaration.", hint="Export it again as Pascal VOC.")
    try:
        root = ET.fromstring(text)  # noqa: S314 - declarations are refused above
        boxes = []
        for thing in root.findall("object"):
            left, top, right, bottom = (
                float(_text_of(thing, f"bndbox/{name}")) for name in ("xmin", "ymin", "xmax", "ymax")
            )
            boxes.append(LabelledBox(_text_of(thing, "name"), (left - 1, top - 1, right, bottom)))
        return BoxedImage(
            _text_of(root, "filename"),
            int(_text_of(root, "size/width")),
            int(_text_of(root, "size/height")),
            tuple(boxes),
        )
    except (ET.ParseError, ValueError) as error:
        raise BoxFileError(
            f"This is no Pascal VOC file: {error}.", hint="Export it again as Pascal VOC."
        ) from error


def _centre_and_size(low: float, high: float) -> tuple[str, str]:
    """Return centre and size with six digits each; read as floats, no edge lies outside 0 and 1."""
    unit = 10**YOLO_DIGITS
    first, last = min(max(round(low * unit), 0), unit), min(max(round(high * unit), 0), unit)
    if (first + last) % 2:  # the centre would need a seventh digit: take the box one millionth smaller
        last -= 1
    centre, size = (first + last) / 2 / unit, (last - first) / unit
    while size > 0 and (centre - size / 2 < 0.0 or centre + size / 2 > 1.0):  # the last bit of a float
        size -= 2 / unit
    return f"{centre:.{YOLO_DIGITS}f}", f"{size:.{YOLO_DIGITS}f}"


def _pixels(low: float, high: float, side: int) -> tuple[int, int]:
    """Return the first and last pixel that an extent touches, counted from 1; at least one, none outside."""
    first = min(floor(low) + 1, side)
    return first, min(max(ceil(high), first), side)


def _text_of(element: ET.Element, path: str) -> str:
    found = element.find(path)
    if found is None or not found.text:
        raise ValueError(f"{path} is missing")
    return found.text


def _xml_text(text: str) -> str:
    """Return one line without the characters that XML cannot hold."""
    return re.sub("[\x00-\x08\x0e-\x1f\ud800-\udfff\ufffe\uffff]", "\ufffd", _one_line(text))


def _one_line(text: str) -> str:
    """Return text with a space for each line end that a reader of lines may know."""
    return " ".join(text.splitlines())
