"""A report as one HTML file, written while it is sent: styles, drawing library and pictures stand inside."""

import base64
import hashlib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.html import escape

from searches.reports.document import Figure, Head, Section
from vlmlab.web.plotly_files import PlotlyFinder

STYLES = ("site.css", "components.css", "tables.css", "charts.css", "reports.css")
MAP_STYLE = "9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53"
"""Name of an element that keeps the drawing library from writing a style sheet for maps."""


def report_pieces(head: Head, sections: Iterable[Section]) -> Iterator[str]:
    """Return a report piece by piece.

    The file is closed to the network by a policy of its own: only its three scripts run (by their digests),
    pictures and files are ``data:`` addresses. Texts, tables and pictures need no script; without one a
    figure says in a sentence what it shows, and its table stands below it.
    """
    draws = False
    yield _top(head)
    for section in sections:
        draws = draws or any(isinstance(block, Figure) for block in section.blocks)
        yield render_to_string("searches/report_section.html", {"section": section})
    yield "</main>"
    if draws:
        yield f'<script type="application/json" id="plot-themes">{_themes()}</script>'
        yield f"<script>{_library()}</script><script>{_drawing()}</script>"
    yield "</body></html>\n"


def policy() -> str:
    """Return the content security policy of a report."""
    digests = " ".join(f"'sha256-{_digest(script)}'" for script in (_library(), _drawing()))
    return (
        f"default-src 'none'; script-src {digests}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def _top(head: Head) -> str:
    styles = "\n".join(_static("css", name) for name in STYLES)
    body = render_to_string("searches/report_head.html", {"head": head})
    return (
        '<!doctype html>\n<html lang="en" data-theme="light"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy()}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="referrer" content="no-referrer"><meta id="{MAP_STYLE}">'
        f"<title>{escape(head.title)}</title><style>{styles}</style></head>"
        f'<body class="report" data-draws-all><main>{body}'
    )


@lru_cache(maxsize=1)
def _library() -> str:
    """Return the drawing library of the installed plotly package as it may stand inside a page."""
    found = PlotlyFinder().find("plotly/plotly.min.js")
    return _inside(Path(found).read_text(encoding="utf-8")) if found else ""


@lru_cache(maxsize=1)
def _drawing() -> str:
    return _inside(_static("js", "plot.js"))


def _themes() -> str:
    return _inside(_static("js", "plotly_theme.json"))


@lru_cache(maxsize=4)
def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")


def _inside(text: str) -> str:
    """Return a script or JSON that cannot end the element in which it stands."""
    return text.replace("\r\n", "\n").replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _static(kind: str, name: str) -> str:
    return (Path(settings.BASE_DIR) / "static" / kind / name).read_text(encoding="utf-8")
