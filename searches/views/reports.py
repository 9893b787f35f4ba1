"""Files for others: the report of a campaign, and the package for the maker of a system."""

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from searches.forms.disclosure import DisclosureForm
from searches.models import SutRecord
from searches.reports.reports import find_reported, report_html
from searches.services.disclosures import disclosure_offer, disclosure_zip
from vlmlab.core.errors import VlmLabError
from vlmlab.web.streaming import stream_file, stream_zip


@require_safe
def campaign_report(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Send the report of a campaign as one HTML file."""
    try:
        campaign = find_reported(pk)
    except VlmLabError as error:
        raise Http404("no such campaign") from error
    name = f"vlmlab-report-{pk}-{timezone.localdate():%Y-%m-%d}.html"
    return stream_file(report_html(campaign), name=name, media_type="text/html")


@require_safe
def disclosure(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Show what a package for the maker of a system would hold, or send it."""
    sut = get_object_or_404(SutRecord, slug=slug)
    is_asked = "send" in request.GET
    form = DisclosureForm(request.GET if request.GET else None)
    wish = form.wish
    if is_asked and form.is_valid():
        name = f"vlmlab-disclosure-{sut.slug}-{timezone.localdate():%Y-%m-%d}.zip"
        try:
            return stream_zip(disclosure_zip(sut, wish), name=name)
        except VlmLabError as error:
            form.add_error(None, str(error))
    context = {"sut": sut, "form": form, "offer": disclosure_offer(sut, wish)}
    response: HttpResponse = render(request, "searches/disclosure.html", context)
    response.status_code = 422 if form.errors else 200
    return response
