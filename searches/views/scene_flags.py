"""Flags on generated scenes: say what is wrong with one, take that back, and the list of flagged scenes."""

from typing import cast

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from searches.enums import SceneFlagKind
from searches.forms.follow_ups import FlagForm, said_wrong
from searches.models import Sample, SceneFlag, User
from searches.services import scene_flags
from searches.services.flag_lists import flag_rows
from vlmlab.core.errors import VlmLabError
from vlmlab.web.asked import asked_number

PAGE_SIZE = 40


@require_safe
def scene_flag_list(request: HttpRequest) -> HttpResponse:
    """Show the flagged scenes, newest flag first, of all runs or of one."""
    run, kind = asked_number(request.GET.get("run", "")), request.GET.get("kind", "")
    rows = flag_rows(run=run, kind=kind, with_withdrawn=request.GET.get("withdrawn") == "on")
    context = {
        "page_obj": Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page")),
        "kinds": SceneFlagKind.choices,
        "kind": kind if kind in SceneFlagKind.values else "",
        "only_run": run,
        "with_withdrawn": request.GET.get("withdrawn") == "on",
        "is_filtered": bool(run or kind or request.GET.get("withdrawn")),
    }
    return render(request, "searches/scene_flag_list.html", context)


@require_POST
def scene_flag(request: HttpRequest, pk: int) -> HttpResponse:
    """Write what a person says of a scene."""
    sample = get_object_or_404(Sample.objects.select_related("trial"), pk=pk)
    form = FlagForm(request.POST)
    try:
        if not form.is_valid():
            raise VlmLabError(said_wrong(form))
        said = form.cleaned_data
        scene_flags.flag_sample(
            sample, said["kinds"], comment=said["comment"].strip(), by=cast(User, request.user)
        )
    except VlmLabError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "What you said of the scene is kept.")
    return _back(request, sample)


@require_POST
def scene_flag_withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a flag back."""
    flag = get_object_or_404(SceneFlag.objects.select_related("sample__trial"), pk=pk)
    try:
        scene_flags.withdraw_flag(flag, by=cast(User, request.user))
    except VlmLabError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "The flag is withdrawn.")
    return _back(request, flag.sample)


def _back(request: HttpRequest, sample: Sample) -> HttpResponse:
    """Return to the page where it was said, else to that of the concept set."""
    url = request.POST.get("next", "")
    if url.startswith("/") and url_has_allowed_host_and_scheme(url, allowed_hosts=None):
        return redirect(url)
    page = redirect("trial_detail", pk=sample.run_id, trial_pk=sample.trial_id)
    page["Location"] += f"?sample={sample.number}#sample"
    return page
