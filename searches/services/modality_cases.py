"""Test cases of modality searches as rows: the picture kept, every number, and what makes the input again."""

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from searches.enums import CaseKind
from searches.models import Evaluation, ModalityCase, ModalityRun
from searches.services.blobs import store_blob
from vlmlab.core.conventions import BoxConvention
from vlmlab.core.most.evaluate import BoxAnswer, Perturber, read_answer
from vlmlab.core.most.outcomes import ReturnedCase
from vlmlab.core.most.run_results import CaseNumbers, case_numbers
from vlmlab.core.most.types import Strategy, Thresholds
from vlmlab.core.perturb.image_truth import MovedTruth
from vlmlab.core.suts.base import FinishReason, SutReply

MINIMAL_REASON = "minimal"


@dataclass(frozen=True)
class CaseReply:
    """What a system said to the input of a case.

    Attributes:
        reply: its words.
        evaluation: the row that holds them; None for a reply that no run asked for.
    """

    reply: SutReply
    evaluation: Evaluation | None = None


def stored_reply(evaluation: Evaluation) -> CaseReply:
    """Return the reply of an evaluation, to be read again."""
    finish_reasons: dict[str, FinishReason] = {
        one: one for one in ("stop", "length", "refusal", "safety", "other")
    }
    width, height = evaluation.seen_width, evaluation.seen_height
    reply = SutReply(
        text=evaluation.raw_text,
        finish_reason=finish_reasons.get(evaluation.finish_reason, "stop"),
        latency_ms=evaluation.latency_ms,
        call_error=evaluation.error,
        seen_size=(width, height) if width and height else None,
    )
    return CaseReply(reply, evaluation)


def case_row(
    modality_run: ModalityRun,
    perturber: Perturber,
    *,
    case: ReturnedCase,
    said: CaseReply,
    thresholds: Thresholds,
    clean_iou: float,
    convention: BoxConvention,
    evaluations: int,
    kind: CaseKind = CaseKind.RETURNED,
) -> ModalityCase:
    """Return the row of a test case, not saved yet, and store its picture.

    Call it before the transaction that writes the row: pictures lie in files.

    Args:
        modality_run: the run that it belongs to.
        perturber: what made its input.
        case: which outcome it is, and why that one.
        said: the reply to it; boxes and the lenient reading are read from its words.
        thresholds: when an answer is a failure.
        clean_iou: set IoU of the answer to the clean input, in (0, 1].
        convention: how the system writes coordinates.
        evaluations: answers that it took to find it.
        kind: the one a run returned, or its minimal perturbation.

    Raises:
        StorageError: the disk is full or the folder cannot be written.
    """
    strategy = case.outcome.query.strategy
    made = perturber.perturbed(strategy)
    answer = read_answer(
        said.reply, truth=made.truth.boxes, convention=convention, image_size=perturber.seed_image.size
    )
    numbers = _numbers(perturber, case, clean_iou=clean_iou, thresholds=thresholds)
    return ModalityCase(
        modality_run=modality_run,
        kind=kind,
        evaluation=said.evaluation,
        generator=generator_of(perturber, strategy),
        severities=acting_severities(perturber, strategy),
        prompt=made.prompt,
        image_sha256=store_blob(made.png),
        truth=_corners(made.truth),
        reason=MINIMAL_REASON if kind == CaseKind.MINIMAL else case.reason.value,
        is_failure=thresholds.is_hit(case.outcome),
        f1=case.objectives.iou_ratio,
        f2=case.objectives.image_distance,
        f3=case.objectives.prompt_distance,
        evaluations=evaluations,
        **_answer_columns(answer, said.reply),
        **_number_columns(numbers),
    )


def acting_severities(perturber: Perturber, strategy: Strategy) -> dict[str, float]:
    """Return the severities above 0 by the name of the operator, those of the image first."""
    space = perturber.space
    return space.image_severities(strategy) | space.text_severities(strategy)


def generator_of(perturber: Perturber, strategy: Strategy) -> dict[str, Any]:
    """Return what makes the input of a strategy again: run seed, seed image, a seed an acting operator."""
    return {
        "run_seed": perturber.run_seed,
        "seed_image": perturber.seed_image.image_id,
        "seeds": {name: perturber.operator_seed(name) for name in acting_severities(perturber, strategy)},
    }


def _numbers(
    perturber: Perturber, case: ReturnedCase, *, clean_iou: float, thresholds: Thresholds
) -> CaseNumbers:
    strategy = case.outcome.query.strategy
    likeness = perturber.likeness(strategy)
    return case_numbers(
        case,
        clean_iou=clean_iou,
        thresholds=thresholds,
        spent=perturber.space.spent(strategy),
        ms_ssim=likeness.ms_ssim,
        ned=likeness.ned,
    )


def _number_columns(numbers: CaseNumbers) -> dict[str, Any]:
    return {
        "status": numbers.status.value,
        "iou": numbers.iou,
        "is_faithful": numbers.is_faithful,
        "ms_ssim": numbers.ms_ssim,
        "ned": numbers.ned,
        "swtd": numbers.swtd,
        "swtd_mean": numbers.swtd_mean,
        "image_budget": numbers.image_budget,
        "text_budget": numbers.text_budget,
    }


def _answer_columns(answer: BoxAnswer, reply: SutReply) -> dict[str, Any]:
    return {
        "boxes": [list(box) for box in answer.boxes],
        "lenient_status": answer.lenient_status.value,
        "lenient_iou": answer.lenient_iou,
        "raw_text": reply.text,
        "finish_reason": reply.finish_reason,
        "reading_reason": answer.reason,
    }


def _corners(truth: MovedTruth) -> list[list[float]]:
    boxes: npt.NDArray[Any] = truth.boxes
    return [[float(value) for value in box] for box in boxes]
