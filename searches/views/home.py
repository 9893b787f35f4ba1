"""Overview page of the lab."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from searches.services.domains import all_domains
from searches.services.overview import overview
from vlmlab.web.permissions import may_open


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Show what waits, what runs and what was found; annotators have no business in the lab's numbers."""
    role = getattr(request.user, "role", "")
    if not may_open(role, "run_list"):
        return render(request, "searches/home_annotator.html")
    return render(request, "searches/home.html", {"overview": overview(), "domains": all_domains()})
