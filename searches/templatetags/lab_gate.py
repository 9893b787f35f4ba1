"""Template tags of regressions and decision cards: their verdicts as badges, differences in points."""

from django import template
from django.utils.safestring import SafeString

from vlmlab.web import evidence

register = template.Library()

VERDICT_BADGES: dict[str, tuple[str, str]] = {
    "pass": ("done", "Pass"),
    "fail": ("failed", "Fail"),
    "not_enough": ("paused", "Not enough evidence"),
    "fixed": ("done", "Fixed"),
    "still_failing": ("paused", "Still failing"),
    "worse": ("failed", "Worse"),
    "flaky": ("paused", "Flaky"),
    "not_drawn": ("queued", "Cannot be drawn"),
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
