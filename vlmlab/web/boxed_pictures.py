"""A picture with two-coloured, numbered boxes over it, from stored annotations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

TAG_WIDTH, TAG_HEIGHT = 17, 16


@dataclass(frozen=True)
class DrawnBox:
    """One numbered box in pixels of the picture."""

    number: int
    label: str
    x: float
    y: float
    width: float
    height: float
    visible_percent: int

    @property
    def tag_y(self) -> float:
        """Upper edge of the number tag: above the box, or inside where there is no room."""
        return self.y - TAG_HEIGHT if self.y >= TAG_HEIGHT else self.y


@dataclass(frozen=True)
class BoxedPicture:
    """A stored picture with the boxes of its required objects.

    Attributes:
        url: address of the picture.
        alt: what it shows, in words.
        width, height: in pixels.
    """

    url: str
    alt: str
    width: int
    height: int
    boxes: tuple[DrawnBox, ...] = ()


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


def _box(number: int, annotation: Mapping[str, Any], labels: Mapping[str, str]) -> DrawnBox:
    x_min, y_min, x_max, y_max = (float(value) for value in annotation["visible_box"])
    concept = str(annotation.get("concept") or annotation.get("kind") or "object")
    return DrawnBox(
        number=number,
        label=labels.get(concept, concept.replace("_", " ")),
        x=x_min,
        y=y_min,
        width=max(x_max - x_min, 1.0),
        height=max(y_max - y_min, 1.0),
        visible_percent=round(100 * float(annotation.get("visible_fraction", 1.0))),
    )
