"""Pages of decision cards: one card, its progress, its files and its PDF."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from searches.charts.gate_card import bounds_chart
from searches.services.card_exports import MEDIA_TYPES, card_file, card_html
from searches.services.cards import CardPage, card_page, find_card
from searches.services.pdf import chromium_path, print_to_pdf
from searches.views.polling import polled
from vlmlab.core.errors import VlmLabError


@require_safe
def card_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a card."""
    page = _card(pk)
    context = {"page": page, "run": page.run, "has_printer": bool(chromium_path())}
    if page.reading is not None:
        context["chart"] = bounds_chart(page)
    return render(request, "searches/card_detail.html", context)


@require_safe
def card_progress(request: HttpRequest, pk: int) -> HttpResponse:
    """Show how far a card is; 304 while nothing changed, 286 once nothing will."""
    page = _card(pk)
    context = {"page": page, "run": page.run}
    return polled(
        request,
        etag=page.run.etag,
        is_final=page.run.is_final,
        draw=lambda: render(request, "searches/card_progress.html", context),
    )


@require_safe
def card_export(request: HttpRequest, pk: int, fmt: str) -> HttpResponse:
    """Send a card as CSV, JSON or one HTML page."""
    if fmt not in MEDIA_TYPES:
        raise Http404("no such format")
    return _sent(card_file(_card(pk), fmt).encode(), pk=pk, fmt=fmt, media_type=MEDIA_TYPES[fmt])


@require_safe
def card_pdf(request: HttpRequest, pk: int) -> HttpResponse:
    """Send a card as PDF; without a Chromium on the server, lead back and say how else."""
    page = _card(pk)
    try:
        pdf = print_to_pdf(card_html(page))
    except VlmLabError as error:
        messages.error(request, str(error))
        return redirect("card_detail", pk=pk)
    return _sent(pdf, pk=pk, fmt="pdf", media_type="application/pdf")


def _sent(content: bytes, *, pk: int, fmt: str, media_type: str) -> HttpResponse:
    response = HttpResponse(content, content_type=media_type)
    response["Content-Disposition"] = f'attachment; filename="vlmlab-decision-card-{pk}.{fmt}"'
    return response


def _card(pk: int) -> CardPage:
    run = find_card(pk)
    page = card_page(run) if run is not None else None
    if page is None:
        raise Http404("no such card")
    return page
