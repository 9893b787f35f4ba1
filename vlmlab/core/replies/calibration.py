"""Judging a probe: does a system write boxes the way it is declared to, and can its letters be read."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from vlmlab.core.boxes import iou
from vlmlab.core.conventions import BoxConvention
from vlmlab.core.replies.boxes import BoxReading, parse_boxes
from vlmlab.core.replies.calibration_records import (
    CANDIDATE_CONVENTIONS,
    AnswerVerdict,
    BoxVerdict,
    Fit,
    ProbeAnswer,
    ProbeBox,
    VerdictStatus,
    convention_name,
    meaning_of,
)
from vlmlab.core.replies.choices import parse_choice
from vlmlab.core.replies.probe_pictures import PROBE_SIZE, ProbePicture, probe_pictures
from vlmlab.core.suts.base import SutReply

__all__ = [
    "CANDIDATE_CONVENTIONS",
    "PROBE_SIZE",
    "AnswerVerdict",
    "BoxVerdict",
    "Fit",
    "ProbeAnswer",
    "ProbeBox",
    "ProbePicture",
    "convention_name",
    "judge_answers",
    "judge_boxes",
    "probe_pictures",
]

LEAST_MEDIAN_IOU = 0.5
LEAST_READABLE_SHARE = 0.9
LEAST_BOXES_SHARE = 0.5
MOST_CALL_ERRORS_SHARE = 0.25
SAME_READING = 0.01
"""Two readings are the same when no edge differs by this share of the picture's side."""
SAME_READABILITY = 0.1
"""Share of the pictures that one of two like conventions may read alone, as at the edge of a scale."""
NEAR_READING, CLEARLY_BETTER = 0.03, 0.05
"""A convention as near as 0-1024 is to 0-1000 must be better by this IoU before it counts against another."""

_REASONS = {
    "no_output": "the reply was empty",
    "unfinished_thinking": "the reply ended while it was still thinking; allow it more tokens",
    "truncated": "the reply was cut off; allow it more tokens",
    "too_long": "the reply was too long to be read",
    "no_structured_output": "the reply held no coordinates; look at the prompt",
    "points_only": "the reply held points instead of boxes",
    "invalid_box": "the boxes did not have four numbers",
    "structural_error": "the reply was not well-formed",
    "sentinel": "the reply said that there is no rectangle; check that it gets the picture",
    "well_formed_empty": "the reply said that there is no rectangle; check that it gets the picture",
    "refusal": "the system refused",
    "safety": "the provider stopped the reply",
    "out_of_range": "the numbers were too large for the scale",
    "suspect_scale": "the numbers were too small for the scale",
    "degenerate": "the boxes had no area",
    "revised_answer": "the system corrected itself; ask for the final boxes only",
    "contradiction": "the reply denied that there is a rectangle and wrote a box all the same",
}


@dataclass(frozen=True)
class _Tried:
    """The replies under one convention."""

    name: str
    convention: BoxConvention
    boxes: tuple[ProbeBox, ...]

    @property
    def fit(self) -> Fit:
        answered = [one for one in self.boxes if one.status != "call_error"]
        middle = float(median(one.iou for one in answered)) if answered else 0.0
        return Fit(self.name, self.convention, middle, sum(one.box is not None for one in answered))


def judge_boxes(
    pictures: Sequence[ProbePicture], replies: Sequence[SutReply], declared: BoxConvention
) -> BoxVerdict:
    """Judge whether the declared convention is the one that a system answers in.

    It is when the median IoU under it is at least 0.5 and better than under every other candidate. A
    candidate whose readings lie within 1 % of the picture of the declared one's cannot be told apart from it
    and does not count against it; one within 3 % counts only where it is better by 0.05, because a system
    that is a little off would otherwise be sent from 0-1000 to 0-1024.

    Args:
        pictures: of ``probe_pictures``.
        replies: one a picture, in the same order.
        declared: the convention of the registration.

    Raises:
        ValueError: not one reply a picture.
    """
    _check_counts(pictures, replies)
    tried = _Tried(convention_name(declared), declared, _read_all(pictures, replies, declared))
    if _have_calls_failed(replies):
        return BoxVerdict("failed", _failed_sentence(replies), None, (), tried.boxes)
    others = [
        _Tried(name, candidate, _read_all(pictures, replies, candidate))
        for name, candidate in CANDIDATE_CONVENTIONS.items()
        if meaning_of(candidate) != meaning_of(declared)
    ]
    fits = (tried.fit, *(other.fit for other in _ranked(others, pictures)))
    status, sentence = _box_verdict(tried, others, pictures, n_answered=_n_answered(replies))
    return BoxVerdict(status, sentence, tried.fit.median_iou, fits, tried.boxes)


