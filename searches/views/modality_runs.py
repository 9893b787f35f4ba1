"""Pages of the runs of a modality search: the list that marks of figures lead to, one run, its pictures."""

from collections.abc import Callable

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from searches.charts.strategy_convergence import descent_chart
from searches.charts.strategy_front import front_chart
from searches.enums import RunState
from searches.filters.modality_runs import ModalityRunFilter
from searches.forms.run import RaiseLimitForm
from searches.models import Campaign, ModalityRun
from searches.services import modality_evaluations, modality_run_lists, modality_run_pages, runs
from searches.services.modality_inputs import evaluation_picture
from searches.views.modality import find_campaign
from vlmlab.core.errors import VlmLabError
from vlmlab.web.errors import is_fragment_request
from vlmlab.web.figures import Chart

PAGE_SIZE = 50
A_DAY = "private, max-age=86400"


@require_safe
def modality_runs(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the runs of a campaign, narrowed and sorted as the address says."""
    campaign = find_campaign(pk)
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


def narrowed_runs(
    request: HttpRequest, campaign: Campaign
) -> tuple[ModalityRunFilter, QuerySet[ModalityRun]]:
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


@require_safe
def modality_run(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one run: facts, clean answer, front, evaluations, and the evaluation that the address opens."""
    run = _run(pk)
    page = modality_run_pages.run_page(run)
    shown = request.GET.get("show", "")
    shown = shown if shown in modality_evaluations.SHOWN else "all"
    part = Paginator(page.points.shown(shown), modality_evaluations.PAGE_SIZE).get_page(
        request.GET.get("page")
    )
    asked = request.GET.get("e", "")
    row = modality_evaluations.find_evaluation(run, asked or page.returned_key)
    context = {
        "page": page,
        "run": run.run,
        "shown": shown,
        "tabs": _tabs(page),
        "page_obj": part,
        "lines": modality_evaluations.evaluation_lines(run, list(part.object_list), operators=page.operators),
        "opened": modality_run_pages.opened_evaluation(page, row) if row else None,
        "is_unknown": bool(asked) and row is None,
        "charts": _charts(page, run.get_absolute_url()),
        "can_resume": run.run.state in runs.RESUMABLE,
        "limit_form": RaiseLimitForm() if _is_out_of_money(run) else None,
    }
    response = render(request, "searches/modality_run.html", context)
    if run.run.is_final and is_fragment_request(request):
        response["HX-Refresh"] = "true"  # the page as a whole has more to show now: state, case, buttons
    return response


@require_safe
def modality_picture(request: HttpRequest, pk: int, step: int, position: int) -> HttpResponse:
    """Send the picture that a system saw in an evaluation, made again from the strategy."""
    run = _run(pk)
    row = modality_evaluations.find_evaluation(run, f"{step}.{position}")
    if row is None:
        raise Http404("no such evaluation")
    return send_picture(lambda: evaluation_picture(run, row))


def send_picture(make: Callable[[], bytes]) -> HttpResponse:
    """Send a picture that is made again, for a day; a sentence and 404 where that cannot be."""
    try:
        png = make()
    except VlmLabError as error:
        return HttpResponse(str(error), status=404, content_type="text/plain; charset=utf-8")
    response = HttpResponse(png, content_type="image/png")
    response["Cache-Control"] = A_DAY
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _run(pk: int) -> ModalityRun:
    run = modality_run_pages.find_run(pk)
    if run is None:
        raise Http404("no such run")
    return run


def _is_out_of_money(run: ModalityRun) -> bool:
    return run.run.is_halted_by_spending and run.run.state == RunState.PAUSED


def _tabs(page: modality_run_pages.ModalityRunPage) -> list[tuple[str, str, int]]:
    """Return word, label and count of each part of the table that is not empty."""
    counts = page.points.counts()
    return [
        (word, label, counts[word])
        for word, label in modality_evaluations.SHOWN.items()
        if counts[word] or word == "all"
    ]


def _charts(page: modality_run_pages.ModalityRunPage, url: str) -> list[Chart]:
    clean = page.run.clean_answer
    if clean is None or not clean.iou or not any(point.number for point in page.points.points):
        return []
    points, clean_iou = page.points.points, clean.iou
    return [
        front_chart(
            points,
            regime=page.run.regime,
            thresholds=page.thresholds,
            clean_iou=clean_iou,
            page_url=url,
            returned=page.returned_key,
        ),
        descent_chart(points, iou_threshold=page.thresholds.iou, clean_iou=clean_iou, page_url=url),
    ]
