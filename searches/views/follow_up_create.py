"""The pages that start a follow-up: what was chosen, the settings, and what it will take."""

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from searches import launch
from searches.enums import FollowUpName
from searches.forms.follow_ups import STARTED_HERE, FollowUpForm, initial_values
from searches.models import User
from searches.services import follow_up_starts as starts
from searches.services.follow_up_wish_making import make_wish
from searches.services.workers import workers_now
from vlmlab.core.errors import VlmLabError

KEPT = ("finding", "campaign", "run")
PINS = "pin"


@require_POST
def finding_select(request: HttpRequest) -> HttpResponse:
    """Go on with the findings chosen on a list."""
    chosen, wanted = request.POST.getlist("finding"), request.POST.get("do", "")
    if not chosen:
        messages.error(request, "No finding is chosen. Tick at least one in the list.")
        return redirect("finding_list")
    query = [("finding", one) for one in chosen]
    if wanted == PINS:
        return redirect(f"{reverse('family_pin')}?{urlencode(query)}")
    kind = wanted if wanted in STARTED_HERE else FollowUpName.CONFIRM
    return redirect(f"{reverse('follow_up_create')}?{urlencode([('kind', kind), *query])}")


@require_http_methods(["GET", "POST"])
def follow_up_create(request: HttpRequest) -> HttpResponse:
    """Show the form (``?kind=`` and what it is about fill it) or start the follow-up."""
    data = request.POST if request.method == "POST" else request.GET
    kind = _kind(data)
    try:
        source = _source(data, kind)
    except VlmLabError as error:
        messages.error(request, str(error))
        return redirect("finding_list")
    if request.method == "GET":
        form = _form(source, kind, initial=_initial(request, kind))
        return render(request, "searches/follow_up_create.html", _context(form, source, data))
    form = _form(source, kind, request.POST)
    if form.is_valid():
        try:
            wish = make_wish(
                kind,
                source,
                values=form.cleaned_data["values"],
                which=form.cleaned_data.get("which", ""),
                top=form.cleaned_data.get("top"),
                name=form.cleaned_data["name"],
                accepts_changed_system=form.cleaned_data["accepts_changed_system"],
            )
            campaign = launch.start_follow_up(wish, by=cast(User, request.user))
        except VlmLabError as error:
            form.add_error(error.field if error.field in form.fields else None, str(error))
        else:
            return redirect(campaign)
    return render(request, "searches/follow_up_create.html", _context(form, source, data), status=422)


@require_GET
def follow_up_estimate(request: HttpRequest) -> HttpResponse:
    """Draw the estimate for the form as it stands (polled while it changes)."""
    kind = _kind(request.GET)
    try:
        source = _source(request.GET, kind)
    except VlmLabError as error:
        return render(request, "searches/follow_up_estimate.html", {"problem": str(error)})
    form = _form(source, kind, request.GET)
    return render(request, "searches/follow_up_estimate.html", _estimate(form, source))


def _form(source: starts.StartSource, kind: str, *args: Any, **options: Any) -> FollowUpForm:
    """Return the form; later confirmations of a search share the error rate of its first."""
    fixed = source.fixed_levels if kind == FollowUpName.CONFIRM else {}
    return FollowUpForm(*args, kind=kind, has_choice=not source.is_chosen, fixed=fixed, **options)


def _kind(data: QueryDict) -> str:
    kind = data.get("kind", "")
    return kind if kind in STARTED_HERE else FollowUpName.CONFIRM


def _source(data: QueryDict, kind: str) -> starts.StartSource:
    return starts.start_source(
        findings=data.getlist("finding"),
        campaign=data.get("campaign", ""),
        run=data.get("run", ""),
        suspects_only=kind == FollowUpName.CONFIRM,
    )


def _initial(request: HttpRequest, kind: str) -> dict[str, Any]:
    values = initial_values(kind)
    return values | {name: request.GET[name] for name in values if name in request.GET}


def _context(form: FollowUpForm, source: starts.StartSource, data: QueryDict) -> dict[str, Any]:
    kept = [(name, value) for name in KEPT for value in data.getlist(name)]
    others = [
        (kind.label, f"?{urlencode([('kind', kind.value), *kept])}", kind == form.kind)
        for kind in STARTED_HERE
    ]
    return {
        "form": form,
        "source": source,
        "kept": kept,
        "kinds": others,
        "kind_title": FollowUpName(form.kind).label,
        "has_worker": any(worker.is_alive for worker in workers_now()),
    } | _estimate(form, source)


def _estimate(form: FollowUpForm, source: starts.StartSource) -> dict[str, Any]:
    """Return what the follow-up takes, or why that cannot be told."""
    if not form.is_bound:
        form = _form(source, form.kind, dict(form.initial))
    if not form.is_valid():
        return {"estimate": None, "estimated_form": form}
    cleaned: Mapping[str, Any] = form.cleaned_data
    chosen = starts.narrowed(source, which=cleaned.get("which", ""), top=cleaned.get("top"))
    if not chosen:
        return {"estimate": None, "problem": "No suspect is left with this choice."}
    return {"estimate": starts.start_estimate(form.kind, chosen, cleaned["values"])}
