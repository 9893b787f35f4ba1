"""What in a participant's answers a person should look at; nobody is excluded by a rule of these."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from vlmlab.core.studies.judgements import IOU_NEEDED, Boxes

FlagName = Literal["fast", "all_accepted", "all_rejected", "same_box", "full_image"]
FAST_MS = 2_000
FULL_IMAGE_SHARE = 0.3
FULL_IMAGE_AREA = 0.98
"""Share of the picture from which a box counts as all of it."""
FEWEST_FOR_PATTERNS = 5
"""Below so many answers no pattern is told from chance."""
SAME_BOX_SHARE = 0.5


@dataclass(frozen=True)
class GivenAnswer:
    """One answer as far as quality is judged.

    Attributes:
        is_accepted: not rejected.
        boxes: in pixels.
        width, height: of the picture in pixels.
        ms: time on the case.
    """

    is_accepted: bool
    boxes: Boxes
    width: int
    height: int
    ms: int


@dataclass(frozen=True)
class QualityFlag:
    """Something to look at, with the numbers that say so."""

    name: FlagName
    sentence: str


def quality_flags(answers: Sequence[GivenAnswer]) -> list[QualityFlag]:
    """Return what stands out in the answers of one participant to cases and controls.

    A median below 2 s a case; all cases accepted, or all rejected; one box given for half of the drawn cases;
    boxes of the whole image in more than 30 % of the drawn cases. Patterns need at least five answers. To
    reject much is no flag by itself: it is what the study measures.
    """
    if not answers:
        return []
    flags = []
    typical = median(one.ms for one in answers)
    if typical < FAST_MS:
        flags.append(QualityFlag("fast", f"Half of the cases took less than {typical / 1000:.1f} s."))
    if len(answers) < FEWEST_FOR_PATTERNS:
        return flags
    accepted = sum(one.is_accepted for one in answers)
    if accepted == len(answers):
        flags.append(QualityFlag("all_accepted", f"None of {len(answers)} cases was rejected."))
    if accepted == 0:
        flags.append(QualityFlag("all_rejected", f"All {len(answers)} cases were rejected."))
    return flags + _box_flags([one for one in answers if one.boxes])


def _box_flags(drawn: Sequence[GivenAnswer]) -> list[QualityFlag]:
    if len(drawn) < FEWEST_FOR_PATTERNS:
        return []
    flags = []
    shapes = Counter(shape for one in drawn for shape in {_relative(box, one) for box in one.boxes})
    same = max(shapes.values())
    if same >= SAME_BOX_SHARE * len(drawn):
        flags.append(QualityFlag("same_box", f"The same box stands in {same} of {len(drawn)} drawn cases."))
    full = sum(any(_is_full(box, one) for box in one.boxes) for one in drawn)
    if full > FULL_IMAGE_SHARE * len(drawn):
        flags.append(
            QualityFlag("full_image", f"{full} of {len(drawn)} drawn cases have a box of the whole image.")
        )
    return flags


def _relative(box: tuple[float, float, float, float], answer: GivenAnswer) -> tuple[float, ...]:
    sides = (answer.width, answer.height, answer.width, answer.height)
    return tuple(round(value / side, 2) for value, side in zip(box, sides, strict=True))


def _is_full(box: tuple[float, float, float, float], answer: GivenAnswer) -> bool:
    return (box[2] - box[0]) * (box[3] - box[1]) >= FULL_IMAGE_AREA * answer.width * answer.height


def easy_check_passed(*, is_accepted: bool, iou: float) -> bool:
    """Whether the easy check is passed: accepted, with a set IoU of at least 0.5."""
    return is_accepted and iou >= IOU_NEEDED


def checks_passed(verdicts: Sequence[bool]) -> bool | None:
    """Whether a submission is valid by its attention checks: only one that fails all of them is not.

    Returns:
        None where there is no check.
    """
    return any(verdicts) if verdicts else None
