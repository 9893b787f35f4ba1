"""What people said of cases, as numbers: one judged case, one judgement, and their sums by case."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum

import numpy as np
import numpy.typing as npt

from vlmlab.core.boxes import set_iou

Boxes = tuple[tuple[float, float, float, float], ...]
IOU_NEEDED = 0.5
"""Set IoU from which a person's boxes count as having done the task."""


@dataclass(frozen=True)
class JudgedCase:
    """A case of a study with what the system did on it.

    Attributes:
        key: names it in the study.
        sut: name of the system.
        regime, scene_type, operator: strata; "" where they do not apply.
        severity: of the single operator; None in other designs.
        is_failure: whether the system failed on it when it was chosen.
        is_control: a clean picture with the clean prompt, not chosen for a failure.
        sut_iou: set IoU of the answer that it was chosen with; None for a scene or without an answer.
        asked_again_iou: of a later answer to the same input, which nobody selected; None where not asked.
    """

    key: str
    sut: str = ""
    regime: str = ""
    scene_type: str = ""
    operator: str = ""
    severity: float | None = None
    is_failure: bool = False
    is_control: bool = False
    sut_iou: float | None = None
    asked_again_iou: float | None = None


@dataclass(frozen=True)
class Judgement:
    """One answer of one participant to one case.

    Attributes:
        participant: pseudonym or number; unique in the study.
        case: key of the case.
        is_accepted: boxes were drawn, or it was said that there is nothing to mark.
        iou: set IoU with the truth; 0 where the case was rejected.
        boxes: in pixels of the case's picture.
        reason: why it was rejected, "" otherwise.
        ms: milliseconds spent on the case.
    """

    participant: str
    case: str
    is_accepted: bool
    iou: float = 0.0
    boxes: Boxes = ()
    reason: str = ""
    ms: int = 0

    @property
    def is_done(self) -> bool:
        """Whether the person could do what was asked: accepted, and close enough to the truth."""
        return self.is_accepted and self.iou >= IOU_NEEDED

    @property
    def counted_iou(self) -> float:
        """Set IoU where a rejection counts 0 (Human*)."""
        return self.iou if self.is_accepted else 0.0


@dataclass(frozen=True)
class CaseSummary:
    """All judgements of one case.

    Attributes:
        case: which.
        n: judgements.
        n_accepted: of these accepted.
        n_done: of these accepted with a set IoU of at least 0.5.
        human_iou: mean set IoU of accepted answers; None where nobody accepted.
        human_star: mean set IoU of all answers, a rejection as 0.
        pairwise_iou: mean set IoU between two people who accepted; None below two.
        reasons: how often each reason to reject was given.
    """

    case: JudgedCase
    n: int
    n_accepted: int
    n_done: int
    human_iou: float | None
    human_star: float
    pairwise_iou: float | None
    reasons: dict[str, int]

    @property
    def acceptance(self) -> float:
        """Share of answers that accepted."""
        return self.n_accepted / self.n


def box_rows(boxes: Sequence[Sequence[float]]) -> npt.NDArray[np.float64]:
    """Return boxes as ``(n, 4)``: x_min, y_min, x_max, y_max in pixels."""
    return np.array(boxes, dtype=np.float64).reshape(-1, 4)


def mean_of(values: Sequence[float]) -> float | None:
    """Return the mean, to the last bit the same in every order; None without a value."""
    return fsum(values) / len(values) if values else None


def in_order(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Return judgements sorted by case and participant, so that no number hangs on how they were read."""
    return sorted(judgements, key=lambda one: (one.case, one.participant))


def summarise_cases(cases: Sequence[JudgedCase], judgements: Sequence[Judgement]) -> list[CaseSummary]:
    """Return the sums of every case that was judged, in the order of the cases.

    Raises:
        ValueError: a judgement names a case that is not among them, or one participant judged a case twice.
    """
    by_case = grouped_by_case(cases, judgements)
    return [_summary(case, by_case[case.key]) for case in cases if by_case.get(case.key)]


def grouped_by_case(
    cases: Sequence[JudgedCase], judgements: Sequence[Judgement]
) -> dict[str, list[Judgement]]:
    """Return the judgements of each case.

    Raises:
        ValueError: a judgement names a case that is not among them, or one participant judged a case twice.
    """
    keys = {case.key for case in cases}
    found: defaultdict[str, list[Judgement]] = defaultdict(list)
    seen: set[tuple[str, str]] = set()
    for one in judgements:
        if one.case not in keys:
            raise ValueError(f"judgements must name cases of the study, got {one.case!r}")
        if (one.participant, one.case) in seen:
            raise ValueError(f"{one.participant!r} must judge {one.case!r} once, got two judgements")
        seen.add((one.participant, one.case))
        found[one.case].append(one)
    return dict(found)


def _summary(case: JudgedCase, answers: Sequence[Judgement]) -> CaseSummary:
    accepted = [one for one in answers if one.is_accepted]
    reasons: defaultdict[str, int] = defaultdict(int)
    for one in answers:
        if not one.is_accepted:
            reasons[one.reason] += 1
    return CaseSummary(
        case=case,
        n=len(answers),
        n_accepted=len(accepted),
        n_done=sum(one.is_done for one in answers),
        human_iou=mean_of([one.iou for one in accepted]),
        human_star=fsum(one.counted_iou for one in answers) / len(answers),
        pairwise_iou=_pairwise([one.boxes for one in accepted]),
        reasons=dict(sorted(reasons.items())),
    )


def _pairwise(answers: Sequence[Boxes]) -> float | None:
    arrays = [box_rows(boxes) for boxes in answers]
    return mean_of([set_iou(first, second) for first, second in combinations(arrays, 2)])
