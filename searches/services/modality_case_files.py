"""A test case as a file: all that repeats, confirms or transfers it, as JSON; and the command for it."""

import json
import shlex
from typing import Any

from searches.models import ModalityCase

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
        "perturbed": {
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
        },
        "numbers": {
            name: getattr(case, name)
            for name in (
                "f1", "f2", "f3", "ms_ssim", "ned", "swtd", "swtd_mean", "image_budget", "text_budget",
                "evaluations", "is_failure", "is_faithful",
            )
        },
    }  # fmt: skip


def case_text(case: ModalityCase) -> str:
    """Return a case as JSON for people and programs."""
    return json.dumps(case_record(case), indent=1, ensure_ascii=False)


def shell_command(case: ModalityCase) -> str:
    """Return the shell command that runs the regime of a case again with the same seeds."""
    run = case.modality_run
    campaign = run.campaign
    plan, config = campaign.plan, campaign.config
    words = ["python", "manage.py", "run_search", "--method", "most", "--sut", run.sut.slug]
    if campaign.dataset is not None:
        words += ["--dataset", campaign.dataset.slug]
    words += ["--regimes", run.regime, "--algorithm", str(config.get("algorithm", "screen"))]
    if plan.get("n_seed_images"):
        words += ["--n-seed-images", str(plan["n_seed_images"])]
    words += ["--seed", str(plan.get("seed", run.run.run_seed))]
    if config.get("inference_budget"):
        words += ["--budget", str(config["inference_budget"])]
    return shlex.join([*words, "--json", "out.json"])
