"""A regression as files: JSON for programs, CSV for spreadsheets, JUnit XML for CI."""

import json
from typing import Any

from searches.services.exports import csv_lines
from searches.services.junit import junit_xml
from searches.services.regressions import ModeLine, RegressionPage

MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json", "xml": "application/xml"}
COLUMNS = (
    "words", "concepts", "expected", "verdict", "is_new", "scenes", "old_fails", "new_fails", "old_invalid",
    "new_invalid", "old_only", "new_only", "p_value", "p_holm", "difference", "difference_low",
    "difference_high", "margin", "flagged", "sentence",
)  # fmt: skip


def regression_file(page: RegressionPage, fmt: str) -> str:
    """Return the file of a format of ``MEDIA_TYPES``."""
    if fmt == "csv":
        return "".join(csv_lines(COLUMNS, (_row(page, line) for line in page.modes)))
    if fmt == "json":
        return json.dumps(regression_values(page), indent=2, ensure_ascii=False) + "\n"
    return junit_xml(page)


def regression_values(page: RegressionPage) -> dict[str, Any]:
    """Return a regression as plain values."""
    return {
        "campaign": page.campaign.pk,
        "family": page.family.slug if page.family else None,
        "verdict": page.verdict or None,
        "sentence": page.sentence,
        "is_final": page.is_final,
        "baseline": page.baseline.slug if page.baseline else None,
        "candidate": page.candidate.slug if page.candidate else None,
        "domain": page.campaign.domain_ref if page.campaign.domain else None,
        "started": page.campaign.created_at.isoformat(timespec="seconds"),
        "run_seed": page.runs[0].run_seed if page.runs else None,
        "runs": [run.pk for run in page.runs],
        "settings": page.campaign.config,
        "counts": page.tally,
        "modes": [mode_values(page, line) for line in page.modes],
    }


def mode_values(page: RegressionPage, line: ModeLine) -> dict[str, Any]:
    """Return one mode as plain values, by the names of ``COLUMNS``."""
    reading = line.reading
    return {
        "words": line.words,
        "concepts": list(line.old_item.concepts),
        "expected": line.old_item.expected_action,
        "verdict": line.verdict or None,
        "is_new": reading.is_new if reading else None,
        "scenes": line.counts.n,
        "old_fails": line.counts.first,
        "new_fails": line.counts.second,
        "old_invalid": line.old_invalid,
        "new_invalid": line.new_invalid,
        "old_only": line.counts.first_only,
        "new_only": line.counts.second_only,
        "p_value": reading.p_value if reading else None,
        "p_holm": reading.adjusted if reading else None,
        "difference": line.difference,
        "difference_low": line.interval.low,
        "difference_high": line.interval.high,
        "margin": page.config.margin,
        "flagged": line.flagged,
        "sentence": line.sentence,
    }


def _row(page: RegressionPage, line: ModeLine) -> list[object]:
    values = mode_values(page, line)
    values["concepts"] = "+".join(values["concepts"])
    return [values[name] for name in COLUMNS]
