"""The numbers of a test case as its page tells them: value, meaning, and which are outside their limits."""

from dataclasses import dataclass

from searches.enums import AnswerKind, CaseKind
from searches.models import ModalityCase
from vlmlab.core.most.types import Thresholds


@dataclass(frozen=True)
class Number:
    """One number of a case: its name, its value as text, and what it means."""

    name: str
    value: str
    meaning: str
    is_bad: bool = False


def case_numbers(case: ModalityCase, thresholds: Thresholds) -> list[Number]:
    """Return the numbers of a case in the order in which its page tells them."""
    spent = "until the run ended" if case.kind == CaseKind.RETURNED else "to shrink it"
    return [
        *_answer_numbers(case, thresholds),
        *_input_numbers(case, thresholds),
        Number("b_I", f"{case.image_budget:.3f}", "sum of the severities of image operators"),
        Number("b_T", f"{case.text_budget:.3f}", "sum of the severities of text operators"),
        Number("b_I + b_T", f"{case.total_budget:.3f}", "the perturbation budget that it spends"),
        Number("Evaluations", f"{case.evaluations:,}", f"answers that were taken {spent}"),
    ]


def _answer_numbers(case: ModalityCase, thresholds: Thresholds) -> list[Number]:
    clean = case.modality_run.clean_answer
    has_boxes = case.status == AnswerKind.BOXES
    iou = f"{case.iou:.3f}" if has_boxes else f"0 ({case.get_status_display().lower()})"
    return [
        Number(
            "IoU, clean", f"{clean.iou:.3f}" if clean else "–", "set IoU of the clean answer and the truth"
        ),
        Number(
            "IoU, perturbed",
            iou,
            f"set IoU of this answer and the moved truth; below {thresholds.iou:g} fails",
            is_bad=has_boxes and case.iou < thresholds.iou,
        ),
        Number("f1", f"{case.f1:.3f}", "share of the clean IoU that is left; 0 without boxes"),
        Number("SWTD", f"{case.swtd:.3f}", "1: all lost and nothing changed; 0.5: nothing happened"),
        Number("SWTD, mean", f"{case.swtd_mean:.3f}", "the same with the mean of both changes"),
    ]


def _input_numbers(case: ModalityCase, thresholds: Thresholds) -> list[Number]:
    limit, text_limit = thresholds.image_distance, thresholds.prompt_distance
    return [
        Number(
            "f2",
            f"{case.f2:.3f}",
            f"distance of the pictures; a failure has at most {limit:g}",
            is_bad=case.f2 > limit,
        ),
        Number(
            "f3",
            f"{case.f3:.3f}",
            f"distance of the prompts; a failure has at most {text_limit:g}",
            is_bad=case.f3 > text_limit,
        ),
        Number("MS-SSIM", f"{case.ms_ssim:.3f}", "how alike the pictures look; 1 where untouched"),
        Number("NED", f"{case.ned:.3f}", "edit distance of the prompts; 0 where untouched"),
    ]
