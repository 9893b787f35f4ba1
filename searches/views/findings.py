"""Pages of findings: the list with its filters and exports, and one finding with its scenes."""

from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from searches.enums import FindingState
from searches.filters.findings import FindingFilter
from searches.services import exports, finding_lists
from searches.services.set_pages import find_finding, set_page
from searches.views.sets import chosen_number, redrawn
from vlmlab.web.asked import asked_number
from vlmlab.web.streaming import stream_file

PAGE_SIZE = 25


@require_safe
def finding_list(request: HttpRequest) -> HttpResponse:
    """Show the findings of all runs."""
    narrowed = FindingFilter(request.GET, queryset=finding_lists.all_findings())
    tabs = finding_lists.state_tabs(narrowed.qs)
    state = request.GET.get("state", "")
    rows = narrowed.qs.filter(state=state) if state in FindingState.values else narrowed.qs
    page = Paginator(finding_lists.sorted_by(rows, request.GET.get("sort", "")), PAGE_SIZE).get_page(
        request.GET.get("page")
    )
    context = {
        "filter": narrowed,
        "tabs": tabs,
        "state": state if state in FindingState.values else "",
        "page_obj": page,
        "lines": finding_lists.finding_lines(list(page.object_list)),
        "total": tabs[0].count,
        "only_run": asked_number(request.GET.get("run", "")),
        "is_filtered": any(request.GET.get(name) for name in [*narrowed.filters, "state"]),
    }
    return render(request, "searches/finding_list.html", context)


@require_safe
def finding_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one finding with every scene it was found on."""
    finding = find_finding(pk)
    if finding is None:
        raise Http404("no such finding")
    page = set_page(finding.trial, show=request.GET.get("show", ""), number=chosen_number(request))
    context: dict[str, Any] = {"finding": finding, "page": page, "run": finding.trial.run}
    return render(request, "searches/finding_detail.html", context | redrawn(request, page))


@require_safe
def finding_export(request: HttpRequest, fmt: str) -> HttpResponseBase:
    """Send the findings of the filtered list."""
    if fmt not in exports.MEDIA_TYPES:
        raise Http404("no such format")
    rows = FindingFilter(request.GET, queryset=finding_lists.all_findings()).qs
    state = request.GET.get("state", "")
    rows = rows.filter(state=state) if state in FindingState.values else rows
    rows = finding_lists.sorted_by(rows, request.GET.get("sort", ""))
    write = exports.findings_csv if fmt == "csv" else exports.findings_json
    name = f"vlmlab-findings-{timezone.localdate():%Y-%m-%d}.{fmt}"
    return stream_file(write(rows), name=name, media_type=exports.MEDIA_TYPES[fmt])
