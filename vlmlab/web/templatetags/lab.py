"""Template tags and filters of the lab: icons, evidence, numbers, form fields, navigation."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django import forms, template
from django.forms.boundfield import BoundField
from django.template import Context
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from vlmlab.core.errors import ConceptError
from vlmlab.core.scenes.anchors import anchor_graph as build_anchor_graph
from vlmlab.core.stats import Interval, wilson
from vlmlab.web import evidence, numbers
from vlmlab.web.anchor_drawing import draw_anchors
from vlmlab.web.boxed_pictures import BoxedPicture
from vlmlab.web.domains import known_domain
from vlmlab.web.permissions import may_open

register = template.Library()

MOST_MARKS = 12

# --- numbers ------------------------------------------------------------------------------------------
register.filter("count", numbers.write_count)
register.filter("decimals", numbers.write_decimals)
register.filter("many", numbers.write_many)
register.filter("all_of", numbers.write_all)
register.filter("stored", numbers.write_stored)
register.filter("percent", numbers.write_percent)
register.filter("money", numbers.write_money)
register.filter("duration", numbers.write_duration)
register.filter("latency", numbers.write_latency)
register.filter("bytesize", numbers.write_bytes)
register.filter("p_value", numbers.write_p_value)


@register.filter
def plain_number(value: float | int | None) -> str:
    """Write a number for an HTML attribute: no thousands separator, a dot before decimals."""
    return f"{value or 0:.10g}"


@register.simple_tag
def interval(low: float, high: float) -> str:
    """Write two shares as ``62–89 %``."""
    return numbers.write_interval(low, high)


@register.filter
def words(name: str) -> str:
    """Write a key as words: ``weight_bytes`` -> ``Weight bytes``."""
    return str(name).replace("_", " ").capitalize()


@register.filter
def at(mapping: Mapping[str, Any], key: str) -> Any:
    """Return the value of a key, or nothing."""
    return mapping.get(key, "")


@register.filter
def when(moment: datetime | None) -> SafeString | str:
    """Write a moment as ``12:03`` today, else ``28 Nov, 12:03``; the full time stands in the tooltip."""
    if moment is None:
        return "never"
    local = timezone.localtime(moment)
    now = timezone.localtime()
    short = (
        local.strftime("%H:%M") if local.date() == now.date() else f"{local.day} {local:%b}, {local:%H:%M}"
    )
    if local.year != now.year:
        short = f"{local.day} {local:%b %Y}"
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        moment.isoformat(timespec="seconds"), f"{local:%Y-%m-%d %H:%M:%S %Z}", short,
    )  # fmt: skip


# --- signs and evidence -------------------------------------------------------------------------------
@register.simple_tag
def icon(name: str, title: str = "") -> SafeString:
    """Draw an icon of the table."""
    return evidence.icon(name, title)


@register.simple_tag
def glyph(kind: str) -> SafeString:
    """Draw the sign of a concept's kind."""
    return evidence.glyph(kind)


@register.simple_tag
def chips(concepts: Sequence[str], domain: str, off: bool = False) -> SafeString:  # noqa: FBT001 - template syntax
    """Draw a concept set as chips; ``off`` draws them left out."""
    return evidence.chips_html(concepts, domain, is_off=off)


@register.simple_tag
def chip(concept: str, domain: str) -> SafeString:
    """Draw one concept as a chip."""
    return evidence.one_chip(concept, domain)


@register.simple_tag
def set_words(concepts: Sequence[str], domain: str) -> str:
    """Write a concept set as plain words."""
    return evidence.set_words(concepts, domain)


@register.simple_tag
def rate(fails: int, n: int, tau: float | None = None, long: bool = False) -> SafeString:  # noqa: FBT001
    """Draw a rate: bar, interval, percentage, k/n; ``tau`` is the threshold."""
    return evidence.rate_html(fails, n, threshold=tau, is_long=long)


@register.simple_tag
def wilson_rate(k: int, n: int) -> SafeString:
    """Draw a rate with Wilson's interval, as the tables of modality searches print it."""
    return evidence.rate_html(k, n, interval_of=wilson)


