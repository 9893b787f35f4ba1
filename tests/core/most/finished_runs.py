"""Runs and their test cases as tables need them, with defaults that a test overrides."""

from vlmlab.core.most.outcomes import RunStatus
from vlmlab.core.most.run_results import CaseNumbers, RunResult
from vlmlab.core.most.types import AnswerStatus


def numbers(**values) -> CaseNumbers:
    defaults = {
        "status": AnswerStatus.BOXES,
        "iou": 0.3,
        "is_faithful": True,
        "ms_ssim": 0.9,
        "ned": 0.1,
        "swtd": 0.7,
        "swtd_mean": 0.75,
        "image_budget": 0.25,
        "text_budget": 0.125,
    }
    return CaseNumbers(**{**defaults, **values})


def run(seed_image="s1", regime="image", *, case=None, **values) -> RunResult:
    status = values.setdefault("status", RunStatus.FINISHED)
    defaults = {
        "sut": "qwen",
        "scene_type": "street",
        "clean_status": AnswerStatus.BOXES,
        "clean_iou": 0.8,
        "iou_threshold": 0.5,
    }
    finished = numbers() if status is RunStatus.FINISHED and case is None else case
    return RunResult(**{**defaults, **values}, seed_image=seed_image, regime=regime, case=finished)


def wrong_from_the_start(seed_image="s1", regime="image", **values) -> RunResult:
    defaults = {"clean_status": AnswerStatus.BOXES, "clean_iou": 0.1}
    return run(seed_image, regime, status=RunStatus.BASELINE_FAILURE, **{**defaults, **values})
