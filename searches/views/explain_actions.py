"""What people start from an explanation: four cells of a pair, and sets that fill gaps of coverage."""

from typing import cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from searches import launch
from searches.forms.explain import CoverageForm
from searches.models import User
from searches.services.explain_wishes import concept_probe_wish, coverage_wish, four_cells_wish
from searches.views.explain import asked_scope
from vlmlab.core.errors import VlmLabError


@require_POST
def explain_test_pair(request: HttpRequest, scope: str, pk: int) -> HttpResponse:
    """Start a four-cell test of two concepts."""
    found = asked_scope(request, scope, pk)
    try:
        wish = four_cells_wish(found, request.POST.getlist("c")[:3])
        campaign = launch.start_follow_up(wish, by=cast(User, request.user))
    except VlmLabError as error:
        messages.error(request, str(error))
        return redirect(f"{reverse('explain_pairs', args=[scope, pk])}?{found.query}")
    return redirect(campaign)


@require_POST
def explain_probe(request: HttpRequest, scope: str, pk: int) -> HttpResponse:
    """Start a recognition probe of the concepts whose recognition is not told yet."""
    found = asked_scope(request, scope, pk)
    try:
        campaign = launch.start_follow_up(concept_probe_wish(found), by=cast(User, request.user))
    except VlmLabError as error:
        messages.error(request, str(error))
        return redirect(f"{reverse('explain_concepts', args=[scope, pk])}?{found.query}")
    return redirect(campaign)


@require_POST
def explain_fill(request: HttpRequest, scope: str, pk: int) -> HttpResponse:
    """Start a follow-up that asks the sets of the plan."""
    found = asked_scope(request, scope, pk)
    form = CoverageForm(request.POST)
    back = f"{reverse('explain_coverage', args=[scope, pk])}?{found.query}"
    if not form.is_valid():
        messages.error(request, "Some number of the plan was not understood. Nothing was started.")
        return redirect(back)
    try:
        wish = coverage_wish(found, is_alone=form.is_alone, wish=form.wish, source=form.source_chosen)
        campaign = launch.start_follow_up(wish, by=cast(User, request.user))
    except VlmLabError as error:
        messages.error(request, str(error))
        return redirect(back)
    return redirect(campaign)