@register.simple_tag
def marks(fails: int, passes: int, total: int, final: bool = True) -> SafeString:  # noqa: FBT001
    """Draw samples one by one from their counts; what is missing is "not needed" once ``final``."""
    return evidence.marks_html(evidence.counted_marks(fails, passes, total=total, is_final=final))


@register.simple_tag
def badge(state: str, label: str) -> SafeString:
    """Draw the badge of a state."""
    return evidence.badge_html(state, label)


@register.simple_tag
def run_state(run: Any) -> SafeString:
    """Draw the badge of a run or job (anything with ``state`` and its label)."""
    return evidence.badge_html(run.state, run.get_state_display())


@register.simple_tag
def finding_state(finding: Any, large: bool = False) -> SafeString:  # noqa: FBT001 - template syntax
    """Draw the state of a finding."""
    return evidence.finding_state_html(finding.state, finding.get_state_display(), is_large=large)


@register.simple_tag
def finding_evidence(finding: Any) -> SafeString:
    """Draw what a finding rests on: its rate on fresh scenes, else the samples it was found with one by one.

    Reads ``finding.run.campaign``: select it with the finding.
    """
    config = finding.run.campaign.config
    if finding.fresh_n:
        low, high = finding.fresh_low, finding.fresh_high
        stored = None if low is None or high is None else Interval(low, high, finding.fresh_level or 0.95)
        return evidence.rate_html(
            finding.fresh_fails,
            finding.fresh_n,
            threshold=config.get("failure_rate_threshold"),
            interval=stored,
        )
    if finding.n > MOST_MARKS:
        return format_html("found with {} of {}", finding.fails, finding.n)
    total = max(int(config.get("samples_per_set", finding.n)), finding.n)
    passes = finding.n - finding.fails
    return evidence.marks_html(evidence.counted_marks(finding.fails, passes, total=total, is_final=True))


@register.inclusion_tag("components/answer.html")
def answer(expected: str, answered: str, direction: str = "", domain: str = "driving") -> dict[str, str]:
    """Draw an answer: expected above, answered in bold below, direction last; ids become labels."""
    return {
        "expected": action_label(expected, domain),
        "answered": action_label(answered, domain) or "no readable answer",
        "direction": direction,
    }


@register.filter
def domain_title(ref: str) -> str:
    """Return the title of a domain version (``indoor@...`` -> ``Kitchen``); its slug where it is gone."""
    try:
        return known_domain(ref).title
    except ConceptError:
        return ref.partition("@")[0]


@register.filter
def action_label(action: str, domain: str = "driving") -> str:
    """Return the label of an action id (``emergency_stop`` -> ``Emergency stop``)."""
    return known_domain(domain).actions.get(action, action)


# --- forms --------------------------------------------------------------------------------------------
CONTROL_CLASSES: tuple[tuple[type[forms.Widget], str], ...] = (
    (forms.Textarea, "input textarea"),
    (forms.SelectMultiple, "select multiple"),
    (forms.Select, "select"),
    (forms.FileInput, "input file"),
    (forms.widgets.Input, "input"),
)


def widget_form(widget: forms.Widget) -> str:
    """Return how a field is laid out: ``check``, ``radio``, ``checks`` or ``control``."""
    if isinstance(widget, forms.CheckboxInput):
        return "check"
    if isinstance(widget, forms.CheckboxSelectMultiple):
        return "checks"
    return "radio" if isinstance(widget, forms.RadioSelect) else "control"


@register.inclusion_tag("components/field.html")
def field(bound: BoundField, unit: str = "", css: str = "") -> dict[str, Any]:
    """Draw a form field: label, control, error, help; the error stands between control and help."""
    form = widget_form(bound.field.widget)
    described = [
        f"{bound.auto_id}-{part}" for part, text in (("e", bound.errors), ("h", bound.help_text)) if text
    ]
    attrs: dict[str, str | bool] = {"aria-describedby": " ".join(described)} if described else {}
    if bound.errors:
        attrs["aria-invalid"] = "true"
    if form == "control":
        own = bound.field.widget.attrs.get("class", "")
        control = next(css for kind, css in CONTROL_CLASSES if isinstance(bound.field.widget, kind))
        attrs["class"] = f"{control} {own}".strip()
    unit = unit or getattr(bound.field, "unit", "")
    if not unit and not bound.field.required and form == "control":
        unit = "optional"
    return {"field": bound, "control": bound.as_widget(attrs=attrs), "form": form, "unit": unit, "css": css}


