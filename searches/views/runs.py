"""Pages of runs: list, one run while it works and after, its log, and what people do to it."""

import json
from collections.abc import Callable
from typing import Any, cast

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from searches import launch
from searches.charts.convergence import Curve, convergence_chart
from searches.enums import CASE_METHOD, CONCEPT_METHOD, FOLLOW_UP_METHOD, MODALITY_METHOD
from searches.filters.runs import RunFilter
from searches.forms.run import RaiseLimitForm
from searches.models import SearchRun, User
from searches.services import run_pages, runs
from searches.services.finding_lists import run_findings, run_state_counts
from searches.services.flag_lists import flagged_count
from searches.services.follow_up_lists import follow_up_lines, follow_ups_of
from searches.services.results import PFM_NOTE
from searches.views.polling import polled
from vlmlab.core.errors import VlmLabError
from vlmlab.web.asked import asked_number
from vlmlab.web.errors import is_fragment_request

PAGE_SIZE = 25
SHOWN_FOLLOW_UPS = 5


@require_safe
def run_list(request: HttpRequest) -> HttpResponse:
    """Show the runs, newest first."""
    narrowed = RunFilter(request.GET, queryset=run_pages.runs_for_list())
    page = Paginator(narrowed.qs, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "filter": narrowed,
        "page_obj": page,
        "is_filtered": any(request.GET.get(name) for name in narrowed.filters),
    }
    return render(request, "searches/run_list.html", context)


@require_safe
def run_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one run; one of a modality search or of a follow-up has a page of its own."""
    run = _any_run(pk)
    if run.campaign.method == MODALITY_METHOD:
        return redirect("modality_run", pk=pk)
    if run.campaign.method in (FOLLOW_UP_METHOD, CASE_METHOD):
        return redirect(run.campaign)
    return render(request, "searches/run_detail.html", _page(run))


@require_safe
def run_progress(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the part of a run's page that changes; 304 while nothing did, 286 once nothing will."""
    run = _run(pk)
    return polled(
        request,
        etag=run_pages.page_etag(run),
        is_final=run.is_final,
        draw=lambda: _with_news(request, run, render(request, "searches/run_progress.html", _live(run))),
    )


@require_safe
def run_metrics(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the metrics of a long run, fetched after its page; a page of their own without scripts."""
    run = _run(pk)
    part, page = "searches/run_metrics.html", "searches/run_metrics_page.html"
    return render(request, part if is_fragment_request(request) else page, {"run": run} | _metrics(run))


@require_safe
def run_log(request: HttpRequest, pk: int) -> HttpResponse:
    """Show older lines of the log."""
    run = _run(pk)
    log = run_pages.log_part(run, before=asked_number(request.GET.get("before", "")))
    return render(
        request,
        "searches/run_log_lines.html" if is_fragment_request(request) else "searches/run_log.html",
        {"run": run, "log": log},
    )


@require_POST
def run_cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """End a run."""
    return _act(request, pk, runs.cancel_run, "The run is being ended. What it found is kept.")


@require_POST
def run_pause(request: HttpRequest, pk: int) -> HttpResponse:
    """Pause a run."""
    return _act(request, pk, runs.pause_run, "The run is paused.")


@require_POST
def run_resume(request: HttpRequest, pk: int) -> HttpResponse:
    """Go on with a halted run."""
    return _act(request, pk, launch.resume_run, "The run goes on where it was.")


@require_POST
def run_raise_limit(request: HttpRequest, pk: int) -> HttpResponse:
    """Give a run that its spending limit halted a new one, and go on."""
    run = _any_run(pk)
    form = RaiseLimitForm(request.POST)
    if form.is_valid():
        try:
            launch.raise_limit(run, new_limit=form.cleaned_data["new_limit"], by=cast(User, request.user))
        except VlmLabError as error:
            if error.field not in form.fields or run.campaign.method != CONCEPT_METHOD:
                messages.error(request, str(error))
                return redirect(run)
            form.add_error(error.field, str(error))
        else:
            messages.success(request, "The new limit holds, and the run goes on where it was.")
            return redirect(run)
    if run.campaign.method != CONCEPT_METHOD:
        messages.error(request, "Enter a number of US dollars, or nothing for no limit.")
        return redirect(run)
    run = _run(pk)
    return render(request, "searches/run_detail.html", _page(run) | {"limit_form": form}, status=422)


@require_POST
def run_retry_call_errors(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask only the failed calls again."""
    return _act(request, pk, launch.retry_call_errors, "The failed calls are asked again.")


def _with_news(request: HttpRequest, run: SearchRun, response: HttpResponse) -> HttpResponse:
    """Announce what a run found since the browser last asked."""
    news = run_pages.news_of(run, asked_number(request.GET.get("modes", "")))
    if news is not None and not run.is_final:
        toast = {"text": news.sentence, "href": news.finding.get_absolute_url()}
        response["HX-Trigger"] = json.dumps({"toast": toast})
    return response


def _act(request: HttpRequest, pk: int, action: Callable[..., None], done: str) -> HttpResponse:
    run = _any_run(pk)
    try:
        action(run, by=cast(User, request.user))
    except VlmLabError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, done)
    return redirect(run)


def _any_run(pk: int) -> SearchRun:
    run = run_pages.run_for_page(pk)
    if run is None:
        raise Http404("no such run")
    return run


def _run(pk: int) -> SearchRun:
    run = run_pages.concept_run_for_page(pk)
    if run is None:
        raise Http404("no such run")
    return run


def _page(run: SearchRun) -> dict[str, Any]:
    context = _live(run) | {"comes_later": run_pages.comes_later(run)}
    if run.is_final:
        lines = follow_up_lines(list(follow_ups_of(run.campaign)[:SHOWN_FOLLOW_UPS]))
        context |= {
            "findings": run_findings(run),
            "states": run_state_counts(run),
            "n_flagged": flagged_count(run),
            "follow_ups": lines,
            "is_confirming": any(line.is_confirming for line in lines),
        }
        if not context["comes_later"]:
            context |= _metrics(run)
    return context


def _metrics(run: SearchRun) -> dict[str, Any]:
    metrics = run_pages.cached_metrics(run)
    return {
        "metrics": metrics,
        "metrics_by_expected": run_pages.metrics_by_expected(run, metrics),
        "pfm_note": PFM_NOTE,
    }


def _live(run: SearchRun) -> dict[str, Any]:
    page = run_pages.run_page(run)
    curves = [Curve("This run", page.curves.modes)]
    if page.curves.minimal != page.curves.modes:
        curves.append(Curve("Minimal only", page.curves.minimal))
    budget = page.overview.config.inference_budget
    return {
        "run": run,
        "page": page,
        "config": page.overview.config,
        "chart": convergence_chart(curves, budget=budget, slug=f"run-{run.pk}-failure-modes"),
        "etag": run_pages.page_etag(run),
        "limit_form": RaiseLimitForm(initial={"new_limit": page.hold.proposed_limit if page.hold else None}),
        "can_resume": run.state in runs.RESUMABLE and not (page.hold and page.hold.is_of_run),
        "can_retry": run.n_call_errors > 0 and run.state in runs.RETRIABLE,
    }
