"""Pages of the runs of a modality search: the list that marks of figures lead to, one run, its pictures."""

from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from searches.filters.modality_runs import ModalityRunFilter
from searches.models import Campaign
from searches.services import modality_run_lists

PAGE_SIZE = 50


@require_safe
def modality_runs(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the runs of a campaign, narrowed and sorted as the address says."""
    campaign = modality_run_lists.find_campaign(pk)
    if campaign is None:
        raise Http404("no such campaign")
    narrowed, rows = narrowed_runs(request, campaign)
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "campaign": campaign,
        "filter": narrowed,
        "page_obj": page,
        "lines": modality_run_lists.run_lines(list(page.object_list), campaign=campaign),
        "query": list_query(request, narrowed),
    }
    return render(request, "searches/modality_runs.html", context)


def narrowed_runs(request: HttpRequest, campaign: Campaign) -> tuple[ModalityRunFilter, Any]:
    """Return the filters of an address and the runs they leave, in the order of the address."""
    narrowed = ModalityRunFilter(
        request.GET, queryset=modality_run_lists.campaign_runs(campaign), campaign=campaign
    )
    return narrowed, modality_run_lists.sorted_by(narrowed.qs, request.GET.get("sort", ""))


def list_query(request: HttpRequest, narrowed: ModalityRunFilter) -> str:
    """Return what a link to a case carries so that "next" stays within the list; "" without anything."""
    sort = request.GET.get("sort", "")
    order = f"sort={sort}" if modality_run_lists.is_order(sort) else ""
    return "&".join(part for part in (narrowed.query, order) if part)
