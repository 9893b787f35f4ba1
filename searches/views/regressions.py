"""Pages of regressions: the verdict, the modes, the scenes side by side, files."""

from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from searches.charts.gate_regression import difference_chart
from searches.models import Campaign
from searches.services.regression_exports import MEDIA_TYPES, regression_file
from searches.services.regression_scenes import mode_scenes
from searches.services.regressions import RegressionPage, find_regression, regression_page
from searches.views.polling import polled
from vlmlab.web.asked import asked_number

SCENES_A_PAGE = 12


@require_safe
def regression_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a regression; ``?mode=`` opens the scenes of a mode."""
    campaign = _campaign(pk)
    page = regression_page(campaign)
    context: dict[str, Any] = {"campaign": campaign, "page": page, "etag": etag_of(page)}
    if page.is_final and page.modes:
        context["chart"] = difference_chart(page)
    place = asked_number(request.GET.get("mode", ""), largest=10_000)
    opened = mode_scenes(page, place, which=request.GET.get("show", "")) if place is not None else None
    if opened is not None:
        part = Paginator(opened.pairs, SCENES_A_PAGE).get_page(request.GET.get("page"))
        context |= {"opened": opened, "page_obj": part, "pairs": part.object_list}
    return render(request, "searches/regression_detail.html", context)


@require_safe
def regression_progress(request: HttpRequest, pk: int) -> HttpResponse:
    """Show how far a regression is; 304 while nothing changed, 286 once nothing will."""
    campaign = _campaign(pk)
    page = regression_page(campaign)
    etag = etag_of(page)
    context = {"campaign": campaign, "page": page, "etag": etag}
    return polled(
        request,
        etag=etag,
        is_final=page.is_final,
        draw=lambda: render(request, "searches/regression_progress.html", context),
    )


@require_safe
def regression_export(request: HttpRequest, pk: int, fmt: str) -> HttpResponse:
    """Send a regression as CSV, JSON or JUnit XML."""
    if fmt not in MEDIA_TYPES:
        raise Http404("no such format")
    page = regression_page(_campaign(pk))
    response = HttpResponse(regression_file(page, fmt), content_type=MEDIA_TYPES[fmt])
    response["Content-Disposition"] = f'attachment; filename="vlmlab-regression-{pk}.{fmt}"'
    return response


def etag_of(page: RegressionPage) -> str:
    """Return what changes whenever the page must change."""
    return "-".join(run.etag for run in page.runs) or str(page.campaign.pk)


def _campaign(pk: int) -> Campaign:
    campaign = find_regression(pk)
    if campaign is None:
        raise Http404("no such regression")
    return campaign
