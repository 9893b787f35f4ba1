"""What tests of follow-ups of test cases share: systems that break, cases found on them, a digest of runs."""

import hashlib
import json
from typing import Any

from searches.models import Campaign, CaseSample, ModalityCase, SearchRun, SutRecord
from searches.services.follow_ups import FollowUpWish, create_follow_up
from tests.searches.modality_engine import (
    CHEAP,
    CHEAP_TEXT,
    advance_all,
    breaks_now_and_then,
    start_modality,
)
from vlmlab.core.perturb import IMAGE_OPERATORS, TEXT_OPERATORS

SAMPLE_COLUMNS = (
    "step", "position", "number", "draw_seed", "image_sha256", "prompt", "truth", "boxes", "status", "iou",
    "is_failure", "is_repeat", "raw_text", "finish_reason", "reading_reason", "is_cached", "cost_usd",
    "seen_width", "seen_height", "served_model", "reader_version", "error", "item__order",
)  # fmt: skip
ITEM_COLUMNS = ("order", "block", "spec", "state", "reason", "fails", "n", "numbers")
RUN_COLUMNS = (
    "state", "step", "stage", "n_inferences", "n_observations", "n_failed", "n_invalid", "n_call_errors",
    "n_generation_errors", "n_cached", "n_trials", "n_decided", "ending", "n_calls", "n_failed_calls",
    "n_attempts", "spend_usd", "reserved_usd",
)  # fmt: skip


def only(*kept: str) -> tuple[str, ...]:
    """Return the operators to leave out so that only these act."""
    assert set(kept) <= {*CHEAP, *CHEAP_TEXT}
    return tuple(name for name in (*IMAGE_OPERATORS, *TEXT_OPERATORS) if name not in kept)


NOISE: dict[str, Any] = {"excluded_operators": only("gaussian_noise"), "bisection_steps": 0, "slots": 4}
STILL: dict[str, Any] = {
    "excluded_operators": only("brightness", "contrast"),
    "bisection_steps": 0,
    "slots": 4,
}


def find_cases(sut: SutRecord | None = None, *, n: int = 1, **config: Any) -> Campaign:
    """Search with noise only on ``n`` seed images and return the campaign; every picture with noise fails."""
    campaign = start_modality(sut or breaks_now_and_then(share=1.0), n=n, **NOISE | config)
    advance_all(campaign)
    return campaign


def cases_of(campaign: Campaign) -> list[ModalityCase]:
    """Return the failing cases of a campaign."""
    rows = ModalityCase.objects.filter(modality_run__campaign=campaign, is_failure=True)
    return list(rows.select_related("modality_run__campaign", "modality_run__sut").order_by("pk"))


def follow(wish: FollowUpWish, **values: Any) -> Campaign:
    """Store a follow-up."""
    return create_follow_up(wish, by=None)


def case_digest(run: SearchRun) -> str:
    """Digest everything of a follow-up run that must not depend on what happened to its workers."""
    samples = CaseSample.objects.filter(run=run).order_by("step", "position")
    content = {
        "run": SearchRun.objects.filter(pk=run.pk).values(*RUN_COLUMNS).get(),
        "samples": list(samples.values(*SAMPLE_COLUMNS)),
        "items": list(run.items.order_by("order").values(*ITEM_COLUMNS)),
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
