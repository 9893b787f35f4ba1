"""Pages of picture sources: list, set up, look at, change, switch off, check."""

from typing import Any, cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from searches.forms.source_form import NewSourceForm, SourceForm
from searches.models import Dataset, PictureSource, User
from searches.services import source_checks, source_pages, sources
from searches.services.registering import ChangedMeanwhileError
from vlmlab.core.errors import VlmLabError
from vlmlab.web.asked import asked_slug


@require_safe
def source_list(request: HttpRequest) -> HttpResponse:
    """Show where pictures can come from."""
    context = {
        "lines": source_pages.source_lines(list(source_pages.sources_in_order())),
        "embedded": source_pages.embedded_kind(),
        "embedded_domains": source_pages.embedded_lines(),
    }
    return render(request, "searches/source_list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def source_create(request: HttpRequest) -> HttpResponse:
    """Choose a kind; ``?kind=`` shows its form, ``?copy=`` fills it like another source."""
    copied = PictureSource.objects.filter(slug=asked_slug(request.GET.get("copy", ""))).first()
    name = copied.kind if copied else request.GET.get("kind", "")
    kinds = {kind.name: kind for kind in source_pages.offered_kinds()}
    if name not in kinds:
        choices: dict[str, Any] = {"kinds": kinds.values(), "presets": source_pages.offered_presets()}
        return render(request, "searches/source_choose.html", choices)
    preset = source_pages.find_source_preset(name, request.GET.get("preset", ""))
    base: dict[str, Any] = dict(copied.params) if copied else dict(preset.params) if preset else {}
    values: dict[str, Any] = source_pages.copy_values(copied) if copied else {}
    if preset is not None:
        values = {"name": preset.title}
    if "dataset" in request.GET:
        chosen = Dataset.objects.filter(slug=asked_slug(request.GET["dataset"])).first()
        values |= {"dataset": str(chosen.pk), "name": chosen.title} if chosen else {}
    form = NewSourceForm(request.POST or None, kind=name, base=base, values=values)
    if request.method == "POST" and form.is_valid():
        try:
            source = sources.create_source(form.wish(), by=cast(User, request.user))
        except VlmLabError as error:
            form.add_core_error(error)
        else:
            messages.success(request, f"{source.name} is set up. Check it before you search.")
            return redirect(source)
    context = {"form": form, "preset": preset, "copied": copied}
    return render(request, "searches/source_form.html", context, status=422 if form.errors else 200)


@require_safe
def source_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Show one source."""
    source = get_object_or_404(
        PictureSource.objects.select_related("dataset", "api_key", "presence_sut", "created_by"), slug=slug
    )
    context = {"source": source, "overview": source_pages.source_overview(source)}
    return render(request, "searches/source_detail.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def source_edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Change a source, or the key it uses."""
    source = get_object_or_404(PictureSource, slug=slug)
    is_frozen = sources.is_frozen(source)
    values = {
        "name": source.name,
        "description": source.description,
        **source_pages.row_values(source),
    }
    try:
        form = SourceForm(
            request.POST or None, kind=source.kind, base=source.params, values=values, is_frozen=is_frozen
        )
    except VlmLabError as error:  # a kind that this version does not know
        messages.error(request, str(error))
        return redirect(source)
    seen = request.POST.get("seen", "") or sources.mark_of(source)
    if request.method == "POST" and form.is_valid():
        try:
            sources.edit_source(source, form.wish(), by=cast(User, request.user), seen=seen)
        except ChangedMeanwhileError as error:
            form.add_core_error(error)
            seen = sources.mark_of(PictureSource.objects.get(pk=source.pk))
        except VlmLabError as error:
            form.add_core_error(error)
        else:
            messages.success(request, f"{source.name}: changes saved.")
            return redirect(source)
    context = {"form": form, "source": source, "seen": seen, "is_frozen": is_frozen, "why": sources.FROZEN}
    return render(request, "searches/source_form.html", context, status=422 if form.errors else 200)


@require_POST
def source_toggle(request: HttpRequest, slug: str) -> HttpResponse:
    """Switch a source on or off."""
    source = get_object_or_404(PictureSource, slug=slug)
    is_enabled = not source.is_enabled
    sources.set_source_enabled(source, is_enabled=is_enabled, by=cast(User, request.user))
    messages.success(request, f"{source.name} is switched {'on' if is_enabled else 'off'}.")
    return redirect(source)


@require_POST
def source_check(request: HttpRequest, slug: str) -> HttpResponse:
    """Look for what a source needs; its page shows what was found."""
    rows = PictureSource.objects.select_related("dataset", "api_key", "presence_sut__api_key")
    source = get_object_or_404(rows, slug=slug)
    try:
        found = source_checks.check_now(source, by=cast(User, request.user))
    except VlmLabError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, found)
    return redirect(source)