def judge_answers(pictures: Sequence[ProbePicture], replies: Sequence[SutReply]) -> AnswerVerdict:
    """Judge whether the letters of a system's answers can be read; how many are right is only reported.

    Args:
        pictures: of ``probe_pictures``.
        replies: one a picture to its question, in the same order.

    Raises:
        ValueError: not one reply a picture.
    """
    _check_counts(pictures, replies)
    readings = tuple(_read_answer(picture, reply) for picture, reply in zip(pictures, replies, strict=True))
    if _have_calls_failed(replies):
        return AnswerVerdict("failed", _failed_sentence(replies), None, None, readings)
    n_answered = _n_answered(replies)
    n_read = sum(reading.letter is not None for reading in readings)
    n_right = sum(reading.is_right for reading in readings)
    is_readable = n_read >= LEAST_READABLE_SHARE * n_answered
    sentence = f"{n_read} of {n_answered} answers can be read; {n_right} name the right colour."
    if not is_readable:
        sentence += " Ask for one letter only in the question prompt, or allow more tokens."
    elif n_right * 2 < n_answered:
        sentence += " That is little for a plain rectangle: check that it gets the picture."
    status: VerdictStatus = "calibrated" if is_readable else "unreadable"
    return AnswerVerdict(status, sentence, n_read / n_answered, n_right / n_answered, readings)


def _check_counts(pictures: Sequence[ProbePicture], replies: Sequence[SutReply]) -> None:
    if not pictures or len(pictures) != len(replies):
        raise ValueError(f"one reply a picture expected, got {len(replies)} for {len(pictures)}")


def _n_answered(replies: Sequence[SutReply]) -> int:
    return sum(not reply.is_call_error for reply in replies)


def _have_calls_failed(replies: Sequence[SutReply]) -> bool:
    return len(replies) - _n_answered(replies) > MOST_CALL_ERRORS_SHARE * len(replies)


def _failed_sentence(replies: Sequence[SutReply]) -> str:
    errors = Counter(reply.call_error for reply in replies if reply.is_call_error)
    return (
        f"{errors.total()} of {len(replies)} calls failed, so nothing can be said. Most often: "
        f"{errors.most_common(1)[0][0]}"
    )


def _read_all(
    pictures: Sequence[ProbePicture], replies: Sequence[SutReply], convention: BoxConvention
) -> tuple[ProbeBox, ...]:
    return tuple(
        _read_box(picture, reply, convention) for picture, reply in zip(pictures, replies, strict=True)
    )


def _read_box(picture: ProbePicture, reply: SutReply, convention: BoxConvention) -> ProbeBox:
    if reply.is_call_error:
        return ProbeBox("call_error", "", 0, None, 0.0)
    reading: BoxReading = parse_boxes(
        reply.text,
        convention=convention,
        image_size=(picture.width, picture.height),
        seen_size=reply.seen_size,
        finish_reason=reply.finish_reason,
    )
    box = reading.items[0].box if reading.items else None
    overlap = float(iou(np.array([box]), np.array([picture.box]))[0, 0]) if box else 0.0
    return ProbeBox(reading.status, reading.reason, len(reading.items), box, overlap)


def _read_answer(picture: ProbePicture, reply: SutReply) -> ProbeAnswer:
    if reply.is_call_error:
        return ProbeAnswer("call_error", None, "", is_right=False)
    reading = parse_choice(reply.text, options=picture.options, finish_reason=reply.finish_reason)
    is_right = reading.letter == picture.expected_letter
    return ProbeAnswer(reading.status, reading.letter, reading.reason, is_right)


