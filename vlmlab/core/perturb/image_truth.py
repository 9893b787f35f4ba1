"""The truth after a strategy: where it is, whether it can be seen and is known, and how far one may go."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vlmlab.core.perturb.geometry import FloatArray, Warp
from vlmlab.core.perturb.geometry_boxes import (
    check_boxes,
    inside_frame,
    moved_boxes,
    tight_shares,
    visible_shares,
    within_frame,
)
from vlmlab.core.perturb.geometry_resample import Masks, check_masks, warped_masks
from vlmlab.core.perturb.image_layers import LayerOperator
from vlmlab.core.perturb.image_operator import Size, check_size
from vlmlab.core.perturb.image_operators import IMAGE_OPERATORS, RngOf, active_severities, strategy_warp

LEAST_VISIBLE_SHARE = 0.7
LEAST_TIGHT_SHARE = 0.9
# A pixel is hidden where layers leave less than this share of the scene's light.
LEAST_LIGHT = 0.25
_CAP_STEPS = 20
_CAP_HALVINGS = 8
_MOST_PLACES = 2000


@dataclass(frozen=True)
class MovedTruth:
    """The truth of a perturbed picture.

    Attributes:
        boxes: ``(n, 4)``: x_min, y_min, x_max, y_max, cut at the picture's border.
        visible_shares: ``(n,)``: which share of each thing is in the frame and not hidden by a layer.
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
    """Return where the truth is after a strategy, and how much of it can be seen.

    Args:
        boxes: ``(n, 4)``: x_min, y_min, x_max, y_max in pixels of the clean picture.
        severities: operator name to severity in [0, 1].
        rng_of: the same source of generators as for the picture.
        image_size: width and height in pixels.
        masks: ``(n, height, width)`` bool, one for each box; then boxes are those of the moved masks.

    Raises:
        ValueError: an argument is not as described, or there are not as many masks as boxes.
    """
    rows, size = check_boxes(boxes), check_size(image_size)
    layers = _checked_masks(masks, len(rows), size)
    warp = strategy_warp(severities, rng_of=rng_of, image_size=size)
    hidden = strategy_hidden(severities, rng_of=rng_of, image_size=size)
    if warp.displacement is None and np.array_equal(warp.matrix, np.eye(3)):
        shares = _clear_shares(hidden, rows, layers)
        return MovedTruth(rows.copy(), shares, np.ones(len(rows)))
    if layers is None:
        moved = moved_boxes(rows, warp, size)
        shares = visible_shares(rows, warp, size) * _clear_shares(hidden, moved, None)
        return MovedTruth(moved, shares, tight_shares(rows, warp))
    moved_layers = warped_masks(layers, warp)
    moved = boxes_of_masks(moved_layers)
    shares = _framed_shares(_places(layers), warp, size) * _clear_shares(hidden, moved, moved_layers)
    return MovedTruth(moved, shares, np.ones(len(rows)))


def strategy_hidden(
    severities: Mapping[str, float], *, rng_of: RngOf, image_size: Size
) -> npt.NDArray[np.bool_] | None:
    """Return which pixels the layers of a strategy hide; None where it has no layer.

    Args:
        severities: operator name to severity in [0, 1].
        rng_of: the same source of generators as for the picture.
        image_size: width and height in pixels.

    Returns:
        ``(height, width)``: true where all layers together leave less than a quarter of the scene's light.

    Raises:
        ValueError: an unknown name, or a severity outside [0, 1].
    """
    light = None
    for name, severity in active_severities(severities).items():
        operator = IMAGE_OPERATORS[name]
        if isinstance(operator, LayerOperator):
            through = 1.0 - operator.opacity(severity, rng_of(name), image_size)
            light = through if light is None else light * through
    return None if light is None else light < LEAST_LIGHT


def boxes_of_masks(masks: Masks) -> FloatArray:
    """Return ``(n, 4)`` tight boxes of ``(n, height, width)`` masks; zeros for an empty one."""
    boxes = np.zeros((len(masks), 4))
    for number, mask in enumerate(masks):
        rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
        if rows.size:
            boxes[number] = columns[0], rows[0], columns[-1] + 1, rows[-1] + 1
    return boxes


