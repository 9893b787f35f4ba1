"""Runs and findings as JSON and CSV, row by row, safe to open in a spreadsheet."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from django.db.models import QuerySet

from searches.models import Finding, SearchRun
from searches.services.live import config_of
from searches.services.results import exact_convergence, run_metrics
from vlmlab.core.revelio.bench import algorithm_name
from vlmlab.core.revelio.metrics import RevelioMetrics, Share

MEDIA_TYPES = {"csv": "text/csv", "json": "application/json"}
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")
CHUNK = 500

TRIAL_COLUMNS = (
    "order", "key", "size", "stage", "status", "fails", "passes", "invalid", "call_errors", "is_curtailed",
    "expected_action", "rule_id",
)  # fmt: skip
FINDING_COLUMNS = (
    "id", "run_id", "sut__slug", "domain", "domain_version", "state", "key", "size", "fails", "n", "invalid",
    "is_curtailed", "is_minimal_in_run", "expected_action", "answered_action", "direction", "rule_id",
    "found_at_inference", "reason_text", "created_at", "fresh_fails", "fresh_invalid", "fresh_n", "fresh_low",
    "fresh_high", "fresh_level", "log_e_value", "family_size", "settled_at", "minimality", "covered_by_id",
    "triage", "tags",
)  # fmt: skip
SAMPLE_COLUMNS = (
    "trial__key", "number", "step", "position", "scene_seed", "attempt", "image_sha256", "prompt", "raw_text",
    "finish_reason", "answer_status", "letter", "answered_action", "expected_letter", "expected_action",
    "rule_id", "direction", "verdict", "told_verdict", "is_cached", "latency_ms", "render_ms", "input_tokens",
    "output_tokens", "cost_usd", "reason_text", "error", "n_attempts", "seen_width", "seen_height",
    "served_model", "reader_version",
)  # fmt: skip


class _Echo:
    """A file that hands back what is written to it."""

    def write(self, value: str) -> str:
        return value


def run_summary(run: SearchRun) -> dict[str, Any]:
    """Return the result of a run in the form that ``run_search`` writes.

    ``inferences`` are the answers charged to the budget; failed calls stand beside them.
    """
    metrics = run_metrics(run)
    return {
        "run": run.pk,
        "state": run.state,
        "ending": run.ending,
        "error": run.error,
        "hint": run.hint,
        "sut": run.sut.slug,
        "fingerprint": run.checkpoint.get("fingerprint") or run.sut.fingerprint,
        "pictures": run.checkpoint.get("pictures", ""),
        "domain": run.campaign.domain,
        "domain_version": run.campaign.domain_version,
        "run_seed": run.run_seed,
        "algorithm": algorithm_name(config_of(run)),
        "config": run.campaign.config,
        "inferences": run.n_observations,
        "call_errors": run.n_call_errors,
        "invalid": run.n_invalid,
        "generation_errors": run.n_generation_errors,
        "sets_touched": run.n_trials,
        "sets_decided": run.n_decided,
        "sets_parked": run.n_parked,
        "calls": {
            "sent": run.n_calls,
            "failed": run.n_failed_calls,
            "tries": run.n_attempts,
            "cached": run.n_cached,
            "mean_latency_ms": run.mean_latency_ms,
            "input_tokens": run.input_tokens,
            "output_tokens": run.output_tokens,
            "cost_usd": None if run.sut.is_price_unknown else run.spend_usd,
        },
        "failure_modes": [_mode(finding) for finding in _findings(run)],
        **metrics_values(metrics),
        "by_expected": {action: metrics_values(part) for action, part in metrics.by_expected.items()},
        "seconds": {
            "active": round(run.active_seconds, 3),
            "render": round(run.render_seconds, 3),
            "sut": round(run.sut_seconds, 3),
            "search": round(run.search_seconds, 3),
        },
    }


def metrics_values(metrics: RevelioMetrics) -> dict[str, Any]:
    """Return PFM, MFR and Div, each with its counts."""
    return {
        "pfm": metrics.pfm.value,
        "pfm_counts": _counts(metrics.pfm),
        "pfm_without_invalid": metrics.pfm_valid.value,
        "parked": metrics.parked,
        "mfr": metrics.mfr.value if metrics.mfr else None,
        "mfr_counts": _counts(metrics.mfr),
        "div": metrics.diversity,
        "div_pairs": metrics.mode_pairs,
        "minimal_modes": metrics.minimal_modes,
    }


def run_json(run: SearchRun) -> Iterator[str]:
    """Return a run with all its sets and samples as JSON text, piece by piece."""
    head = run_summary(run) | {
        "convergence": [[point.inferences, point.modes] for point in exact_convergence(run)]
    }
    yield json.dumps(head, ensure_ascii=False, default=str)[:-1]
    yield ', "sets": '
    yield from trials_json(run)
    yield ', "samples": '
    yield from samples_json(run)
    yield "}\n"


def trials_csv(run: SearchRun) -> Iterator[str]:
    """Return the sets of a run as CSV lines."""
    return _csv(TRIAL_COLUMNS, run.trials.order_by("order").values_list(*TRIAL_COLUMNS))


def trials_json(run: SearchRun) -> Iterator[str]:
    """Return the sets of a run as a JSON list, piece by piece."""
    yield from _json_rows(run.trials.order_by("order").values("concepts", *TRIAL_COLUMNS))


def samples_csv(run: SearchRun) -> Iterator[str]:
    """Return the samples of a run as CSV lines."""
    return _csv(SAMPLE_COLUMNS, run.samples.order_by("step", "position").values_list(*SAMPLE_COLUMNS))


def samples_json(run: SearchRun) -> Iterator[str]:
    """Return the samples of a run as a JSON list, piece by piece."""
    rows = run.samples.order_by("step", "position")
    yield from _json_rows(rows.values("actions", "annotations", "collision", *SAMPLE_COLUMNS))


def findings_csv(findings: QuerySet[Finding]) -> Iterator[str]:
    """Return findings as CSV lines."""
    return _csv(FINDING_COLUMNS, findings.values_list(*FINDING_COLUMNS))


def findings_json(findings: QuerySet[Finding]) -> Iterator[str]:
    """Return findings as a JSON list, piece by piece."""
    yield from _json_rows(findings.values("concepts", "thumbnails", "necessity", *FINDING_COLUMNS))


def csv_lines(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """Return a table as CSV lines, the names of its columns first; no cell can be a formula."""
    writer = csv.writer(_Echo())
    yield writer.writerow(columns)
    for row in rows:
        yield writer.writerow([safe_cell(value) for value in row])


def safe_cell(value: object) -> object:
    """Return a cell that no spreadsheet takes for a formula; a text that could be one gets a quote first.

    The parts of a list stand in one cell, with semicolons between them.
    """
    if isinstance(value, list):
        value = "; ".join(map(str, value))
    if isinstance(value, str) and value.startswith(FORMULA_SIGNS):
        return f"'{value}"
    return value


def _findings(run: SearchRun) -> QuerySet[Finding]:
    return run.findings.select_related("trial").order_by("found_at_inference", "id")


def _mode(finding: Finding) -> dict[str, Any]:
    return {
        "concepts": finding.concepts,
        "state": finding.state,
        "fails": finding.fails,
        "samples": finding.n,
        "invalid": finding.invalid,
        "is_curtailed": finding.is_curtailed,
        "is_minimal_in_run": finding.is_minimal_in_run,
        "expected": finding.expected_action,
        "answered": finding.answered_action,
        "direction": finding.direction,
        "rule": finding.rule_id,
        "found_at_inference": finding.found_at_inference,
        "reason": finding.reason_text,
    }


def _counts(share: Share | None) -> list[int] | None:
    return [share.numerator, share.denominator] if share else None


def _csv(columns: Sequence[str], rows: QuerySet[Any, tuple[Any, ...]]) -> Iterator[str]:
    names = [name.replace("__", "_") for name in columns]
    return csv_lines(names, rows.iterator(chunk_size=CHUNK))


def _json_rows(rows: QuerySet[Any, dict[str, Any]]) -> Iterator[str]:
    yield "["
    yield from _joined(
        json.dumps(row, ensure_ascii=False, default=str) for row in rows.iterator(chunk_size=CHUNK)
    )
    yield "]"


def _joined(parts: Iterable[str]) -> Iterator[str]:
    for number, part in enumerate(parts):
        yield part if number == 0 else f",\n{part}"


# (what, format) -> writer; the addresses of a run's exports.
RUN_EXPORTS: dict[tuple[str, str], Callable[[SearchRun], Iterator[str]]] = {
    ("run", "json"): run_json,
    ("sets", "csv"): trials_csv,
    ("sets", "json"): trials_json,
    ("samples", "csv"): samples_csv,
    ("samples", "json"): samples_json,
    ("findings", "csv"): lambda run: findings_csv(_findings(run)),
    ("findings", "json"): lambda run: findings_json(_findings(run)),
}
