"""Boxes and masks of one picture: checked against it, cut at its frame, turned upright with it."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from vlmlab.core.boxes import iou
from vlmlab.core.scenes.mask_checks import checked_mask
from vlmlab.core.scenes.masks import decode_mask, encode_mask
from vlmlab.core.seed_images.faults import FaultError
from vlmlab.core.seed_images.pictures import Corners
from vlmlab.core.seed_images.upright import UNTURNED, upright_corners, upright_pixels

SLACK_PIXELS = 2.0
SLACK_SHARE = 0.01
LEAST_SIDE_PIXELS = 1.0
LEAST_MASK_IOU = 0.5
"""Below this the hull of a mask and its box are not of the same thing."""

LOOKS_LIKE_SHARES = "Its sides are at most 1: this format wants pixels, not shares of the picture."


@dataclass(frozen=True)
class Canvas:
    """The picture that boxes were drawn on.

    Attributes:
        width: in pixels.
        height: in pixels.
        orientation: how it has to be turned to be upright, as EXIF counts, 1 to 8.
        is_relative: whether boxes are told in shares of its sides.
    """

    width: int
    height: int
    orientation: int = UNTURNED
    is_relative: bool = False

    def box(self, told: Corners) -> Corners:
        """Return a told box in pixels of the upright picture, cut at its frame.

        What reaches at most 2 pixels or 1 % of the side beyond is cut: tools round, and shares such as
        1.0000001 are common.

        Raises:
            FaultError: corners are swapped, it reaches farther beyond, or less than a pixel is left.
        """
        x_min, y_min, x_max, y_max = self._pixels(told)
        if x_max < x_min or y_max < y_min:
            raise FaultError("box", f"has the box {_shown(told)}, whose corners are swapped")
        slack_x, slack_y = (max(SLACK_PIXELS, SLACK_SHARE * side) for side in (self.width, self.height))
        if (
            x_min < -slack_x
            or y_min < -slack_y
            or x_max > self.width + slack_x
            or y_max > self.height + slack_y
        ):
            raise FaultError(
                "outside",
                f"has the box {_shown(told)}, which reaches beyond the picture of {self.width} x "
                f"{self.height} pixels",
                hint="YOLO files tell shares of the picture, from 0 to 1." if self.is_relative else "",
            )
        inside = (
            max(x_min, 0.0),
            max(y_min, 0.0),
            min(x_max, float(self.width)),
            min(y_max, float(self.height)),
        )
        if min(inside[2] - inside[0], inside[3] - inside[1]) < LEAST_SIDE_PIXELS:
            hint = LOOKS_LIKE_SHARES if not self.is_relative and 0 < max(told) <= 1 else ""
            raise FaultError("no_area", f"has the box {_shown(told)}, which is less than a pixel", hint=hint)
        return upright_corners(inside, orientation=self.orientation, width=self.width, height=self.height)

    def mask(self, outline: bytes) -> str:
        """Return a told outline or mask as the run-length string of the upright picture, "" for none.

        Args:
            outline: JSON text of a COCO segmentation; polygons are shares where boxes are.

        Raises:
            FaultError: it does not fit the picture, or covers nothing.
        """
        if not outline:
            return ""
        try:
            told = json.loads(outline)
            counts = checked_mask(
                self._polygons(told) if self.is_relative else told, width=self.width, height=self.height
            )
        except ValueError as error:
            raise FaultError("mask", f"has a mask that {error}") from error
        except RecursionError:
            raise FaultError("mask", "has a mask that is nested too deeply") from None
        if not counts or not _area(counts, width=self.width, height=self.height):
            raise FaultError("mask", "has a mask that covers nothing")
        if self.orientation == UNTURNED:
            return counts
        pixels = decode_mask(counts, width=self.width, height=self.height)
        return encode_mask(upright_pixels(pixels, orientation=self.orientation))

    @property
    def upright_size(self) -> tuple[int, int]:
        """Width and height of the upright picture."""
        is_turned = self.orientation > 4
        return (self.height, self.width) if is_turned else (self.width, self.height)

    def _pixels(self, box: Corners) -> Corners:
        if not self.is_relative:
            return box
        return box[0] * self.width, box[1] * self.height, box[2] * self.width, box[3] * self.height

    def _polygons(self, told: Any) -> list[list[float]]:
        return [
            [value * (self.height if place % 2 else self.width) for place, value in enumerate(polygon)]
            for polygon in told
        ]


def hull_of_mask(mask: str, *, width: int, height: int) -> Corners:
    """Return the tight box of a run-length mask that covers something."""
    from pycocotools import mask as coco  # imported late, like everything that decodes masks

    left, top, wide, high = coco.toBbox({"size": [height, width], "counts": mask.encode("ascii")})
    return float(left), float(top), float(left + wide), float(top + high)


def is_mask_of(mask: str, box: Corners, *, size: tuple[int, int]) -> bool:
    """Return whether a mask and a box are of the same thing."""
    hull = hull_of_mask(mask, width=size[0], height=size[1])
    return bool(iou(np.array([hull]), np.array([box]))[0, 0] >= LEAST_MASK_IOU)


def _area(counts: str, *, width: int, height: int) -> int:
    from pycocotools import mask as coco

    return int(coco.area({"size": [height, width], "counts": counts.encode("ascii")}))


def _shown(box: Corners) -> str:
    return ", ".join(f"{value:.6g}" for value in box)
