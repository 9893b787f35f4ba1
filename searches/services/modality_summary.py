"""A modality campaign with all of its runs as plain values: what the shell writes and exports build on."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import Sum

from searches.enums import CaseKind
from searches.models import Campaign, ModalityCase, ModalityRun, SearchRun, SutRecord
from searches.services.modality_outcomes import outcome_of, thresholds_of
from searches.services.modality_progress import campaign_progress

READ_AT_ONCE = 500
_CASE_NUMBERS = ("ms_ssim", "ned", "swtd", "swtd_mean")
_CALL_SUMS = {
    "sent": "n_calls",
    "failed": "n_failed_calls",
    "tries": "n_attempts",
    "cached": "n_cached",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cost_usd": "spend_usd",
}
_SECOND_SUMS = {
    "active": "active_seconds",
    "perturbing": "render_seconds",
    "sut": "sut_seconds",
    "search": "search_seconds",
}


def campaign_summary(campaign: Campaign) -> dict[str, Any]:
    """Return the result of a modality campaign in the form that ``run_search`` writes."""
    progress = campaign_progress(campaign)
    suts = SutRecord.objects.filter(modality_runs__campaign=campaign).distinct().order_by("slug")
    return {
        "campaign": campaign.pk,
        "name": campaign.name,
        "method": campaign.method,
        "state": progress.state.value,
        "suts": [{"slug": sut.slug, "fingerprint": _fingerprint(campaign, sut)} for sut in suts],
        "dataset": campaign.dataset.slug if campaign.dataset is not None else "",
        "algorithm": campaign.config.get("algorithm", ""),
        "regimes": campaign.plan.get("regimes", []),
        "seed": campaign.plan.get("seed"),
        "plan": campaign.plan,
        "config": campaign.config,
        "n_runs": progress.n_runs,
        "by_state": progress.by_state,
        "by_status": progress.by_status,
        "evaluations": progress.evaluations,
        "call_errors": progress.call_errors,
        "calls": _sums(campaign, _CALL_SUMS),
        "seconds": {name: round(value, 3) for name, value in _sums(campaign, _SECOND_SUMS).items()},
        "runs": list(run_summaries(campaign)),
    }


def run_summaries(campaign: Campaign) -> Iterator[dict[str, Any]]:
    """Yield every run of a campaign with its clean answer and its test case, in the order of the grid."""
    iou_threshold = thresholds_of(campaign).iou
    runs = ModalityRun.objects.filter(campaign=campaign).order_by("run_id")
    runs = runs.select_related("run", "sut", "clean_answer", "picture")
    runs = runs.defer("picture__annotations", "picture__description", "picture__provenance")
    part: list[ModalityRun] = []
    for run in runs.iterator(chunk_size=READ_AT_ONCE):
        part.append(run)
        if len(part) == READ_AT_ONCE:
            yield from _summaries(part, iou_threshold)
            part = []
    yield from _summaries(part, iou_threshold)


def run_values(run: ModalityRun, case: ModalityCase | None, *, iou_threshold: float) -> dict[str, Any]:
    """Return one run as plain values; what it has not come to is None."""
    search = run.run
    return {
        "run": run.run_id,
        "sut": run.sut.slug,
        "seed_image": {
            "file": run.picture.file_name,
            "sha256": run.picture.image_sha256,
            "width": run.picture.width,
            "height": run.picture.height,
            "stratum": run.stratum,
            "label": run.label,
        },
        "regime": run.regime,
        "replicate": run.replicate,
        "run_seed": search.run_seed,
        "state": search.state,
        "status": run.status,
        "outcome": outcome_of(run, case, iou_threshold=iou_threshold),
        "end_reason": run.end_reason,
        "ending": search.ending,
        "error": search.error,
        "evaluations": run.evaluations or search.n_observations,
        "first_hit": run.first_hit,
        "fidelities": run.fidelities,
        "call_errors": search.n_call_errors,
        "clean": _clean(run),
        "case": None if case is None else _case(run, case),
        "seconds": {name: round(getattr(search, column), 3) for name, column in _SECOND_SUMS.items()},
    }


def _summaries(runs: Sequence[ModalityRun], iou_threshold: float) -> Iterator[dict[str, Any]]:
    rows = ModalityCase.objects.filter(modality_run__in=runs, kind=CaseKind.RETURNED)
    cases = {case.modality_run_id: case for case in rows}
    for run in runs:
        yield run_values(run, cases.get(run.pk), iou_threshold=iou_threshold)


def _clean(run: ModalityRun) -> dict[str, Any] | None:
    clean = run.clean_answer
    if clean is None:
        return None
    return {
        "status": clean.status,
        "iou": clean.iou,
        "boxes": clean.boxes,
        "prompt": clean.prompt,
        "image_sha256": run.picture.image_sha256,
        "raw_text": clean.raw_text,
    }


def _case(run: ModalityRun, case: ModalityCase) -> dict[str, Any]:
    return {
        "case": case.pk,
        "reason": case.reason,
        "is_failure": case.is_failure,
        "is_faithful": case.is_faithful,
        "status": case.status,
        "iou": case.iou,
        "boxes": case.boxes,
        "truth": case.truth,
        "prompt": case.prompt,
        "image_sha256": case.image_sha256,
        "raw_text": case.raw_text,
        "objectives": {"f1": case.f1, "f2": case.f2, "f3": case.f3},
        "budgets": {"image": case.image_budget, "text": case.text_budget, "total": case.total_budget},
        "strategy": case.severities,
        "generator": case.generator,
        "numbers": {name: getattr(case, name) for name in _CASE_NUMBERS},
    }


def _fingerprint(campaign: Campaign, sut: SutRecord) -> str:
    """Return which system answered; what is registered now before it did."""
    runs = SearchRun.objects.filter(campaign=campaign, sut=sut, step__gt=0)
    told = runs.order_by("pk").values_list("checkpoint", flat=True).first() or {}
    return str(told.get("fingerprint") or sut.fingerprint)


def _sums(campaign: Campaign, columns: dict[str, str]) -> dict[str, float]:
    found = campaign.runs.aggregate(**{name: Sum(column) for name, column in columns.items()})
    return {name: found[name] or 0 for name in columns}
