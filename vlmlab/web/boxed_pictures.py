"""A picture with two-coloured, numbered boxes over it: a scene's truth, or what was read from a reply."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

TAG_HEIGHT = 16
TAG_REFERENCE_WIDTH = 448

BoxKind = Literal["truth", "read", "lenient", "perturbed"]
CLASSES: dict[BoxKind, str] = {"truth": "truth", "read": "clean", "lenient": "given", "perturbed": "given"}
"""Whose box it is -> class of its outline: solid for the truth, dashed for an answer, dotted if lenient or
given to a perturbed input."""


@dataclass(frozen=True)
class DrawnBox:
    """One numbered box in pixels of the picture.

    Attributes:
        number: on its tag; 0 draws no tag.
        kind: whose box it is.
    """

    number: int
    label: str
    x: float
    y: float
    width: float
    height: float
    visible_percent: int = 100
    kind: BoxKind = "truth"

    @property
    def css(self) -> str:
        """Class of the outline and of the tag."""
        return CLASSES[self.kind]


@dataclass(frozen=True)
class Tag:
    """The number at a box: where its upper left corner stands, in pixels of the picture."""

    number: int
    css: str
    x: float
    y: float


@dataclass(frozen=True)
class BoxedPicture:
    """A stored picture with boxes over it.

    Attributes:
        url: address of the picture.
        alt: what it shows, in words.
        width, height: in pixels.
        mask_url: address of a transparent picture of the same size with the masks, "" for none.
    """

    url: str
    alt: str
    width: int
    height: int
    boxes: tuple[DrawnBox, ...] = ()
    mask_url: str = ""

    @property
    def tag_scale(self) -> float:
        """How much larger than usual the tags are: large pictures are shown smaller."""
        return round(max(1.0, self.width / TAG_REFERENCE_WIDTH), 3)

    @property
    def tags(self) -> list[Tag]:
        """The numbers of the boxes: above the box, or inside where there is no room."""
        height = TAG_HEIGHT * self.tag_scale
        return [
            Tag(box.number, box.css, box.x, box.y - height if box.y >= height else box.y)
            for box in self.numbered
        ]

    @property
    def numbered(self) -> list[DrawnBox]:
        """The boxes with a number, whose names are listed under the picture."""
        return [box for box in self.boxes if box.number]


def boxes_of(
    annotations: Sequence[Mapping[str, Any]], labels: Mapping[str, str], *, only_required: bool = True
) -> tuple[DrawnBox, ...]:
    """Return the boxes of stored annotations that can be seen, numbered from 1.

    Args:
        annotations: rows with ``kind``, ``concept``, ``is_required``, ``visible_box``, ``visible_fraction``.
        labels: concept id -> words.
        only_required: leave distractors out.
    """
    shown = [
        one for one in annotations if one.get("visible_box") and (one.get("is_required") or not only_required)
    ]
    return tuple(_box(number, one, labels) for number, one in enumerate(shown, start=1))


def read_box(number: int, label: str, corners: Sequence[float], *, kind: BoxKind = "read") -> DrawnBox:
    """Return a box that was read from a reply, or a known one.

    Args:
        number: on its tag; 0 draws no tag.
        label: what the system called it.
        corners: x_min, y_min, x_max, y_max in pixels of the picture.
        kind: whose box it is.
    """
    x_min, y_min, x_max, y_max = (float(value) for value in corners)
    return DrawnBox(number, label, x_min, y_min, max(x_max - x_min, 1.0), max(y_max - y_min, 1.0), kind=kind)


def _box(number: int, annotation: Mapping[str, Any], labels: Mapping[str, str]) -> DrawnBox:
    concept = str(annotation.get("concept") or annotation.get("kind") or "object")
    box = read_box(
        number, labels.get(concept, concept.replace("_", " ")), annotation["visible_box"], kind="truth"
    )
    visible = round(100 * float(annotation.get("visible_fraction", 1.0)))
    return DrawnBox(number, box.label, box.x, box.y, box.width, box.height, visible)
