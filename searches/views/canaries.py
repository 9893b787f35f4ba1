"""Pages of canaries: the list, making one, switching, changing, starting now, deleting."""

from typing import Any, cast

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from searches import launch
from searches.forms.errors import add_lab_error
from searches.forms.gate import CanaryForm
from searches.models import Canary, User
from searches.services import canaries
from vlmlab.core.errors import VlmLabError
from vlmlab.web.asked import asked_number, asked_slug


@require_safe
def canary_list(request: HttpRequest) -> HttpResponse:
    """Show every canary with its last verdict."""
    form = CanaryForm(initial={"family": asked_slug(request.GET.get("family", ""))})
    return render(request, "searches/canary_list.html", _context(form))


@require_http_methods(["POST"])
def canary_create(request: HttpRequest) -> HttpResponse:
    """Make a canary."""
    form, by = CanaryForm(request.POST), cast(User, request.user)
    if form.is_valid():
        wished = form.cleaned_data
        try:
            canary = canaries.create_canary(
                wished["family"], wished["sut"], every_hours=wished["every_hours"], by=by
            )
        except VlmLabError as error:
            add_lab_error(form, error, fields={"candidate": "sut", "baseline": "family"})
        else:
            messages.success(request, f"{canary} is on. Its first regression starts within a minute or so.")
            return redirect("canary_list")
    return render(request, "searches/canary_list.html", _context(form), status=422)


@require_POST
def canary_change(request: HttpRequest, pk: int) -> HttpResponse:
    """Switch a canary on or off, give it another interval, start it now, or delete it."""
    canary = Canary.objects.select_related("family", "sut").filter(pk=pk).first()
    if canary is None:
        raise Http404("no such canary")
    by, action = cast(User, request.user), request.POST.get("do", "")
    try:
        if action in ("on", "off"):
            canaries.switch_canary(canary, is_on=action == "on", by=by)
        elif action == "interval":
            hours = asked_number(request.POST.get("every_hours", ""), largest=10**6)
            canaries.change_interval(canary, every_hours=hours or 0, by=by)
        elif action == "now":
            return redirect("regression_detail", pk=launch.start_canary(canary, by=by).pk)
        elif action == "delete":
            canaries.delete_canary(canary, by=by)
            messages.success(request, "The canary is deleted. Its regressions stay.")
    except VlmLabError as error:
        messages.error(request, str(error))
    return redirect("canary_list")


def _context(form: CanaryForm) -> dict[str, Any]:
    rows = canaries.all_canaries()
    choice = form.fields["family"].queryset  # type: ignore[attr-defined]  # a ModelChoiceField
    return {"lines": canaries.canary_lines(rows), "form": form, "has_families": choice.exists()}
