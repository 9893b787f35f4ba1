"""Template tags of regressions and decision cards: their verdicts as badges, differences in points."""

from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from searches.services.card_words import fine_percent
from vlmlab.core.verdicts.envelope_cards import CellReading
from vlmlab.web import evidence
from vlmlab.web.numbers import write_count

BAR_WIDTH = 140

register = template.Library()
register.filter("fine_percent", fine_percent)

VERDICT_BADGES: dict[str, tuple[str, str]] = {
    "pass": ("done", "Pass"),
    "fail": ("failed", "Fail"),
    "not_enough": ("paused", "Not enough evidence"),
    "fixed": ("done", "Fixed"),
    "still_failing": ("paused", "Still failing"),
    "worse": ("failed", "Worse"),
    "flaky": ("paused", "Flaky"),
    "not_drawn": ("queued", "Cannot be drawn"),
    "halted": ("queued", "No verdict"),
}
"""Stored verdict -> state of the badge and word; red only where something got worse or broke its limit."""


@register.simple_tag
def verdict_badge(word: str) -> SafeString:
    """Draw a verdict; an unknown word stands as it is."""
    state, label = VERDICT_BADGES.get(word, ("queued", word.replace("_", " ").capitalize()))
    return evidence.badge_html(state, label)


@register.filter
def verdict_word(word: str) -> str:
    """Return a verdict in words, small."""
    return VERDICT_BADGES.get(word, ("", word.replace("_", " ")))[1].lower()


@register.filter
def points(share: float | None) -> str:
    """Write a difference of shares in points: ``+12`` or ``−3``."""
    if share is None:
        return "–"
    rounded = round(100 * share, 1)
    sign = "−" if rounded < 0 else "+" if rounded > 0 else ""
    return f"{sign}{abs(rounded):g}"


@register.simple_tag
def bounds(reading: CellReading, scale: float) -> SafeString:
    """Draw the bounds of a cell: range, share where it is known, upright line for the limit.

    Args:
        reading: of the cell.
        scale: the share at the right end of the bar.
    """
    sentence = (
        f"{write_count(reading.errors)} of {write_count(reading.n)}, between {fine_percent(reading.low)} "
        f"and {fine_percent(reading.high)}, limit {fine_percent(reading.limit)}"
    )
    dot: Any = ""
    if reading.rate is not None:
        dot = format_html('<circle class="b-dot" cx="{}" cy="9" r="4"/>', _bar_x(reading.rate, scale))
    return format_html(
        '<span class="bounds {}"><svg viewBox="0 0 {width} 18" role="img" aria-label="{sentence}">'
        '<title>{sentence}</title><line class="b-track" x1="0" x2="{width}" y1="9" y2="9"/>'
        '<line class="b-range" x1="{}" x2="{}" y1="9" y2="9"/>'
        '<line class="b-limit" x1="{limit}" x2="{limit}" y1="1" y2="17"/>{}</svg>'
        '<span class="v">{}<small>{}/{}</small></span></span>',
        reading.verdict, _bar_x(reading.low, scale), _bar_x(reading.high, scale), dot,
        "–" if reading.rate is None else fine_percent(reading.rate), write_count(reading.errors),
        write_count(reading.n), width=BAR_WIDTH, sentence=sentence, limit=_bar_x(reading.limit, scale),
    )  # fmt: skip


def _bar_x(share: float, scale: float) -> str:
    return f"{4 + min(1.0, share / (scale or 1.0)) * (BAR_WIDTH - 8):.1f}"
