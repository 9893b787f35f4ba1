"""What engine tests share: systems from tables, small searches, a digest of all that must agree."""

import hashlib
import json
from typing import Any

from searches.models import SearchRun, SutRecord
from searches.services import live, suts
from searches.services.advance import advance_run
from searches.services.leases import take_lease
from searches.services.runs import create_campaign
from searches.services.slice_ends import SliceEnd
from tests.factories import make_sut
from vlmlab.core.revelio.config import RevelioConfig

FLAT = "tests.doubles.make_flat_source"
STOP = "Emergency stop: brake as hard as possible now."
GO = "Continue: keep the speed and the lane."

# Overlooks cones and drives on; stops for nearly everything else.
CARELESS = {
    "default": "I like trains.",
    "rules": [
        {"image_contains": ["|cone|"], "answer_option": GO, "share": 0.9},
        {"answer_option": STOP, "share": 0.95},
    ],
    "seed": 3,
    "price_usd": 0.001,
}

# Sees a danger nearly everywhere, but never in a knife over the edge.
FEARFUL = {
    "default": "I like trains.",
    "rules": [
        {
            "image_contains": ["|knife_edge|"],
            "answer_option": "No, no such danger can be seen.",
            "share": 0.95,
        },
        {"answer_option": "Yes, such a danger can be seen.", "share": 0.97},
    ],
    "seed": 3,
    "price_usd": 0.001,
}

SAMPLE_COLUMNS = (
    "step", "position", "number", "scene_seed", "attempt", "description_digest", "image_sha256",
    "annotations", "prompt", "actions", "expected_letter", "expected_action", "rule_id", "raw_text",
    "finish_reason", "answer_status", "letter", "answered_action", "direction", "reason_text", "collision",
    "verdict", "told_verdict", "is_cached", "error", "trial__key", "input_tokens", "output_tokens",
    "cost_usd", "n_attempts", "seen_width", "seen_height", "served_model", "reader_version",
)  # fmt: skip
TRIAL_COLUMNS = (
    "order", "key", "concepts", "size", "stage", "expected_action", "rule_id", "fails", "passes", "invalid",
    "call_errors", "status", "is_curtailed",
)  # fmt: skip
FINDING_COLUMNS = (
    "key", "concepts", "fails", "invalid", "n", "is_curtailed", "is_minimal_in_run", "expected_action",
    "answered_action", "direction", "rule_id", "found_at_inference", "thumbnails", "reason_text",
)  # fmt: skip
RUN_COLUMNS = (
    "state", "step", "stage", "n_inferences", "n_observations", "n_failed", "n_invalid", "n_call_errors",
    "n_generation_errors", "n_cached", "n_trials", "n_decided", "n_parked", "n_modes", "n_pictures",
    "by_expected", "ending", "n_calls", "n_failed_calls", "n_attempts", "input_tokens", "output_tokens",
    "spend_usd", "reserved_usd",
)  # fmt: skip


def run_digest(run: SearchRun) -> str:
    """Digest everything of a run that must not depend on what happened to its workers."""
    content = {
        "run": SearchRun.objects.filter(pk=run.pk).values(*RUN_COLUMNS).get(),
        "trials": list(run.trials.order_by("order").values(*TRIAL_COLUMNS)),
        "samples": list(run.samples.order_by("step", "position").values(*SAMPLE_COLUMNS)),
        "findings": list(run.findings.order_by("key").values(*FINDING_COLUMNS)),
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def scripted(slug: str = "", **params: Any) -> SutRecord:
    return make_sut(slug, params=CARELESS | params)


def start_run(
    sut: SutRecord | None = None, *, run_seed: int = 11, domain_slug: str = "driving", **config: Any
) -> SearchRun:
    campaign = create_campaign(
        config=RevelioConfig(**{"algorithm": "sits", "inference_budget": 60} | config),
        suts=[sut or scripted()],
        domain_slug=domain_slug,
        name="Test search",
        run_seed=run_seed,
        by=None,
    )
    return campaign.runs.get()


def advance(run: SearchRun, *, slice_seconds: float = 1e9, **values: Any) -> SliceEnd:
    """Claim a queued run and advance it by one slice, as a worker would."""
    lease = take_lease("test:1:1:main", ["cpu", "api"], run_id=run.pk)
    assert lease is not None
    end = advance_run(lease, slice_seconds=slice_seconds, **values)
    run.refresh_from_db()
    return end


def as_new_process() -> None:
    """Forget everything that a process keeps in memory."""
    live.forget_all()
    suts.unload_sut()
