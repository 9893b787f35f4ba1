"""Template tags of findings and follow-ups: rates of fresh scenes, e-values, flags."""

from math import exp, log
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from searches.forms.follow_ups import FlagForm, NoteForm, TriageForm
from searches.services import finding_trails
from searches.services.notes import may_delete
from searches.services.scene_flags import may_withdraw
from vlmlab.core.stats import Interval
from vlmlab.web import evidence, numbers
from vlmlab.web.icons import FINDING_SIGNS

register = template.Library()
register.filter("level", numbers.write_level)

LARGE_E = 1_000_000.0


@register.simple_tag
def fresh_rate(settled: Any, tau: float | None = None, long: bool = False) -> SafeString:  # noqa: FBT001 - template syntax
    """Draw the failure rate of a finding or test case on fresh scenes, with the interval that was stored."""
    return evidence.rate_html(
        settled.fresh_fails or 0,
        settled.fresh_n or 0,
        threshold=tau,
        is_long=long,
        interval=_stored(settled.fresh_low, settled.fresh_high, settled.fresh_level),
    )


@register.simple_tag
def interval_rate(fails: int, n: int, interval: Interval | None, tau: float | None = None) -> SafeString:
    """Draw a rate with an interval that was computed elsewhere."""
    return evidence.rate_html(fails, n, threshold=tau, interval=interval)


@register.filter
def e_value(log_e: float | None) -> str:
    """Write an e-value given its natural logarithm: ``41``, ``0.3``, ``> 1,000,000``."""
    if log_e is None:
        return "–"
    if log_e > log(LARGE_E):
        return "> 1,000,000"
    value = exp(log_e)
    if value >= 10:
        return f"{value:,.0f}"
    return f"{value:.2g}" if value >= 0.01 else "< 0.01"


@register.filter
def points(share: float | None) -> str:
    """Write a difference of shares in percentage points with its sign: ``+12``, ``−3``."""
    if share is None:
        return "–"
    value = round(share * 100)
    return f"+{value}" if value > 0 else numbers.write_decimals(value, 0)


@register.filter
def item_state(state: str) -> SafeString:
    """Draw the state of an item of a follow-up: the sign of a finding's state, or its own word."""
    words = state.replace("_", " ").capitalize() or "Open"
    if state not in FINDING_SIGNS:
        return format_html('<span class="state">{}</span>', words)
    return evidence.finding_state_html(state, words)


@register.simple_tag(takes_context=True)
def may_take_back(context: template.Context, flag: Any) -> bool:
    """Whether the reader may withdraw a flag."""
    user = getattr(context.get("request"), "user", None)
    return bool(user and user.is_authenticated and may_withdraw(flag, user))


@register.simple_tag(takes_context=True)
def may_remove(context: template.Context, note: Any) -> bool:
    """Whether the reader may delete a note."""
    user = getattr(context.get("request"), "user", None)
    return bool(user and user.is_authenticated and may_delete(note, user))


@register.simple_tag
def flag_form() -> FlagForm:
    """Return the empty form that flags a scene."""
    return FlagForm(auto_id="flag_%s")


@register.simple_tag
def note_form() -> NoteForm:
    """Return the empty form of a note."""
    return NoteForm(auto_id="note_%s")


@register.simple_tag
def triage_form(noted: Any) -> TriageForm:
    """Return the form of status and tags, filled with what holds now."""
    return TriageForm(initial={"triage": noted.triage, "tags": ", ".join(noted.tags)}, auto_id="triage_%s")


@register.simple_tag
def drops_of(item: Any) -> list[finding_trails.Drop]:
    """Return what an ablation found out about leaving out parts of an item's set."""
    return finding_trails.drops_of(item.numbers)


@register.simple_tag
def recognised_of(item: Any) -> list[finding_trails.Recognised]:
    """Return what a probe found out about an item's concepts."""
    return finding_trails.recognised(item.numbers)


def _stored(low: float | None, high: float | None, level: float | None) -> Interval | None:
    if low is None or high is None:
        return None
    return Interval(low, high, level or 0.95)


@register.simple_tag
def with_smaller(lines: Any) -> list[Any]:
    """Return items of an ablation with the smaller sets that still fail."""
    return list(finding_trails.with_smaller(lines))
