"""A test case as a file: all that repeats, confirms or transfers it, as JSON; and the command for it."""

import json
from typing import Any

from searches.models import ModalityCase
from searches.services.modality_campaigns import plan_of
from searches.services.modality_plans import shell_command
from searches.services.modality_results import most_config
from vlmlab.core.errors import VlmLabError

SCHEMA = "vlmlab-modality-case"
VERSION = 1


def case_record(case: ModalityCase) -> dict[str, Any]:
    """Return a case as a JSON object; names of operators and digests of pictures are kept as stored."""
    run = case.modality_run
    campaign, clean = run.campaign, run.clean_answer
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "case": case.pk,
        "kind": case.kind,
        "reason": case.reason,
        "campaign": {
            "id": campaign.pk,
            "name": campaign.name,
            "dataset": campaign.dataset.slug if campaign.dataset else "",
            "config": campaign.config,
            "plan": campaign.plan,
        },
        "run": {"id": run.run_id, "run_seed": run.run.run_seed, "replicate": run.replicate},
        "sut": {"slug": run.sut.slug, "name": run.sut.name, "fingerprint": run.sut.fingerprint},
        "regime": run.regime,
        "seed_image": {
            "sha256": run.picture.image_sha256,
            "file_name": run.picture.file_name,
            "width": run.picture.width,
            "height": run.picture.height,
            "scene_type": run.stratum,
            "label": run.label,
        },
        "clean": {
            "prompt": clean.prompt,
            "status": clean.status,
            "iou": clean.iou,
            "boxes": clean.boxes,
            "raw_text": clean.raw_text,
        }
        if clean
        else None,
        "strategy": case.severities,
        "generator": case.generator,
        "perturbed": _perturbed(case),
        "numbers": {
            name: getattr(case, name)
            for name in (
                "f1", "f2", "f3", "ms_ssim", "ned", "swtd", "swtd_mean", "image_budget", "text_budget",
                "evaluations", "is_failure", "is_faithful",
            )
        },
        "evidence": _evidence(case),
    }  # fmt: skip


def _perturbed(case: ModalityCase) -> dict[str, Any]:
    """Return what the system was shown, and what it answered."""
    return {
        "prompt": case.prompt,
        "image_sha256": case.image_sha256,
        "truth": case.truth,
        "status": case.status,
        "iou": case.iou,
        "boxes": case.boxes,
        "lenient_status": case.lenient_status,
        "lenient_iou": case.lenient_iou,
        "raw_text": case.raw_text,
        "finish_reason": case.finish_reason,
        "reading_reason": case.reading_reason,
    }


def _evidence(case: ModalityCase) -> dict[str, Any]:
    """Return what fresh draws said of a case, and what people say of it."""
    return {
        "state": case.state,
        "fresh_fails": case.fresh_fails,
        "fresh_draws": case.fresh_n,
        "fresh_unreadable": case.fresh_invalid,
        "interval": [case.fresh_low, case.fresh_high],
        "level": case.fresh_level,
        "log_e_value": case.log_e_value,
        "family_size": case.family_size,
        "settled_at": case.settled_at.isoformat() if case.settled_at else None,
        "status": case.triage,
        "tags": case.tags,
    }


def case_text(case: ModalityCase) -> str:
    """Return a case as JSON for people and programs."""
    return json.dumps(case_record(case), indent=1, ensure_ascii=False)


def repeat_command(case: ModalityCase) -> str:
    """Return the shell command that searches the regime of a case again with the same seeds; "" for none.

    There is none for settings of another version, or where the dataset is gone.
    """
    run = case.modality_run
    campaign = run.campaign
    if campaign.dataset is None:
        return ""
    try:
        config, plan = most_config(campaign), plan_of(campaign)
    except VlmLabError:
        return ""
    narrowed = config.model_copy(update={"regimes": (run.regime,)})
    return shell_command(narrowed, plan, sut_slug=run.sut.slug, dataset=campaign.dataset)
