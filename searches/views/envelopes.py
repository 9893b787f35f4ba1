"""Pages of operating envelopes: list, declaring and changing one with a preview, files, starting cards."""

from typing import Any, cast

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from searches import launch
from searches.forms.errors import add_lab_error
from searches.forms.gate_envelope import (
    CardForm,
    EnvelopeEditor,
    EnvelopeFileForm,
    editor_of,
    stored_or_none,
)
from searches.models import Envelope, User
from searches.services import envelope_pages, envelope_text, envelope_wishes, envelopes
from vlmlab.core.errors import VlmLabError
from vlmlab.web.errors import is_fragment_request

PAGE_SIZE = 25
MEDIA_TYPES = {"yaml": "application/yaml", "json": "application/json"}


@require_safe
def envelope_list(request: HttpRequest) -> HttpResponse:
    """Show the envelopes; with ``?archived=1`` also those out of use."""
    with_archived = request.GET.get("archived") == "1"
    rows = envelope_pages.listed_envelopes(with_archived=with_archived)
    context = {
        "page_obj": Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page")),
        "with_archived": with_archived,
        "n_archived": Envelope.objects.filter(is_archived=True).count(),
    }
    return render(request, "searches/envelope_list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def envelope_create(request: HttpRequest) -> HttpResponse:
    """Declare an envelope, in the form or from a file."""
    file_form = EnvelopeFileForm()
    if request.method == "POST" and "file" in request.FILES:
        file_form = EnvelopeFileForm(request.POST, request.FILES)
        if file_form.is_valid():
            try:
                content = envelope_text.read_envelope_file(file_form.cleaned_data["file"].read())
                domain, values = envelopes.values_of_file(content)
                return redirect(envelopes.create_envelope(domain, values, by=cast(User, request.user)))
            except VlmLabError as error:
                where = f" ({error.field})" if error.field and error.field != "file" else ""
                file_form.add_error("file", f"{error}{where}")
    editor = EnvelopeEditor(request.POST if request.method == "POST" and not file_form.is_bound else None)
    if editor.do == "save" and editor.is_valid():
        try:
            return redirect(
                envelopes.create_envelope(editor.domain, editor.values, by=cast(User, request.user))
            )
        except VlmLabError as error:
            editor.add_error(error)
    context = {"editor": editor, "file_form": file_form, "preview": _preview(editor)}
    return render(request, "searches/envelope_form.html", context, status=_status(editor, file_form))


@require_http_methods(["GET", "HEAD", "POST"])
def envelope_edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Change an envelope; cards that were started keep it as it stood."""
    envelope = _envelope(slug)
    editor = editor_of(envelope, request.POST if request.method == "POST" else None)
    if editor.do == "save" and editor.is_valid():
        try:
            envelopes.edit_envelope(envelope, editor.domain, editor.values, by=cast(User, request.user))
        except VlmLabError as error:
            editor.add_error(error)
        else:
            return redirect(envelope)
    context = {"editor": editor, "envelope": envelope, "preview": _preview(editor, envelope)}
    return render(request, "searches/envelope_form.html", context, status=_status(editor))


@require_POST
def envelope_preview(request: HttpRequest) -> HttpResponse:
    """Draw what the form, as it stands, declares (sent while it changes)."""
    if not is_fragment_request(request):
        return redirect("envelope_create")
    return render(
        request, "searches/envelope_preview.html", {"preview": _preview(EnvelopeEditor(request.POST))}
    )


@require_safe
def envelope_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Show an envelope: what it declares, its cards, and how to start one."""
    return render(request, "searches/envelope_detail.html", _page(_envelope(slug), CardForm()))


@require_safe
def envelope_file(request: HttpRequest, slug: str, fmt: str) -> HttpResponse:
    """Send an envelope as YAML or JSON."""
    if fmt not in MEDIA_TYPES:
        raise Http404("no such format")
    envelope = _envelope(slug)
    text = envelope_text.write_envelope_file(envelopes.file_values(envelope), fmt)
    response = HttpResponse(text, content_type=f"{MEDIA_TYPES[fmt]}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{envelope.slug}.{fmt}"'
    return response


@require_POST
def envelope_archive(request: HttpRequest, slug: str) -> HttpResponse:
    """Take an envelope out of use, or bring it back."""
    envelope = _envelope(slug)
    is_archived = request.POST.get("do") != "bring-back"
    envelopes.archive_envelope(envelope, is_archived=is_archived, by=cast(User, request.user))
    return redirect("envelope_list" if is_archived else envelope)


@require_POST
def card_start(request: HttpRequest, slug: str) -> HttpResponse:
    """Start a card of an envelope on each chosen system."""
    envelope, form = _envelope(slug), CardForm(request.POST)
    if form.is_valid():
        chosen = form.cleaned_data
        try:
            wish = envelope_wishes.card_wish(
                envelope, list(chosen["suts"]), spend_cap_usd=chosen["spend_cap_usd"]
            )
            campaign = launch.start_follow_up(wish, by=cast(User, request.user))
        except VlmLabError as error:
            add_lab_error(form, error)
        else:
            runs = list(campaign.runs.order_by("pk"))
            if len(runs) == 1:
                return redirect("card_detail", pk=runs[0].pk)
            messages.success(request, f"{len(runs)} cards are queued.")
            return redirect(envelope)
    return render(request, "searches/envelope_detail.html", _page(envelope, form), status=422)


def _page(envelope: Envelope, form: CardForm) -> dict[str, Any]:
    stored, domain = envelopes.stored_of(envelope), envelopes.domain_of(envelope)
    try:
        preview, problem = envelope_pages.preview_envelope(domain, stored), ""
    except VlmLabError as error:
        preview, problem = None, str(error)
    suts = list(form.fields["suts"].queryset)  # type: ignore[attr-defined]  # a ModelMultipleChoiceField
    return {
        "envelope": envelope,
        "stored": stored,
        "domain": domain,
        "preview": preview,
        "problem": problem,
        "cards": envelope_pages.cards_of(envelope),
        "form": form,
        "costs": envelope_pages.costs_of(suts, stored, domain),
    }


def _preview(editor: EnvelopeEditor, envelope: Envelope | None = None) -> Any:
    """Return what the editor declares as it stands; ``problem`` where that is nothing yet."""
    if editor.do == "" and envelope is None:
        return None
    if editor.do == "":
        stored = envelopes.stored_of(envelope) if envelope else None
    else:
        stored = stored_or_none(editor) if editor.is_valid() else None
    if stored is None:
        return {"problem": editor.first_problem} if editor.first_problem else None
    try:
        return envelope_pages.preview_envelope(editor.domain, stored)
    except VlmLabError as error:
        if editor.do != "save":
            editor.add_error(error)
        return {"problem": str(error)}


def _status(editor: EnvelopeEditor, file_form: EnvelopeFileForm | None = None) -> int:
    is_wrong = bool(editor.do == "save" and editor.has_errors) or bool(file_form and file_form.errors)
    return 422 if is_wrong else 200


def _envelope(slug: str) -> Envelope:
    envelope = envelope_pages.find_envelope(slug)
    if envelope is None:
        raise Http404("no such envelope")
    return envelope