@register.simple_tag
def control(bound: BoundField) -> SafeString:
    """Draw only the control of a field; the caller writes its label."""
    css = next(css for kind, css in CONTROL_CLASSES if isinstance(bound.field.widget, kind))
    return bound.as_widget(attrs={"class": css})


@register.inclusion_tag("components/scene_choices.html")
def scene_choices(bound: BoundField, scenes: Sequence[Any]) -> dict[str, Any]:
    """Draw the scenes a person has drawn as pictures to choose from."""
    return {"field": bound, "scenes": scenes}


@register.inclusion_tag("components/error_summary.html")
def error_summary(form: forms.BaseForm, intro: str = "Nothing was saved.") -> dict[str, Any]:
    """Draw what is wrong with a form, each error linked to its field."""
    wrong = [bound for bound in form if bound.errors] if form.is_bound else []
    return {"form": form, "fields": wrong, "intro": intro}


# --- navigation ---------------------------------------------------------------------------------------
@register.inclusion_tag("components/nav_link.html", takes_context=True)
def nav_link(
    context: Context, url_name: str, sign: str, label: str, prefix: str = "", count: Any = ""
) -> dict[str, Any]:
    """Draw a link of the navigation if the person may follow it; ``prefix`` names the pages it stands for."""
    request = context.get("request")
    role = getattr(getattr(request, "user", None), "role", "")
    match = getattr(request, "resolver_match", None)
    current = (match.url_name or "") if match else ""
    try:
        url = reverse(url_name) if may_open(role, url_name) else ""
    except NoReverseMatch:
        url = ""
    is_current = current == url_name or any(current.startswith(one) for one in prefix.split())
    return {"url": url, "sign": sign, "label": label, "count": count, "is_current": is_current}


@register.simple_tag(takes_context=True)
def sort_url(context: Context, key: str, parameter: str = "sort") -> str:
    """Return the query string that sorts by ``key``; a second click turns the order round."""
    query = context["request"].GET.copy()
    query.pop("page", None)
    query[parameter] = f"-{key}" if query.get(parameter) == key else key
    return f"?{query.urlencode()}"


@register.simple_tag(takes_context=True)
def querystring_without_concept(context: Context, concept: str) -> str:
    """Return the query string of a composed set without one concept and without its drawn scene."""
    query = context["request"].GET.copy()
    query.pop("job", None)
    query.setlist("c", [one for one in query.getlist("c") if one != concept])
    return f"?{query.urlencode()}"


@register.inclusion_tag("components/sort_head.html", takes_context=True)
def sort_head(context: Context, key: str, label: str, css: str = "") -> dict[str, str]:
    """Draw a column head that sorts; the sorted one carries an arrow and ``aria-sort``."""
    current = context["request"].GET.get("sort", "")
    direction = {key: "ascending", f"-{key}": "descending"}.get(current, "")
    return {"url": sort_url(context, key), "label": label, "css": css, "direction": direction}


# --- drawings -----------------------------------------------------------------------------------------
@register.inclusion_tag("components/anchor_graph.html")
def anchor_graph(concepts: Sequence[str], domain: str) -> dict[str, Any]:
    """Draw what must be in the scene of a concept set and how it stands to the car."""
    try:
        loaded = known_domain(domain)
        graph = build_anchor_graph(loaded, loaded.canonical(concepts))
    except ConceptError:
        return {"drawing": None}
    return {"drawing": draw_anchors(graph)}


@register.inclusion_tag("components/boxes.html")
def boxed_picture(picture: BoxedPicture) -> dict[str, Any]:
    """Draw a picture with the numbered boxes of what must be seen, and the list of their names."""
    return {"picture": picture}
