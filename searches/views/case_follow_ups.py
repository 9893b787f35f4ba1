"""Starting follow-ups of test cases, and the pictures of their draws."""

from typing import Any, cast

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from searches import launch
from searches.forms.case_follow_ups import ConfirmCasesForm, TransferCasesForm
from searches.forms.errors import add_lab_error
from searches.models import Campaign, ModalityCase, User
from searches.services import case_choices, case_follow_ups, case_pages, case_wishes
from searches.services.modality_case_pages import find_case
from searches.views.modality import find_campaign
from searches.views.modality_runs import send_picture
from vlmlab.core.errors import VlmLabError


@require_POST
def modality_confirm(request: HttpRequest, pk: int) -> HttpResponse:
    """Confirm the failing cases of a campaign by fresh draws."""
    campaign = find_campaign(pk)
    form = ConfirmCasesForm(request.POST)
    try:
        if not form.is_valid():
            raise VlmLabError(" ".join(str(text) for texts in form.errors.values() for text in texts))
        said = form.cleaned_data
        wish = case_wishes.confirm_cases_wish(
            campaign, most=said["most"], values={"max_samples": said["max_samples"]}
        )
        started = launch.start_follow_up(wish, by=cast(User, request.user))
    except VlmLabError as error:
        messages.error(request, str(error))
        return redirect(f"{campaign.get_absolute_url()}#follow-ups")
    return redirect(started)


@require_POST
def case_confirm(request: HttpRequest, pk: int) -> HttpResponse:
    """Confirm one case by fresh draws."""
    case = find_case(pk)
    if case is None:
        raise Http404("no such case")
    try:
        wish = case_wishes.confirm_cases_wish([case])
        started = launch.start_follow_up(wish, by=cast(User, request.user))
    except VlmLabError as error:
        messages.error(request, str(error))
        return redirect(f"{case.get_absolute_url()}#evidence")
    return redirect(started)


@require_http_methods(["GET", "HEAD", "POST"])
def modality_transfer(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the form that asks other systems about cases of a campaign (``?case=`` for some), or start it."""
    campaign = find_campaign(pk)
    numbers = (request.POST if request.method == "POST" else request.GET).getlist("case")
    suts = case_follow_ups.askable_systems()
    own = set(campaign.modality_runs.order_by().values_list("sut_id", flat=True).distinct())
    others = [sut.pk for sut in suts if sut.pk not in own] or [sut.pk for sut in suts]
    data = request.POST if request.method == "POST" else request.GET if "most" in request.GET else None
    form = TransferCasesForm(data, suts=suts, initial={"suts": others})
    context: dict[str, Any] = {"campaign": campaign, "form": form, "numbers": numbers, "own": own}
    try:
        cases = _cases(campaign, numbers)
    except VlmLabError as error:
        messages.error(request, str(error))
        return redirect(campaign)
    context["cases"] = cases
    if request.method == "POST" and form.is_valid():
        started = _transfer(request, form, cases)
        if started is not None:
            return redirect(started)
    status = 422 if request.method == "POST" else 200
    return render(request, "searches/modality_transfer.html", context | _estimate(form, cases), status=status)


@require_safe
def case_draw_picture(request: HttpRequest, pk: int) -> HttpResponse:
    """Send the picture of a fresh draw, made again from its seed."""
    row = case_pages.find_draw(pk)
    if row is None:
        raise Http404("no such draw")
    return send_picture(lambda: case_pages.draw_picture(row))


def _cases(campaign: Campaign, numbers: list[str]) -> list[ModalityCase]:
    if numbers:
        return case_choices.named_cases(numbers)
    return case_choices.transferable(campaign)


def _transfer(request: HttpRequest, form: TransferCasesForm, cases: list[ModalityCase]) -> Campaign | None:
    said = form.cleaned_data
    try:
        wish = case_wishes.transfer_cases_wish(
            case_choices.dealt(cases, said["most"]),
            list(said["suts"]),
            draws=said["draws"],
            has_random=said["has_random"],
        )
        return launch.start_follow_up(wish, by=cast(User, request.user))
    except VlmLabError as error:
        add_lab_error(form, error)
        return None


def _estimate(form: TransferCasesForm, cases: list[ModalityCase]) -> dict[str, Any]:
    """Return what the form as it stands takes at most; nothing where it says too little."""
    if not form.is_bound:
        form = TransferCasesForm(dict(form.initial) | _initials(form), suts=case_follow_ups.askable_systems())
    if not form.is_valid() or not cases:
        return {}
    said = form.cleaned_data
    chosen = case_choices.dealt(cases, said["most"])
    try:
        wish = case_wishes.transfer_cases_wish(
            chosen, list(said["suts"]), draws=said["draws"], has_random=said["has_random"]
        )
        return {"estimate": case_follow_ups.wish_estimate(wish)}
    except VlmLabError:
        return {}


def _initials(form: TransferCasesForm) -> dict[str, Any]:
    return {name: field.initial for name, field in form.fields.items() if name not in form.initial}
