"""What a MoST search minimises: the share of the IoU that is left, and how far picture and prompt moved."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vlmlab.core.most.types import AnswerStatus, FloatArray, Outcome

PixelArray = npt.NDArray[np.uint8]
Embed = Callable[[str], npt.NDArray[np.floating]]
"""A text as a vector ``(d,)``, always the same one for the same text."""
_REMEMBERED_PROMPTS = 10_000
_PART = 30_000  # values at once: they stay in the cache, and the sum of their squares fits into 32 bits


class Objectives(NamedTuple):
    """Three numbers to minimise.

    Attributes:
        iou_ratio: f1, IoU over that of the clean answer, at least 0; 0 without boxes.
        image_distance: f2, in [0, 1].
        prompt_distance: f3, in [0, 1].
    """

    iou_ratio: float
    image_distance: float
    prompt_distance: float


def objectives_of(outcome: Outcome, *, clean_iou: float) -> Objectives:
    """Return the objectives of an answer; its status says whether an ``iou_ratio`` of 0 had boxes.

    Raises:
        ValueError: the call failed, so there is nothing to minimise, or ``clean_iou`` is not above 0.
    """
    ratio = iou_ratio(outcome.status, outcome.iou, clean_iou=clean_iou)
    return Objectives(ratio, outcome.fidelity.image_distance, outcome.fidelity.prompt_distance)


def iou_ratio(status: AnswerStatus, iou: float, *, clean_iou: float) -> float:
    """Return f1, ``IoU(z) / IoU(0)``; 0 for an answer that is empty or malformed.

    Args:
        status: how the system answered.
        iou: set IoU of its boxes against the truth, in [0, 1]; passed over without boxes.
        clean_iou: set IoU of the answer to the clean input, in (0, 1].

    Raises:
        ValueError: the call failed, or ``clean_iou`` is not above 0.
    """
    if not status.is_answer:
        raise ValueError("status must be an answer: a failed call says nothing about the system")
    if not 0.0 < clean_iou <= 1.0:
        raise ValueError(f"clean_iou must be above 0 and at most 1, got {clean_iou}")
    return iou / clean_iou if status is AnswerStatus.BOXES else 0.0


def image_distance(original: PixelArray, perturbed: PixelArray) -> float:
    """Return f2, ``||perturbed - original|| / (255 sqrt(h w c))`` with the Frobenius norm.

    Args:
        original: ``(h, w, c)`` uint8.
        perturbed: the same shape.

    Returns:
        A value in [0, 1]; 1 between black and white.

    Raises:
        ValueError: shapes differ, there is no pixel, or the values are not uint8.
    """
    if original.shape != perturbed.shape or not original.size:
        raise ValueError(
            f"original and perturbed must have the same shape, got {original.shape} {perturbed.shape}"
        )
    if original.dtype != np.uint8 or perturbed.dtype != np.uint8:
        raise ValueError(f"original and perturbed must be uint8, got {original.dtype} {perturbed.dtype}")
    first, second, total = original.reshape(-1), perturbed.reshape(-1), 0
    for start in range(0, first.size, _PART):
        part = slice(start, start + _PART)
        difference = np.subtract(second[part], first[part], dtype=np.int16).astype(np.int32)
        # no BLAS: its threads wait for each other longer than this takes
        total += int(np.einsum("i,i->", difference, difference))
    return float(np.sqrt(total / original.size) / 255.0)


def cosine_distance(first: npt.NDArray[np.floating], second: npt.NDArray[np.floating]) -> float:
    """Return ``1 - cos`` of two vectors, clipped to [0, 1]; exactly 0 for two that are equal.

    How the products of equal vectors round depends on the processor, and a search must not see that.

    Args:
        first: ``(d,)``, not all zeros.
        second: ``(d,)``, not all zeros.

    Raises:
        ValueError: shapes differ or do not have one dimension, or a vector has no direction.
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 1 or one.shape != other.shape:
        raise ValueError(f"first and second must be vectors of one length, got {one.shape} {other.shape}")
    norms = float(np.linalg.norm(one) * np.linalg.norm(other))
    if not 0.0 < norms < np.inf:
        raise ValueError("first and second must have a direction: finite numbers, not all 0")
    if np.array_equal(one, other):
        return 0.0
    return float(np.clip(1.0 - float(one @ other) / norms, 0.0, 1.0))


class PromptDistance:
    """f3 of perturbed prompts against one clean prompt; each text is embedded once.

    Args:
        prompt: the clean prompt.
        embed: text to vector.
        remembered: distances kept; the oldest go first.
    """

    def __init__(self, prompt: str, embed: Embed, *, remembered: int = _REMEMBERED_PROMPTS) -> None:
        self._embed = embed
        self._remembered = remembered
        self._clean: npt.NDArray[np.floating] | None = None
        self._prompt = prompt
        self._known: dict[str, float] = {}

    def __call__(self, perturbed: str) -> float:
        """Return the distance of a prompt, in [0, 1]; 0 for the clean one itself."""
        if perturbed == self._prompt:
            return 0.0
        distance = self._known.get(perturbed)
        if distance is None:
            if self._clean is None:
                self._clean = self._embed(self._prompt)
            distance = cosine_distance(self._clean, self._embed(perturbed))
            if len(self._known) >= self._remembered:
                del self._known[next(iter(self._known))]
            self._known[perturbed] = distance
        return distance


def non_dominated(rows: FloatArray | Sequence[Objectives]) -> npt.NDArray[np.bool_]:
    """Return which rows no other row beats: none is as low everywhere and lower somewhere.

    Args:
        rows: ``(n, k)`` numbers to minimise.

    Returns:
        ``(n,)``; of equal rows all or none.

    Raises:
        ValueError: the rows do not have two dimensions, or a number is missing.
    """
    values = np.asarray(rows, dtype=np.float64)
    if not values.size:
        return np.zeros(len(values), dtype=np.bool_)
    if values.ndim != 2 or np.isnan(values).any():
        raise ValueError(f"rows must be (n, k) without missing values, got {values.shape}")
    distinct, group = np.unique(values, axis=0, return_inverse=True)
    # In this order a row can only be beaten by one before it, and what beats that one beats it too.
    front = np.empty_like(distinct)
    is_front = np.zeros(len(distinct), dtype=np.bool_)
    count = 0
    for number, row in enumerate(distinct):
        if not (front[:count] <= row).all(axis=1).any():
            front[count] = row
            is_front[number] = True
            count += 1
    return is_front[group.reshape(-1)]
