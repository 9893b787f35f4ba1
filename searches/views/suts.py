"""Pages of systems under test: list, register, look at, change, switch off."""

from typing import cast

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from searches.filters.suts import SutFilter
from searches.forms.errors import add_lab_error
from searches.forms.suts import LOCAL_KIND, LocalSutForm, RegisterSutForm, initial_of
from searches.models import SutRecord, User
from searches.services import suts
from searches.services.sut_pages import sut_lines, sut_overview, suts_with_counts
from vlmlab.core.errors import VlmLabError

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


@require_http_methods(["GET", "HEAD", "POST"])
def sut_create(request: HttpRequest) -> HttpResponse:
    """Register a checkpoint; its folder is looked at before anything of it is loaded."""
    form = RegisterSutForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        cleaned = form.cleaned_data
        try:
            sut = suts.register_sut(
                slug=cleaned["slug"],
                name=cleaned["name"],
                kind=LOCAL_KIND,
                params=form.params(),
                by=cast(User, request.user),
                description=cleaned["description"],
                queue=form.queue(),
            )
        except VlmLabError as error:
            add_lab_error(form, error, fields=form.error_fields)
        else:
            messages.success(request, f"{sut.name} is registered. Try it on a picture before you search.")
            return redirect(sut)
    return render(request, "searches/sut_form.html", {"form": form}, status=422 if form.errors else 200)


@require_safe
def sut_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Show one system."""
    sut = get_object_or_404(SutRecord, slug=slug)
    return render(request, "searches/sut_detail.html", {"sut": sut, "overview": sut_overview(sut)})


@require_http_methods(["GET", "HEAD", "POST"])
def sut_edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Change a registered checkpoint."""
    sut = get_object_or_404(SutRecord, slug=slug, kind=LOCAL_KIND)
    form = LocalSutForm(request.POST or None, initial=initial_of(sut))
    if request.method == "POST" and form.is_valid():
        cleaned = form.cleaned_data
        try:
            suts.edit_sut(
                sut,
                name=cleaned["name"],
                params=form.params(),
                by=cast(User, request.user),
                description=cleaned["description"],
                queue=form.queue(),
            )
        except VlmLabError as error:
            add_lab_error(form, error, fields=form.error_fields)
        else:
            messages.success(request, f"{sut.name}: changes saved.")
            return redirect(sut)
    context = {"form": form, "sut": sut}
    return render(request, "searches/sut_form.html", context, status=422 if form.errors else 200)


@require_POST
def sut_toggle(request: HttpRequest, slug: str) -> HttpResponse:
    """Switch a system on or off."""
    sut = get_object_or_404(SutRecord, slug=slug)
    is_enabled = not sut.is_enabled
    suts.set_enabled(sut, is_enabled=is_enabled, by=cast(User, request.user))
    messages.success(request, f"{sut.name} is switched {'on' if is_enabled else 'off'}.")
    return redirect(sut)
