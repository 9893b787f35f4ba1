"""Pages of regression families: list, one family, making and changing one, pinning, starting."""

from typing import Any, cast
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from searches import launch
from searches.forms.errors import add_lab_error
from searches.forms.gate import FamilyForm, RegressionForm, family_values
from searches.models import RegressionFamily, User
from searches.services import families, family_pages, regression_wishes
from searches.services.families import Pins
from vlmlab.core.errors import VlmLabError
from vlmlab.web.asked import asked_number

PAGE_SIZE = 25
INPUT_NAMES = {"findings": ("finding", "findings"), "cases": ("case", "cases")}


@require_safe
def family_list(request: HttpRequest) -> HttpResponse:
    """Show the families; with ``?archived=1`` also those out of use."""
    with_archived = request.GET.get("archived") == "1"
    rows = family_pages.listed_families(with_archived=with_archived)
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    n_archived = RegressionFamily.objects.filter(is_archived=True).count()
    context = {"page_obj": page, "with_archived": with_archived, "n_archived": n_archived}
    return render(request, "searches/family_list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def family_pin(request: HttpRequest) -> HttpResponse:
    """Choose where to pin what was chosen on a list: a family there is, or a new one."""
    data = request.POST if request.method == "POST" else request.GET
    try:
        pins = _pins(data)
    except VlmLabError as error:
        messages.error(request, str(error))
        return redirect(_back(data))
    if request.method == "POST" and "family" not in data:  # a list sent its choice
        chosen = [("finding", one.pk) for one in pins.findings] + [("case", one.pk) for one in pins.cases]
        return redirect(f"{request.path}?{urlencode(chosen)}")
    problem = ""
    if request.method == "POST":
        family = _family(data.get("family", ""))
        try:
            added = families.pin_to(family, pins, by=cast(User, request.user))
        except VlmLabError as error:
            problem = str(error)
        else:
            passed_over = pins.count - added
            more = f" {passed_over} were in it already." if passed_over else ""
            messages.success(request, f"{added} pinned to {family.name}.{more}")
            return redirect(family)
    fitting = RegressionFamily.objects.filter(is_archived=False, kind=pins.kind)
    if pins.findings:
        fitting = fitting.filter(
            domain=pins.findings[0].domain, domain_version=pins.findings[0].domain_version
        )
    context = {"pins": pins, "families": fitting, "problem": problem, "form": _new_form(pins)}
    return render(request, "searches/family_pin.html", context, status=422 if problem else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def family_create(request: HttpRequest) -> HttpResponse:
    """Make a family of what was chosen on a list."""
    data = request.POST if request.method == "POST" else request.GET
    try:
        pins = _pins(data)
    except VlmLabError as error:
        messages.error(request, str(error))
        return redirect(_back(data))
    form = FamilyForm(request.POST) if request.method == "POST" else _new_form(pins, request.GET)
    if form.is_bound and form.is_valid():
        try:
            family = families.create_family(form.wish, pins, by=cast(User, request.user))
        except VlmLabError as error:
            add_lab_error(form, error)
        else:
            return redirect(family)
    context = {"form": form, "pins": pins, "power": _power(form, pins.count)}
    return render(request, "searches/family_form.html", context, status=422 if form.errors else 200)


@require_safe
def family_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Show one family: members, history, how to start a regression."""
    family = _family(slug)
    return render(request, "searches/family_detail.html", _page(family, RegressionForm(family=family)))


@require_http_methods(["GET", "HEAD", "POST"])
def family_edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Change name, baseline and plan."""
    family = _family(slug)
    form = FamilyForm(request.POST or None, initial=dict(family_values(family)) | _typed_plan(request.GET))
    if form.is_bound and form.is_valid():
        try:
            families.edit_family(family, form.wish, by=cast(User, request.user))
        except VlmLabError as error:
            add_lab_error(form, error)
        else:
            return redirect(family)
    context = {"form": form, "family": family, "power": _power(form, family.members.count())}
    return render(request, "searches/family_form.html", context, status=422 if form.errors else 200)


@require_POST
def family_unpin(request: HttpRequest, slug: str) -> HttpResponse:
    """Take a member out."""
    family = _family(slug)
    number = asked_number(request.POST.get("member", ""))
    try:
        families.unpin(family, number or 0, by=cast(User, request.user))
    except VlmLabError as error:
        messages.error(request, str(error))
    return redirect(family)


@require_POST
def family_archive(request: HttpRequest, slug: str) -> HttpResponse:
    """Take a family out of use, or bring it back."""
    family = _family(slug)
    is_archived = request.POST.get("do") != "bring-back"
    families.archive_family(family, is_archived=is_archived, by=cast(User, request.user))
    return redirect("family_list" if is_archived else family)


@require_POST
def regression_start(request: HttpRequest, slug: str) -> HttpResponse:
    """Start a regression of a family."""
    family = _family(slug)
    form = RegressionForm(request.POST, family=family)
    if form.is_valid():
        by, chosen = cast(User, request.user), form.cleaned_data
        try:
            wish = regression_wishes.regression_wish(
                family,
                candidate=chosen["candidate"],
                baseline=chosen["baseline"],
                scenes=chosen["scenes"],
            )
            campaign = launch.start_follow_up(wish, by=by)
        except VlmLabError as error:
            add_lab_error(form, error, fields={"suts": "candidate"})
        else:
            return redirect("regression_detail", pk=campaign.pk)
    return render(request, "searches/family_detail.html", _page(family, form), status=422)


def _page(family: RegressionFamily, form: RegressionForm) -> dict[str, Any]:
    page = family_pages.family_page(family)
    power = regression_wishes.power_of(
        scenes=family.config["scenes"], margin=family.config["margin"], level=family.config["level"],
        modes=len(page.members),
    )  # fmt: skip
    return {"page": page, "family": family, "form": form, "power": power}


def _power(form: FamilyForm, modes: int) -> Any:
    plan = form.plan
    if plan is None:
        return None
    scenes, margin, level = plan
    return regression_wishes.power_of(scenes=scenes, margin=margin, level=level, modes=modes)


def _new_form(pins: Pins, data: QueryDict | None = None) -> FamilyForm:
    return FamilyForm(
        initial={"baseline": pins.sut.pk if pins.sut else None} | _typed_plan(data or QueryDict())
    )


def _typed_plan(data: QueryDict) -> dict[str, str]:
    """Return the plan that a form in the making sent to see its power."""
    return {name: data.get(name, "") for name in ("scenes", "margin", "level") if name in data}


def _pins(data: QueryDict) -> Pins:
    """Return what an address or a form chose; numbers that are none are passed over."""
    chosen = {
        what: [number for name in names for text in data.getlist(name) if (number := asked_number(text))]
        for what, names in INPUT_NAMES.items()
    }
    return families.read_pins(findings=chosen["findings"], cases=chosen["cases"])


def _back(data: QueryDict) -> str:
    has_cases = any(name in data for name in INPUT_NAMES["cases"])
    return reverse("modality_list" if has_cases else "finding_list")


def _family(slug: str) -> RegressionFamily:
    family = family_pages.find_family(slug)
    if family is None:
        raise Http404("no such family")
    return family
