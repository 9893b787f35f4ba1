"""From the numbers of a reply to a box in pixels of the original picture, under a declared convention."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from vlmlab.core.conventions import RELATIVE_1000, BoxConvention

PlaceFault = Literal["invalid_box", "out_of_range", "suspect_scale", "degenerate"]
"""Why the numbers of one box give no box."""

_SLACK = 0.1
_LEAST_SUSPECT_SCALE = 100.0
_EDGE_TOLERANCE = 1e-9


@dataclass(frozen=True)
class BoxItem:
    """One box of a reply.

    Attributes:
        label: what the reply calls it; None where it says nothing.
        box: x0, y0, x1, y1 in pixels of the original picture; x0 < x1, y0 < y1, inside of the picture.
        flags: "sorted" where corners came in another order, "clipped" where it reached over an edge.
    """

    label: str | None
    box: tuple[float, float, float, float]
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class FoundBox:
    """A box as the reply wrote it, before any convention.

    Attributes:
        label: what the reply calls it, if it says so.
        start: where it stands in the text.
        numbers: its four numbers; empty where it has none that could be a box.
        is_named: the reply named each number, so ``numbers`` are left, top, right, bottom.
        is_whole: nothing was missing or damaged inside of it.
    """

    label: str | None
    start: int
    numbers: tuple[float, ...] = ()
    is_named: bool = False
    is_whole: bool = True


def without_numbers(found: FoundBox) -> FoundBox:
    """Return a box that counts as one that could not be read."""
    return replace(found, numbers=())


def as_convention(value: BoxConvention | Mapping[str, Any]) -> BoxConvention:
    """Return a checked convention; of a stored one, only what changes how numbers are read.

    Raises:
        ValueError: a mapping that is no convention.
    """
    if isinstance(value, BoxConvention):
        return value
    space = value.get("space", "relative")
    return BoxConvention(
        space=space,
        scale=value.get("scale", None if space == "seen_pixels" else RELATIVE_1000.scale),
        order=value.get("order", "xyxy"),
        bin_offset=value.get("bin_offset") or 0.0,
    )


@dataclass(frozen=True)
class Frame:
    """A convention together with the picture that the numbers speak of.

    Attributes:
        convention: how the numbers are written.
        image_size: width and height of the original picture in pixels.
        seen_size: width and height of the picture that the system saw; the original's where None.
    """

    convention: BoxConvention
    image_size: tuple[int, int]
    seen_size: tuple[int, int] | None = None

    @property
    def scales(self) -> tuple[float, float]:
        """The numbers that stand for the full width and the full height."""
        if self.convention.scale is not None:
            return self.convention.scale, self.convention.scale
        width, height = self.seen_size or self.image_size
        return float(width), float(height)

    def place(self, found: FoundBox) -> BoxItem | PlaceFault | None:
        """Return the box in original pixels, the reason why it is none, or None for four zeros."""
        numbers = found.numbers
        if len(numbers) != 4 or not all(math.isfinite(number) for number in numbers):
            return "invalid_box"
        if not any(numbers):
            return None
        if self.convention.order == "yxyx" and not found.is_named:
            numbers = (numbers[1], numbers[0], numbers[3], numbers[2])
        scales = self.scales * 2
        if any(
            not -_SLACK * scale <= number <= (1 + _SLACK) * scale
            for number, scale in zip(numbers, scales, strict=True)
        ):
            return "out_of_range"
        if max(scales) >= _LEAST_SUSPECT_SCALE and all(abs(number) <= 1 for number in numbers):
            return "suspect_scale"
        return self._mapped(found.label, numbers)

    def _mapped(self, label: str | None, numbers: tuple[float, ...]) -> BoxItem | PlaceFault:
        offset = self.convention.bin_offset
        x0, y0, x1, y1 = (
            (number + offset) / scale * size
            for number, scale, size in zip(numbers, self.scales * 2, self.image_size * 2, strict=True)
        )
        flags = ["sorted"] if x0 > x1 or y0 > y1 else []
        x0, x1, y0, y1 = min(x0, x1), max(x0, x1), min(y0, y1), max(y0, y1)
        width, height = self.image_size
        inside = (max(x0, 0.0), max(y0, 0.0), min(x1, float(width)), min(y1, float(height)))
        moved = max(abs(a - b) for a, b in zip(inside, (x0, y0, x1, y1), strict=True))
        if moved > _EDGE_TOLERANCE * max(width, height):
            flags.append("clipped")
        if (
            inside[2] - inside[0] <= _EDGE_TOLERANCE * width
            or inside[3] - inside[1] <= _EDGE_TOLERANCE * height
        ):
            return "degenerate"
        return BoxItem(label, inside, tuple(flags))
