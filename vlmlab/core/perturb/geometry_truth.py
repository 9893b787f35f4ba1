"""The truth after a strategy's geometry: where it is, whether that is known, and how far one may go."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vlmlab.core.perturb.geometry import FloatArray, Warp
from vlmlab.core.perturb.geometry_boxes import (
    Size,
    check_boxes,
    check_size,
    inside_frame,
    moved_boxes,
    tight_shares,
    visible_shares,
)
from vlmlab.core.perturb.geometry_resample import Masks, check_masks, warped_masks
from vlmlab.core.perturb.image_geometry import GEOMETRY_OPERATORS
from vlmlab.core.perturb.image_operators import RngOf, strategy_warp

LEAST_VISIBLE_SHARE = 0.7
LEAST_TIGHT_SHARE = 0.9
_CAP_STEPS = 20
_CAP_HALVINGS = 6
_MOST_PLACES = 2000


@dataclass(frozen=True)
class MovedTruth:
    """The truth of a perturbed picture.

    Attributes:
        boxes: ``(n, 4)``: x_min, y_min, x_max, y_max, cut at the picture's border.
        visible_shares: ``(n,)``: which share of each thing is still in the frame.
        tight_shares: ``(n,)``: a lower bound of the IoU between each box and the tight one; 1 from masks.
    """

    boxes: FloatArray
    visible_shares: FloatArray
    tight_shares: FloatArray

    @property
    def is_honest(self) -> bool:
        """Whether every thing is visible enough and every box tight enough to judge answers by them."""
        return bool(
            (self.visible_shares >= LEAST_VISIBLE_SHARE).all()
            and (self.tight_shares >= LEAST_TIGHT_SHARE).all()
        )


def moved_truth(
    boxes: npt.ArrayLike,
    severities: Mapping[str, float],
    *,
    rng_of: RngOf,
    image_size: Size,
    masks: Masks | None = None,
) -> MovedTruth:
    """Return where the truth is after a strategy.

    Args:
        boxes: ``(n, 4)``: x_min, y_min, x_max, y_max in pixels of the clean picture.
        severities: operator name to severity in [0, 1]; operators that move nothing do not matter.
        rng_of: the same source of generators as for the picture.
        image_size: width and height in pixels.
        masks: ``(n, height, width)`` bool, one for each box; then boxes are those of the moved masks.

    Raises:
        ValueError: an argument is not as described, or there are not as many masks as boxes.
    """
    rows, size = check_boxes(boxes), check_size(image_size)
    layers = _checked_masks(masks, len(rows), size)
    warp = strategy_warp(severities, rng_of=rng_of, image_size=size)
    if warp.displacement is None and np.array_equal(warp.matrix, np.eye(3)):
        return MovedTruth(rows.copy(), np.ones(len(rows)), np.ones(len(rows)))
    moved = moved_boxes(rows, warp, size) if layers is None else boxes_of_masks(warped_masks(layers, warp))
    return _Things.of(rows, layers, size).after(warp, moved)


@dataclass(frozen=True)
class _Things:
    """What is known of the things in a picture, ready to be asked for many warps.

    Attributes:
        boxes: ``(n, 4)``.
        image_size: width and height in pixels.
        places: for each thing points of its mask, ``(k, 2)``, if there are masks.
    """

    boxes: FloatArray
    image_size: Size
    places: tuple[FloatArray, ...] | None

    @classmethod
    def of(cls, boxes: FloatArray, masks: Masks | None, image_size: Size) -> "_Things":
        places = None if masks is None else tuple(_places(mask) for mask in masks)
        return cls(boxes, image_size, places)

    def after(self, warp: Warp, moved: FloatArray) -> MovedTruth:
        """Return the truth after a warp that has moved the boxes."""
        if self.places is None:
            visible = visible_shares(self.boxes, warp, self.image_size)
            return MovedTruth(moved, visible, tight_shares(self.boxes, warp))
        shares = [
            float(inside_frame(warp.forward(points), self.image_size).mean()) if len(points) else 0.0
            for points in self.places
        ]
        return MovedTruth(moved, np.array(shares, dtype=np.float64), np.ones(len(shares)))


def _places(mask: npt.NDArray[np.bool_]) -> FloatArray:
    """Return the centres of a mask's pixels, every so many of them where there are very many."""
    rows, columns = np.nonzero(mask)
    step = 1 + len(rows) // _MOST_PLACES
    return np.stack([columns[::step], rows[::step]], axis=1).astype(np.float64) + 0.5


def boxes_of_masks(masks: Masks) -> FloatArray:
    """Return ``(n, 4)`` tight boxes of ``(n, height, width)`` masks; zeros for an empty one."""
    boxes = np.zeros((len(masks), 4))
    for number, mask in enumerate(masks):
        rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        if rows.size:
            boxes[number] = columns[0], rows[0], columns[-1] + 1, rows[-1] + 1
    return boxes


def _checked_masks(masks: Masks | None, n_boxes: int, image_size: Size) -> Masks | None:
    if masks is None:
        return None
    layers = check_masks(masks)
    expected = n_boxes, image_size[1], image_size[0]
    if layers.shape != expected:
        raise ValueError(f"masks must be {expected}, one for each box, got {layers.shape}")
    return layers


def honest_caps(
    boxes: npt.ArrayLike,
    *,
    rng_of: RngOf,
    image_size: Size,
    masks: Masks | None = None,
    names: Sequence[str] | None = None,
) -> dict[str, float]:
    """Return how far each geometric operator may go alone before the truth of a picture is no longer honest.

    Severities are tried upwards in steps of a twentieth until one is not honest; halving finds the edge.
    Several operators together can go too far within their caps: ask ``moved_truth`` about a strategy.

    Args:
        boxes: ``(n, 4)`` boxes of the clean picture.
        rng_of: the same source of generators as for the picture.
        image_size: width and height in pixels.
        masks: ``(n, height, width)`` bool, one for each box, if there are any.
        names: which operators; all geometric ones if left out.

    Returns:
        Operator name to the largest severity in [0, 1]; operators that move nothing have no cap.
    """
    rows, size = check_boxes(boxes), check_size(image_size)
    things = _Things.of(rows, _checked_masks(masks, len(rows), size), size)

    def is_honest(name: str, severity: float) -> bool:
        return things.after(strategy_warp({name: severity}, rng_of=rng_of, image_size=size), rows).is_honest

    wanted = [operator.name for operator in GEOMETRY_OPERATORS]
    return {name: _cap(is_honest, name) for name in wanted if names is None or name in names}


def _cap(is_honest: Callable[[str, float], bool], name: str) -> float:
    honest = 0.0
    for step in range(1, _CAP_STEPS + 1):
        if is_honest(name, step / _CAP_STEPS):
            honest = step / _CAP_STEPS
            continue
        dishonest = step / _CAP_STEPS
        for _ in range(_CAP_HALVINGS):
            middle = (honest + dishonest) / 2.0
            if is_honest(name, middle):
                honest = middle
            else:
                dishonest = middle
        return honest
    return honest
