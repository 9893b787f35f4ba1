"""Annotated pictures as a COCO instances file, written piece by piece."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class CocoThing:
    """One thing in a picture.

    Attributes:
        label: name of its category.
        box: x_min, y_min, x_max, y_max in pixels of what can be seen.
        area: visible pixels; the area of the box where nobody counted.
        mask: compressed COCO run-length string, "" where unknown.
        extra: further fields of the annotation, such as ``concept``.
    """

    label: str
    box: Box
    area: float
    mask: str = ""
    extra: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class CocoPicture:
    """One picture with its things; ``extra`` are further fields of the image entry."""

    file_name: str
    width: int
    height: int
    things: tuple[CocoThing, ...]
    extra: Mapping[str, Any] | None = None


def coco_json(
    pictures: Callable[[], Iterable[CocoPicture]],
    *,
    info: Mapping[str, Any],
    licences: Sequence[Mapping[str, Any]] = (),
) -> Iterator[str]:
    """Return a COCO instances file as pieces of JSON text.

    Ids of pictures and things count from 1 in the order given; categories are sorted by name. A thing without
    a mask has an empty ``segmentation``.

    Args:
        pictures: gives all pictures, in the same order each time it is called; it is called three times, so
            that nothing is held in memory.
        info: the ``info`` entry.
        licences: rows with ``id``, ``name`` and ``url``.
    """
    names = sorted({thing.label for picture in pictures() for thing in picture.things})
    numbers = {name: number for number, name in enumerate(names, start=1)}
    head = {
        "info": dict(info),
        "licenses": [dict(one) for one in licences],
        "categories": [
            {"id": number, "name": name, "supercategory": "thing"} for name, number in numbers.items()
        ],
    }
    yield _text(head)[:-1]
    yield ', "images": ['
    for number, picture in enumerate(pictures(), start=1):
        yield (",\n" if number > 1 else "\n") + _text(_image(picture, number))
    yield '\n], "annotations": ['
    count = 0
    for number, picture in enumerate(pictures(), start=1):
        for thing in picture.things:
            count += 1
            row = _annotation(thing, picture, number=count, image=number, category=numbers[thing.label])
            yield (",\n" if count > 1 else "\n") + _text(row)
    yield "\n]}\n"


def _image(picture: CocoPicture, number: int) -> dict[str, Any]:
    return {
        "id": number,
        "file_name": picture.file_name,
        "width": picture.width,
        "height": picture.height,
        **(picture.extra or {}),
    }


def _annotation(
    thing: CocoThing, picture: CocoPicture, *, number: int, image: int, category: int
) -> dict[str, Any]:
    x_min, y_min, x_max, y_max = thing.box
    segmentation: Any = []
    if thing.mask:
        segmentation = {"size": [picture.height, picture.width], "counts": thing.mask}
    return {
        "id": number,
        "image_id": image,
        "category_id": category,
        "bbox": [x_min, y_min, round(x_max - x_min, 4), round(y_max - y_min, 4)],
        "area": thing.area,
        "iscrowd": 0,
        "segmentation": segmentation,
        **(thing.extra or {}),
    }


def _text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
