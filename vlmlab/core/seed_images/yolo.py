"""Reads YOLO label files: a line a thing, its class number and its box or outline in shares."""

import json
from collections.abc import Iterator

from vlmlab.core.seed_images.faults import FaultError
from vlmlab.core.seed_images.files import read_bounded
from vlmlab.core.seed_images.numbers import number_in
from vlmlab.core.seed_images.pictures import Corners, NotedPicture, NotedThing
from vlmlab.core.seed_images.reading import Reading
from vlmlab.core.seed_images.report import Place
from vlmlab.core.seed_images.yolo_classes import BOX_NUMBERS, YoloClasses, is_name_list, read_classes

LABEL_FOLDERS = ("labels", "obj_train_data", "obj_valid_data", "obj_test_data")
LEAST_OUTLINE_NUMBERS = 6
MOST_SHARE = 2.0
"""Numbers beyond cannot be shares that a tool rounded; they are pixels."""


def read_yolo(reading: Reading) -> Iterator[NotedPicture]:
    """Give the pictures that label files describe; boxes lie in the upright picture, as YOLO's loaders do."""
    try:
        classes = read_classes(reading)
    except FaultError as fault:
        reading.report.refuse("file", Place("class names"), fault)
        return
    if not classes.names and not reading.settings.labels:
        reading.report.remark("No file names the classes: add data.yaml or classes.txt, or map the numbers.")
    for name in label_files(reading):
        stem = name.rpartition("/")[2][: -len(".txt")]
        try:
            path = reading.finder.find(stem, beside=name)
            reading.claim(path, by=name)
            picture = NotedPicture(path, Place(name), frame="upright", is_relative=True)
            content = read_bounded(reading.files, name, max_bytes=reading.limits.max_small_bytes)
            lines = content.decode("utf-8-sig").splitlines()
        except UnicodeDecodeError:
            reading.report.refuse("file", Place(name), FaultError("file", "is no plain text"))
            continue
        except FaultError as fault:
            reading.report.refuse("file", Place(name), fault)
            continue
        for number, line in enumerate(lines, start=1):
            if line.strip():
                _take(reading, picture, line.split(), place=Place(name, f"line {number}"), classes=classes)
        yield picture


def label_files(reading: Reading) -> list[str]:
    """Return the files that describe pictures: those called like one, and all in folders for labels."""
    found = []
    for name in reading.names:
        if not name.lower().endswith(".txt") or is_name_list(name):
            continue
        folders = [folder.casefold() for folder in name.split("/")[:-1]]
        stem = name.rpartition("/")[2][: -len(".txt")]
        if any(folder in LABEL_FOLDERS for folder in folders) or reading.finder.has(stem):
            found.append(name)
    return found


def _take(
    reading: Reading, picture: NotedPicture, cells: list[str], *, place: Place, classes: YoloClasses
) -> None:
    label: str | None = None
    try:
        number = _class_in(cells[0])
        name = classes.names.get(number, "")
        if reading.labels.is_mapped(str(number)):
            name = str(number)
        if not name:
            fault = FaultError("class_name", f"is of the class {number}, which no file names")
            reading.refuse_class(picture, place, fault)
            return
        label = reading.labels.label_of(name)
        if label is None:
            reading.left_out(name)
            return
        values = [number_in(cell, what=f"number {at}") for at, cell in enumerate(cells[1:], start=2)]
        box, outline = _shape_of(values, classes)
    except FaultError as fault:
        reading.refuse_thing(picture, place, fault, label=label)
        return
    reading.note(picture, NotedThing(place, label, box, outline))


def _class_in(cell: str) -> int:
    """Return a class number; some tools write it as 0.0."""
    try:
        number = number_in(cell, what="the class")
    except FaultError as fault:
        raise FaultError("row", fault.reason) from fault
    if number < 0 or number != int(number):
        raise FaultError("row", f"has “{cell[:20]}” for the class, which is no number of a class")
    return int(number)


def _shape_of(values: list[float], classes: YoloClasses) -> tuple[Corners, bytes]:
    """Return the corners and the outline of a thing, both in shares of the picture."""
    if any(abs(value) > MOST_SHARE for value in values[:BOX_NUMBERS]):
        raise FaultError(
            "outside", "has numbers in pixels", hint="YOLO files tell shares of the picture, from 0 to 1."
        )
    is_pose = classes.n_keypoint_numbers and len(values) == BOX_NUMBERS + classes.n_keypoint_numbers
    if len(values) == BOX_NUMBERS or is_pose:
        return _corners(*values[:BOX_NUMBERS]), b""
    if len(values) == BOX_NUMBERS + 1:
        raise FaultError("row", "has six numbers, as predictions with a confidence have; truth has five")
    if len(values) < LEAST_OUTLINE_NUMBERS or len(values) % 2:
        raise FaultError("row", f"has {len(values) + 1} numbers, which is neither a box nor an outline")
    xs, ys = values[::2], values[1::2]
    outline = json.dumps([values], separators=(",", ":")).encode("ascii")
    return (min(xs), min(ys), max(xs), max(ys)), outline


def _corners(x_centre: float, y_centre: float, width: float, height: float) -> Corners:
    if width < 0 or height < 0:
        raise FaultError("box", f"has a box of {width:g} x {height:g}")
    return (
        x_centre - width / 2,
        y_centre - height / 2,
        x_centre + width / 2,
        y_centre + height / 2,
    )
