"""A calibration as it is stored: verdicts, conventions, and each picture's truth, replies and readings."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from searches.services.blobs import store_blob
from vlmlab.core.replies.calibration import AnswerVerdict, BoxVerdict, ProbeAnswer, ProbeBox, ProbePicture
from vlmlab.core.replies.version import READER_VERSION
from vlmlab.core.suts.base import SutReply

MOST_STORED_CHARACTERS = 20_000
"""Longest reply that is kept for people to read; the whole one was judged."""

Values = dict[str, Any]


def calibration_values(
    pictures: Sequence[ProbePicture],
    box_replies: Sequence[SutReply],
    answer_replies: Sequence[SutReply],
    *,
    boxes: BoxVerdict,
    answers: AnswerVerdict,
) -> Values:
    """Store the pictures and return the columns of a calibration, all but whose it is."""
    replies = [*box_replies, *answer_replies]
    answered = [reply for reply in replies if not reply.is_call_error]
    return {
        "boxes_status": boxes.status,
        "boxes_sentence": boxes.sentence,
        "median_iou": boxes.median_iou,
        "fits": [
            {
                "name": fit.name,
                "convention": fit.convention.model_dump(mode="json"),
                "median_iou": fit.median_iou,
                "n_read": fit.n_read,
            }
            for fit in boxes.fits
        ],
        "answers_status": answers.status,
        "answers_sentence": answers.sentence,
        "readable_share": answers.readable_share,
        "right_share": answers.right_share,
        "items": _items(pictures, box_replies, answer_replies, boxes=boxes, answers=answers),
        "n_calls": len(replies),
        "n_call_errors": len(replies) - len(answered),
        "input_tokens": sum(reply.input_tokens or 0 for reply in answered),
        "output_tokens": sum(reply.output_tokens or 0 for reply in answered),
        "cost_usd": sum(reply.cost_usd for reply in replies),
        "latency_ms": median(reply.latency_ms for reply in answered) if answered else None,
        "reader_version": READER_VERSION,
    }


def _items(
    pictures: Sequence[ProbePicture],
    box_replies: Sequence[SutReply],
    answer_replies: Sequence[SutReply],
    *,
    boxes: BoxVerdict,
    answers: AnswerVerdict,
) -> list[Values]:
    rows = zip(pictures, box_replies, boxes.readings, answer_replies, answers.readings, strict=True)
    return [
        {
            "number": picture.number,
            "image_sha256": store_blob(picture.image_png),
            "size": [picture.width, picture.height],
            "true_box": list(picture.box),
            "target": picture.target,
            "question": picture.question,
            "expected_letter": picture.expected_letter,
            "where": _reply_row(box_reply) | _box_row(box_reading),
            "which": _reply_row(answer_reply) | _answer_row(answer_reading),
        }
        for picture, box_reply, box_reading, answer_reply, answer_reading in rows
    ]


def _reply_row(reply: SutReply) -> Values:
    return {
        "text": reply.text[:MOST_STORED_CHARACTERS],
        "n_characters": len(reply.text),
        "finish_reason": reply.finish_reason,
        "call_error": reply.call_error,
        "seen_size": list(reply.seen_size) if reply.seen_size else None,
    }


def _box_row(reading: ProbeBox) -> Values:
    return {
        "status": reading.status,
        "reason": reading.reason,
        "n_boxes": reading.n_boxes,
        "box": [round(value, 2) for value in reading.box] if reading.box else None,
        "iou": reading.iou,
    }


def _answer_row(reading: ProbeAnswer) -> Values:
    return {"letter": reading.letter}
