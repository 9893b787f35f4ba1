"""Pages of findings: the list with its filters and exports, and one finding with its scenes."""

from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from searches.charts.evidence import sequential_chart
from searches.enums import FindingState
from searches.filters.findings import FindingFilter
from searches.services import exports, finding_lists
from searches.services.finding_trails import finding_trail
from searches.services.notes import notes_of
from searches.services.set_pages import find_finding, set_page
from searches.services.set_settings import set_settings
from searches.views.sets import chosen_number, redrawn, shows_all
from vlmlab.web.asked import asked_number
from vlmlab.web.streaming import stream_file

PAGE_SIZE = 25


@require_safe
def finding_list(request: HttpRequest) -> HttpResponse:
    """Show the findings of all runs."""
    narrowed = FindingFilter(request.GET, queryset=finding_lists.all_findings())
    counts = finding_lists.state_counts(narrowed.qs)
    state = request.GET.get("state", "")
    rows = narrowed.qs.filter(state=state) if state in FindingState.values else narrowed.qs
    page = Paginator(finding_lists.sorted_by(rows, request.GET.get("sort", "")), PAGE_SIZE).get_page(
        request.GET.get("page")
    )
    context = {
        "filter": narrowed,
        "counts": counts,
        "tabs": counts.tabs,
        "state": state if state in FindingState.values else "",
        "page_obj": page,
        "lines": finding_lists.finding_lines(list(page.object_list)),
        "is_collapsed": narrowed.form.data.get("minimal") == "on",
        "only_run": asked_number(request.GET.get("run", "")),
        "is_filtered": any(request.GET.get(name) for name in [*narrowed.filters, "state"]),
    }
    return render(request, "searches/finding_list.html", context)


@require_safe
def finding_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one finding: the trail of its evidence, and every scene of one step of it."""
    finding = find_finding(pk)
    if finding is None:
        raise Http404("no such finding")
    trail = finding_trail(finding)
    wanted = asked_number(request.GET.get("of", ""))
    source = next((one for one in trail.sources if one.trial.pk == wanted), trail.sources[0])
    found_on = source if source.trial.pk == finding.trial_id else trail.sources[-1]
    page = set_page(
        source.trial,
        show=request.GET.get("show", ""),
        number=chosen_number(request),
        shows_all=shows_all(request),
    )
    context: dict[str, Any] = {
        "finding": finding,
        "trail": trail,
        "source": source,
        "search": found_on.trial,
        "settings": set_settings(finding.run),
        "page": page,
        "run": source.trial.run,
        "notes": notes_of(finding),
    }
    if trail.trace is not None:
        context["chart"] = sequential_chart(trail.trace, slug=f"finding-{pk}-evidence")
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
