"""Template tags that write addresses with part of their query changed, and small signs of the run pages."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from django import template
from django.template import Context
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from vlmlab.web import numbers
from vlmlab.web.evidence import MARKS, VERDICT_MARKS
from vlmlab.web.stages import at_stage

register = template.Library()
register.filter("at_stage", at_stage)


@register.filter
def plain_id(value: Any) -> str:
    """Write a number of any size digit by digit, as it stands in an address."""
    return str(int(value))


@register.simple_tag
def share_of(part: int, whole: int) -> str:
    """Write a share as ``30 %``."""
    return numbers.write_percent(part / whole) if whole else "–"


@register.simple_tag
def verdict_mark(verdict: str) -> SafeString:
    """Draw the sign of one sample; the caller says its word."""
    drawing = MARKS[VERDICT_MARKS.get(verdict, "?")][0]
    return format_html('<svg viewBox="0 0 12 12" aria-hidden="true">{}</svg>', mark_safe(drawing))  # noqa: S308 - constant drawings


@register.simple_tag(takes_context=True)
def tab_url(context: Context, state: str) -> str:
    """Return the address of a tab of the list: the other filters stay, the page number goes."""
    return _with(context, drop=("page", "state"), state=state)


@register.simple_tag(takes_context=True)
def set_url(context: Context, **values: Any) -> str:
    """Return the address of the same concept set with another sample or another choice of samples."""
    return _with(context, drop=("job", *values), **values)


@register.simple_tag
def compose_url(concepts: Sequence[str], domain: str) -> str:
    """Return the page that composes a scene of a concept set."""
    return f"{reverse('domain_compose', args=[domain])}?{urlencode([('c', one) for one in concepts])}"


def _with(context: Context, *, drop: Sequence[str], **values: Any) -> str:
    request = context["request"]
    query = request.GET.copy()
    for name in drop:
        query.pop(name, None)
    for name, value in values.items():
        if value != "":
            query[name] = str(value)
    text = query.urlencode()
    return f"{request.path}?{text}" if text else str(request.path)