def _reads_the_same(
    first: _Tried, second: _Tried, pictures: Sequence[ProbePicture], *, within: float = SAME_READING
) -> bool:
    """Whether two conventions put every box in one place; a few may be read under one of them only."""
    n_both = n_one = 0
    for one, other, picture in zip(first.boxes, second.boxes, pictures, strict=True):
        if one.box is None or other.box is None:
            n_one += one.box is not other.box
            continue
        n_both += 1
        sides = (picture.width, picture.height) * 2
        if any(abs(a - b) >= within * side for a, b, side in zip(one.box, other.box, sides, strict=True)):
            return False
    return n_both > 0 and n_one <= SAME_READABILITY * len(pictures)


def _ranked(others: Sequence[_Tried], pictures: Sequence[ProbePicture]) -> list[_Tried]:
    """Return the candidates, best first; of those that read the same as the best, the usual one leads."""
    ranked = sorted(others, key=lambda other: (-other.fit.median_iou, other.name))
    best = ranked[0]
    usual = next(other for other in others if other is best or _reads_the_same(best, other, pictures))
    return [usual, *(other for other in ranked if other is not usual)]


def _box_verdict(
    tried: _Tried, others: Sequence[_Tried], pictures: Sequence[ProbePicture], *, n_answered: int
) -> tuple[VerdictStatus, str]:
    fit = tried.fit
    rivals = [other for other in others if not _is_no_rival(tried, other, pictures)]
    alike = [
        other
        for other in others
        if other not in rivals
        and (other.fit.median_iou >= fit.median_iou or _reads_the_same(tried, other, pictures))
    ]
    best = max(rivals, key=lambda rival: (rival.fit.median_iou, rival.fit.n_read))
    mostly_read = max(fit.n_read, best.fit.n_read)
    if mostly_read < LEAST_BOXES_SHARE * n_answered:
        return "unreadable", _unreadable_sentence(tried, n_answered, n_read=mostly_read)
    if fit.median_iou >= LEAST_MEDIAN_IOU and fit.median_iou > best.fit.median_iou:
        return "calibrated", f"The declared convention fits: {_described(fit)}.{_also(alike)}"
    if best.fit.median_iou >= LEAST_MEDIAN_IOU and best.fit.median_iou > fit.median_iou:
        equals = [one for one in rivals if one is best or _reads_the_same(best, one, pictures)]
        named = equals[0].fit
        return "other_convention", (
            f"The replies fit {_described(named)}, not the declared {_described(fit)}. "
            f"{_why(tried, n_answered)}Declare {named.name} if its authors say so too.{_also(equals[1:])}"
        )
    found = "No convention fits" if fit.median_iou < LEAST_MEDIAN_IOU else "Two conventions fit equally well"
    return "unclear", (
        f"{found}: declared {_described(fit)}, best other {_described(best.fit)}. "
        "The system may not locate things well, or its prompt asks for something else; read the replies."
    )


def _is_no_rival(tried: _Tried, other: _Tried, pictures: Sequence[ProbePicture]) -> bool:
    """Whether another convention cannot be told from the declared one by a system that is a little off."""
    if _reads_the_same(tried, other, pictures):
        return True
    gain = other.fit.median_iou - tried.fit.median_iou
    return gain < CLEARLY_BETTER and _reads_the_same(tried, other, pictures, within=NEAR_READING)


def _described(fit: Fit) -> str:
    return f"{fit.name} (median IoU {fit.median_iou:.2f})"


def _also(tried: Sequence[_Tried]) -> str:
    names = [one.name for one in tried]
    if not names:
        return ""
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f" {listed} would fit as well."


def _why(tried: _Tried, n_answered: int) -> str:
    """Say what goes wrong under the declared convention."""
    failed = Counter(one.reason for one in tried.boxes if one.status == "malformed")
    if failed and failed.most_common(1)[0][1] * 2 > n_answered:
        reason, count = failed.most_common(1)[0]
        return f"Under that one, {count} of {n_answered} cannot be used: {_REASONS.get(reason, reason)}. "
    return "Under that one the boxes lie elsewhere in the picture. "


def _unreadable_sentence(tried: _Tried, n_answered: int, *, n_read: int) -> str:
    reasons = Counter(one.reason for one in tried.boxes if one.box is None and one.status != "call_error")
    reason = reasons.most_common(1)[0][0] if reasons else "no_structured_output"
    found = f"Only {n_read} of {n_answered} replies hold" if n_read else f"None of {n_answered} replies holds"
    return f"{found} a box that can be read. Most often: {_REASONS.get(reason, reason)}."
