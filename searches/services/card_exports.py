"""A decision card as files: JSON, CSV, and one HTML page that holds everything and can be printed."""

import base64
import json
from pathlib import Path
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.html import escape

from searches.models import Blob
from searches.services.blobs import blob_path
from searches.services.cards import CardCell, CardPage
from searches.services.exports import csv_lines

MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "html": "text/html; charset=utf-8",
}
COLUMNS = (
    "cell", "title", "requirement", "verdict", "limit", "planned", "scenes", "errors", "fails", "invalid",
    "rate", "low", "high", "level_each", "exposure", "harm", "sets", "sets_drawn", "lost", "flagged",
    "sentence",
)  # fmt: skip
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
STYLES = ("site.css", "components.css", "tables.css", "cards.css")
"""Style sheets that the page for files and print carries inside."""


def card_file(page: CardPage, fmt: str) -> str:
    """Return the file of a format of ``MEDIA_TYPES``."""
    if fmt == "csv":
        rows = map(cell_values, page.cells)
        return "".join(csv_lines(COLUMNS, ([row[name] for name in COLUMNS] for row in rows)))
    if fmt == "json":
        return json.dumps(card_values(page), indent=2, ensure_ascii=False) + "\n"
    return card_html(page)


def card_html(page: CardPage) -> str:
    """Return the card as one page without scripts and addresses: styles and pictures stand inside it."""
    body = render_to_string("searches/card_print.html", {"page": page, "pictures": _pictures(page)})
    styles = "\n".join(_style(name) for name in STYLES)
    title = f"Decision card: {page.run.sut.name}"
    # Both are our own files; the template escapes everything that comes from outside.
    return (
        '<!doctype html>\n<html lang="en" data-theme="light"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>{escape(title)}</title><style>{styles}</style></head>"
        f'<body class="card-sheet">{body}</body></html>\n'
    )


def card_values(page: CardPage) -> dict[str, Any]:
    """Return a card as plain values."""
    reading = page.reading
    return {
        "run": page.run.pk,
        "campaign": page.campaign.pk,
        "envelope": page.envelope.slug if page.envelope else None,
        "declared": page.stored.model_dump(mode="json"),
        "system": page.run.sut.slug,
        "fingerprint": page.run.sut.fingerprint,
        "domain": page.domain.ref,
        "run_seed": page.run.run_seed,
        "started": page.run.created_at.isoformat(timespec="seconds"),
        "finished": page.run.finished_at.isoformat(timespec="seconds") if page.run.finished_at else None,
        "verdict": page.verdict or None,
        "sentence": page.sentence,
        "level": page.stored.level,
        "exposure_weighted": _total(reading.exposure) if reading else None,
        "harm_weighted": _total(reading.harm) if reading else None,
        "cells": [cell_values(cell) for cell in page.cells],
        "by_expected": [{"expected": one.action, "fails": one.fails, "n": one.n} for one in page.expected],
        "confirmed_modes": [
            {
                "finding": mode.finding.pk, "concepts": mode.finding.concepts, "cells": list(mode.cells),
                "fails": mode.finding.fresh_fails, "n": mode.finding.fresh_n,
            }
            for mode in page.modes
        ],
        "sets_of_domain": page.sets,
        "sets_inside": page.covered,
        "never_drawn": {cell.cell.id: list(cell.never_drawn) for cell in page.cells},
    }  # fmt: skip


def cell_values(line: CardCell) -> dict[str, Any]:
    """Return one cell as plain values, by the names of ``COLUMNS``."""
    reading = line.reading
    return {
        "cell": line.cell.id,
        "title": line.cell.title,
        "requirement": line.cell.requirement,
        "verdict": line.verdict or None,
        "limit": line.cell.limit,
        "planned": line.planned,
        "scenes": line.counts.n,
        "errors": line.counts.errors,
        "fails": line.fails,
        "invalid": line.invalid,
        "rate": reading.rate if reading else None,
        "low": reading.low if reading else None,
        "high": reading.high if reading else None,
        "level_each": reading.level if reading else None,
        "exposure": line.cell.exposure,
        "harm": line.cell.harm,
        "sets": line.members,
        "sets_drawn": line.drawn,
        "lost": line.lost,
        "flagged": line.flagged,
        "sentence": line.sentence,
    }


def _total(total: Any) -> dict[str, Any] | None:
    return None if total is None else {"value": total.value, "high": total.high}


def _style(name: str) -> str:
    return (Path(settings.BASE_DIR) / "static" / "css" / name).read_text(encoding="utf-8")


def _pictures(page: CardPage) -> dict[str, str]:
    """Return a picture of each confirmed mode as a ``data:`` address, by its digest."""
    wanted = {one for mode in page.modes for one in mode.finding.thumbnails[:1]}
    found = {}
    for sha256, media_type in Blob.objects.filter(pk__in=wanted).values_list("pk", "media_type"):
        path = blob_path(sha256, media_type)
        if path.is_file():
            data = base64.b64encode(path.read_bytes()).decode("ascii")
            found[sha256] = f"data:{media_type};base64,{data}"
    return found
