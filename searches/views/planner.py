"""The planner: how many fresh scenes settle a suspect."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from searches.charts.power import power_chart
from searches.forms.follow_ups import PlannerForm
from searches.services.confirm_plans import planner_values, power_page
from vlmlab.web.asked import asked_number


@require_safe
def planner(request: HttpRequest) -> HttpResponse:
    """Show the form, filled from a finding if the address names one, with what it comes to."""
    values: dict[str, Any] = {name: field.initial for name, field in PlannerForm.base_fields.items()}
    finding = asked_number(request.GET.get("finding", ""))
    chosen, filled = planner_values(finding) if finding is not None else (None, {})
    asked = {name: request.GET[name] for name in PlannerForm.base_fields if name in request.GET}
    form = PlannerForm(values | filled | asked)
    context: dict[str, Any] = {"form": form, "finding": chosen}
    if form.is_valid():
        page = power_page(**form.cleaned_data)
        context |= {"page": page, "chart": power_chart(page)}
    status = 200 if form.is_valid() else 422
    return render(request, "searches/planner.html", context, status=status)
