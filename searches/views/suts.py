"""Pages of systems under test: list, register, look at, change, switch off, see the exact request."""

from typing import Any, cast

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from searches import launch
from searches.charts.spending import spending_chart
from searches.filters.suts import SutFilter
from searches.forms.sut_form import RegisterSutForm, SutForm
from searches.forms.sut_sections import KNOWN_CONVENTIONS
from searches.models import SutRecord, User
from searches.services import registering, suts
from searches.services.keys import may_change
from searches.services.registering import ChangedMeanwhileError, Registration
from searches.services.sut_choices import find_preset, preset_groups, registrable_kinds
from searches.services.sut_pages import sut_lines, sut_overview, suts_with_counts
from searches.services.sut_requests import shown_requests
from vlmlab.core.errors import VlmLabError
from vlmlab.core.suts.kinds import SUT_KINDS

PAGE_SIZE = 25


@require_safe
def sut_list(request: HttpRequest) -> HttpResponse:
    """Show the registered systems."""
    narrowed = SutFilter(request.GET, queryset=suts_with_counts().order_by("name"))
    page = Paginator(narrowed.qs, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "filter": narrowed,
        "page_obj": page,
        "lines": sut_lines(list(page.object_list)),
        "is_filtered": any(request.GET.get(name) for name in narrowed.filters),
    }
    return render(request, "searches/sut_list.html", context)


@sensitive_post_parameters("secret")
@sensitive_variables("form", "wish")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sut_create(request: HttpRequest) -> HttpResponse:
    """Choose what to register; ``?kind=`` or ``?preset=`` shows its form, a POST registers it."""
    preset = find_preset(request.GET.get("preset", ""))
    kind = preset.kind if preset else request.GET.get("kind", "")
    if kind not in SUT_KINDS or not SUT_KINDS[kind].is_web_registrable:
        context: dict[str, Any] = {"groups": preset_groups(), "kinds": registrable_kinds()}
        return render(request, "searches/sut_choose.html", context)
    filled = {"name": preset.title, "slug": preset.name.replace("_", "-")} if preset else {}
    form = RegisterSutForm(
        request.POST or None, kind=kind, base=dict(preset.params) if preset else {}, values=filled
    )
    if request.method == "POST":
        if "preview" in request.POST:
            return _preview_of_form(request, form, {"preset": preset})
        if form.is_valid():
            wish = _wish(form, kind=kind, preset=preset.name if preset else "")
            try:
                sut = registering.register(wish, by=cast(User, request.user))
            except VlmLabError as error:
                form.add_core_error(error)
            else:
                return _registered(request, sut, calibrate_now=form.cleaned_data["calibrate_now"])
    return _show_form(request, form, {"preset": preset})


@require_safe
def sut_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Show one system."""
    sut = get_object_or_404(SutRecord.objects.select_related("api_key", "created_by"), slug=slug)
    overview = sut_overview(sut)
    today = timezone.now().date()
    chart = spending_chart(overview.spend_days, until=today) if overview.spend_days else None
    context = {
        "sut": sut,
        "overview": overview,
        "chart": chart,
        "may_change_key": sut.api_key is not None and may_change(sut.api_key, by=cast(User, request.user)),
    }
    return render(request, "searches/sut_detail.html", context)


@sensitive_post_parameters("secret")
@sensitive_variables("form", "wish")
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sut_edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Change a registered system, or the key it uses."""
    sut = get_object_or_404(SutRecord, slug=slug)
    if sut.kind not in SUT_KINDS or not SUT_KINDS[sut.kind].is_web_registrable:
        raise Http404("not a kind that is changed in the browser")
    stored = {"name": sut.name, "description": sut.description, "api_key": str(sut.api_key_id or "")}
    form = SutForm(request.POST or None, kind=sut.kind, base=sut.params, values=stored)
    seen = request.POST.get("seen", "") or registering.mark_of(sut)
    if request.method == "POST":
        if "preview" in request.POST:
            return _preview_of_form(request, form, {"sut": sut, "seen": seen})
        if form.is_valid():
            wish = _wish(form)
            try:
                registering.change(sut, wish, by=cast(User, request.user), seen=seen)
            except ChangedMeanwhileError as error:
                form.add_core_error(error)
                seen = registering.mark_of(SutRecord.objects.get(pk=sut.pk))
            except VlmLabError as error:
                form.add_core_error(error)
            else:
                messages.success(request, f"{sut.name}: changes saved.")
                return redirect(sut)
    return _show_form(request, form, {"sut": sut, "seen": seen})


@require_POST
def sut_toggle(request: HttpRequest, slug: str) -> HttpResponse:
    """Switch a system on or off."""
    sut = get_object_or_404(SutRecord, slug=slug)
    is_enabled = not sut.is_enabled
    suts.set_enabled(sut, is_enabled=is_enabled, by=cast(User, request.user))
    messages.success(request, f"{sut.name} is switched {'on' if is_enabled else 'off'}.")
    return redirect(sut)


@require_safe
def sut_preview(request: HttpRequest, slug: str) -> HttpResponse:
    """Show exactly what a registered system is sent, without its key and without connecting."""
    sut = get_object_or_404(SutRecord, slug=slug)
    context: dict[str, Any] = {"sut": sut}
    try:
        context["requests"] = shown_requests(sut.kind, sut.params, has_key=sut.api_key_id is not None)
    except VlmLabError as error:
        context["problem"] = str(error)
    return render(request, "searches/sut_preview_page.html", context)


def _preview_of_form(request: HttpRequest, form: SutForm, context: dict[str, Any]) -> HttpResponse:
    """Show what the form as it stands would send: below the form, or alone when a script asks for it."""
    form.is_valid()
    wrong = [bound for bound in form if bound.errors and bound.name in form.leaves]
    if wrong:
        context["problem"] = "Correct these first: " + ", ".join(str(bound.label) for bound in wrong) + "."
    else:
        try:
            context["requests"] = shown_requests(form.kind.name, form.params(), has_key=form.has_key)
        except VlmLabError as error:
            context["problem"] = str(error)
    if getattr(request, "htmx", False):
        return render(request, "searches/sut_preview.html", context)
    return _show_form(request, form, context | {"is_preview": True})


def _show_form(request: HttpRequest, form: SutForm, context: dict[str, Any]) -> HttpResponse:
    context |= {"form": form, "conventions": KNOWN_CONVENTIONS}
    is_wrong = bool(form.errors) and "is_preview" not in context
    return render(request, "searches/sut_form.html", context, status=422 if is_wrong else 200)


def _wish(form: SutForm, *, kind: str = "", preset: str = "") -> Registration:
    cleaned = form.cleaned_data
    return Registration(
        name=cleaned["name"],
        description=cleaned["description"],
        params=form.params(),
        queue=form.queue(),
        key=form.key_wish(),
        slug=cleaned.get("slug", ""),
        kind=kind,
        preset=preset,
    )


def _registered(request: HttpRequest, sut: SutRecord, *, calibrate_now: bool) -> HttpResponse:
    if not calibrate_now:
        messages.success(request, f"{sut.name} is registered. Calibrate it before you search.")
        return redirect(sut)
    try:
        launch.start_calibration(sut, by=cast(User, request.user))
    except VlmLabError as error:
        messages.error(request, f"{sut.name} is registered, but not calibrated: {error}")
    else:
        messages.success(request, f"{sut.name} is registered; its calibration waits for a worker.")
    return redirect(sut)