def honest_caps(
    boxes: npt.ArrayLike,
    *,
    rng_of: RngOf,
    image_size: Size,
    masks: Masks | None = None,
    names: Sequence[str] | None = None,
) -> dict[str, float]:
    """Return how far each operator may go alone before the truth of a picture is no longer honest.

    Geometric severities are tried upwards in steps of a twentieth until one is not honest; layers only grow.
    Halving finds the edge. Several operators together can go too far within their caps: ask ``moved_truth``
    about a strategy.

    Args:
        boxes: ``(n, 4)`` boxes of the clean picture.
        rng_of: the same source of generators as for the picture.
        image_size: width and height in pixels.
        masks: ``(n, height, width)`` bool, one for each box, if there are any.
        names: which operators; if left out all that can move or hide things.

    Returns:
        Operator name to the largest severity in [0, 1]; the other operators have no cap.

    Raises:
        ValueError: an argument is not as described.
    """
    rows, size = check_boxes(boxes), check_size(image_size)
    layers = _checked_masks(masks, len(rows), size)
    places = None if layers is None else _places(layers)

    def moves_honestly(name: str, severity: float) -> bool:
        warp = strategy_warp({name: severity}, rng_of=rng_of, image_size=size)
        if places is not None:
            return bool((_framed_shares(places, warp, size) >= LEAST_VISIBLE_SHARE).all())
        shares = visible_shares(rows, warp, size)
        return MovedTruth(rows, shares, tight_shares(rows, warp)).is_honest

    def hides_little(name: str, severity: float) -> bool:
        hidden = strategy_hidden({name: severity}, rng_of=rng_of, image_size=size)
        return bool((_clear_shares(hidden, rows, layers) >= LEAST_VISIBLE_SHARE).all())

    caps = {}
    for name, operator in IMAGE_OPERATORS.items():
        if names is not None and name not in names:
            continue
        if operator.moves_boxes:
            caps[name] = _cap(moves_honestly, name, steps=_CAP_STEPS)
        elif operator.hides:
            caps[name] = _cap(hides_little, name, steps=1)
    return caps


def _cap(is_honest: Callable[[str, float], bool], name: str, *, steps: int) -> float:
    honest, dishonest = 0.0, 0.0
    for step in range(1, steps + 1):
        if not is_honest(name, step / steps):
            dishonest = step / steps
            break
        honest = step / steps
    if honest == 1.0:
        return 1.0
    for _ in range(_CAP_HALVINGS):
        middle = (honest + dishonest) / 2.0
        if is_honest(name, middle):
            honest = middle
        else:
            dishonest = middle
    return honest


def _checked_masks(masks: Masks | None, n_boxes: int, image_size: Size) -> Masks | None:
    if masks is None:
        return None
    layers = check_masks(masks)
    expected = n_boxes, image_size[1], image_size[0]
    if layers.shape != expected:
        raise ValueError(f"masks must be {expected}, one for each box, got {layers.shape}")
    return layers


def _places(masks: Masks) -> list[FloatArray]:
    """Return the centres ``(k, 2)`` of each mask's pixels, every so many where there are very many."""
    places = []
    for mask in masks:
        rows, columns = np.nonzero(mask)
        step = 1 + len(rows) // _MOST_PLACES
        places.append(np.stack([columns[::step], rows[::step]], axis=1).astype(np.float64) + 0.5)
    return places


def _framed_shares(places: Sequence[FloatArray], warp: Warp, image_size: Size) -> FloatArray:
    """Return which share of each thing's points is in the frame after a warp; 0 where it has none."""
    shares = [
        float(inside_frame(warp.forward(points), image_size).mean()) if len(points) else 0.0
        for points in places
    ]
    return np.array(shares, dtype=np.float64)


def _clear_shares(hidden: npt.NDArray[np.bool_] | None, boxes: FloatArray, masks: Masks | None) -> FloatArray:
    """Return which share of each thing's pixels no layer hides: of its mask, else of its box."""
    if hidden is None:
        return np.ones(len(boxes))
    height, width = hidden.shape
    shares = np.ones(len(boxes))
    for number, (left, top, right, bottom) in enumerate(within_frame(boxes, (width, height))):
        rows = slice(min(int(top), height - 1), max(int(np.ceil(bottom)), int(top) + 1))
        columns = slice(min(int(left), width - 1), max(int(np.ceil(right)), int(left) + 1))
        part = hidden[rows, columns]
        if masks is not None:
            part = part[masks[number][rows, columns]]
        if part.size:
            shares[number] = 1.0 - float(part.mean())
    return shares
