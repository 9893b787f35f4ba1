"""Pages of modality campaigns: the list, how far one is, and what people do to one as a whole."""

from collections.abc import Callable
from typing import cast

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from searches import launch
from searches.models import Campaign, User
from searches.services import modality_deletion, modality_pages, modality_steering
from searches.services.modality_progress import campaign_progress
from searches.views.polling import polled
from vlmlab.core.errors import VlmLabError
from vlmlab.web.numbers import write_many

PAGE_SIZE = 25


@require_safe
def modality_list(request: HttpRequest) -> HttpResponse:
    """Show the modality campaigns, newest first."""
    page = Paginator(modality_pages.modality_campaigns(), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {"page_obj": page, "lines": modality_pages.campaign_lines(list(page.object_list))}
    return render(request, "searches/modality_list.html", context)


@require_safe
def modality_progress(request: HttpRequest, pk: int) -> HttpResponse:
    """Show how far a campaign is; 304 while nothing changed, 286 once nothing will."""
    campaign = find_campaign(pk)
    progress = campaign_progress(campaign)
    context = {"campaign": campaign, "progress": progress}
    return polled(
        request,
        etag=progress.etag,
        is_final=progress.is_final,
        draw=lambda: render(request, "searches/modality_progress.html", context),
    )


@require_POST
def modality_pause(request: HttpRequest, pk: int) -> HttpResponse:
    """Pause all runs of a campaign."""
    return _act(request, pk, modality_steering.pause_campaign, "paused")


@require_POST
def modality_resume(request: HttpRequest, pk: int) -> HttpResponse:
    """Go on with all halted runs of a campaign."""
    return _act(request, pk, launch.resume_modality_campaign, "queued again")


@require_POST
def modality_cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """End all runs of a campaign that have not ended."""
    return _act(request, pk, modality_steering.cancel_campaign, "ended early; what they found is kept")


@require_POST
def modality_delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a campaign that nobody works on, with all that it found."""
    campaign = find_campaign(pk)
    try:
        n_runs = modality_deletion.delete_campaign(campaign, by=cast(User, request.user))
    except VlmLabError as error:
        messages.error(request, str(error))
        return redirect(campaign)
    messages.success(request, f"“{campaign.name}” is deleted with {write_many(n_runs, 'run')}.")
    return redirect("modality_list")


def find_campaign(pk: int) -> Campaign:
    """Return a modality campaign.

    Raises:
        Http404: there is none of this number.
    """
    campaign = modality_pages.modality_campaign(pk)
    if campaign is None:
        raise Http404("no such campaign")
    return campaign


def _act(request: HttpRequest, pk: int, action: Callable[..., int], done: str) -> HttpResponse:
    campaign = find_campaign(pk)
    try:
        moved = action(campaign, by=cast(User, request.user))
    except VlmLabError as error:
        messages.error(request, str(error))
    else:
        if moved:
            messages.success(request, f"{write_many(moved, 'run is,runs are')} {done}.")
    return redirect(campaign)
