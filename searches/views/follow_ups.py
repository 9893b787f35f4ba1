"""Pages of follow-ups: the list, one with its items while it works and after, one item, and the steering."""

from collections.abc import Callable
from typing import Any, cast

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from searches import launch
from searches.charts.evidence import race_chart, sequential_chart
from searches.filters.follow_ups import FollowUpFilter
from searches.models import Campaign, User
from searches.services import exports, follow_up_exports, follow_up_lists, follow_up_pages
from searches.services.follow_up_details import item_page, kind_parts
from searches.services.follow_up_next import next_steps
from searches.services.follow_up_progress import (
    FollowUpProgress,
    cancel_follow_up,
    pause_follow_up,
    resumable_runs,
)
from searches.services.follow_up_progress import follow_up_progress as progress_of
from searches.services.follow_up_traces import race_of, trace_of
from searches.services.set_pages import set_page
from searches.views.polling import polled
from searches.views.sets import chosen_number, redrawn, shows_all
from vlmlab.core.errors import VlmLabError
from vlmlab.web.streaming import stream_file

PAGE_SIZE = 25


@require_safe
def follow_up_list(request: HttpRequest) -> HttpResponse:
    """Show all follow-ups, newest first."""
    narrowed = FollowUpFilter(request.GET, queryset=follow_up_lists.follow_up_campaigns())
    page = Paginator(narrowed.qs, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "filter": narrowed,
        "page_obj": page,
        "lines": follow_up_lists.follow_up_lines(list(page.object_list)),
        "is_filtered": any(request.GET.get(name) for name in narrowed.filters),
    }
    return render(request, "searches/follow_up_list.html", context)


@require_safe
def follow_up_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one follow-up."""
    return render(request, "searches/follow_up_detail.html", _context(request, _campaign(pk)))


@require_safe
def follow_up_progress(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the part of the page that changes; 304 while nothing did, 286 once nothing will."""
    campaign = _campaign(pk)
    progress = progress_of(campaign)
    return polled(
        request,
        etag=progress.etag,
        is_final=progress.is_final,
        draw=lambda: render(
            request, "searches/follow_up_progress.html", _context(request, campaign, progress)
        ),
    )


@require_safe
def follow_up_item(request: HttpRequest, pk: int, item_pk: int) -> HttpResponse:
    """Show one item of a follow-up with every scene that was asked."""
    campaign = _campaign(pk)
    item = follow_up_pages.item_of(campaign, item_pk)
    if item is None:
        raise Http404("no such item")
    found = item_page(campaign, item, of=request.GET.get("of", ""))
    context: dict[str, Any] = {"campaign": campaign, "item": item, "found": found, "run": item.run}
    if found.trial is not None:
        page = set_page(
            found.trial,
            show=request.GET.get("show", ""),
            number=chosen_number(request),
            shows_all=shows_all(request),
        )
        context |= {"page": page} | redrawn(request, page)
    trace = trace_of(item)
    if trace is not None:
        context["chart"] = sequential_chart(trace, slug=f"item-{item.pk}-evidence")
    return render(request, "searches/follow_up_item.html", context)


@require_safe
def follow_up_export(request: HttpRequest, pk: int, fmt: str) -> HttpResponseBase:
    """Send the items of a follow-up."""
    campaign = _campaign(pk)
    write = follow_up_exports.WRITERS.get(fmt)
    if write is None:
        raise Http404("no such format")
    name = f"vlmlab-follow-up-{campaign.pk}-{campaign.kind}-{timezone.localdate():%Y-%m-%d}.{fmt}"
    return stream_file(write(campaign), name=name, media_type=exports.MEDIA_TYPES[fmt])


@require_POST
def follow_up_pause(request: HttpRequest, pk: int) -> HttpResponse:
    """Pause a follow-up."""
    return _act(request, pk, pause_follow_up, "The follow-up is paused.")


@require_POST
def follow_up_resume(request: HttpRequest, pk: int) -> HttpResponse:
    """Go on with a halted follow-up."""
    return _act(request, pk, _resume, "The follow-up goes on where it was.")


@require_POST
def follow_up_cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """End a follow-up."""
    return _act(request, pk, cancel_follow_up, "The follow-up is being ended. What it asked is kept.")


def _resume(campaign: Campaign, *, by: User | None) -> None:
    for run in resumable_runs(campaign):
        launch.resume_run(run, by=by)


def _act(request: HttpRequest, pk: int, action: Callable[..., None], done: str) -> HttpResponse:
    campaign = _campaign(pk)
    try:
        action(campaign, by=cast(User, request.user))
    except VlmLabError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, done)
    return redirect(campaign)


def _campaign(pk: int) -> Campaign:
    campaign = follow_up_lists.follow_up_campaign(pk)
    if campaign is None:
        raise Http404("no such follow-up")
    return campaign


def _context(
    request: HttpRequest, campaign: Campaign, progress: FollowUpProgress | None = None
) -> dict[str, Any]:
    state = request.GET.get("state", "")
    page = follow_up_pages.follow_up_page(
        campaign, page=request.GET.get("page"), state=state, progress=progress
    )
    race = race_of(page)
    return {
        "campaign": campaign,
        "page": page,
        "kind_title": follow_up_lists.kind_title(campaign),
        "state": state,
        "query": request.GET.urlencode(),
        "chart": race_chart(race) if race is not None else None,
        "parts": kind_parts(page),
        "is_coverage": follow_up_lists.fills_coverage(campaign),
        "next": next_steps(campaign, page.progress),
    }
