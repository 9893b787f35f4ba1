"""The audit list: who changed what, newest first."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from searches.services.audit_list import entries_matching

PAGE_SIZE = 50


@require_safe
def audit_list(request: HttpRequest) -> HttpResponse:
    """Show entries, filtered by a word in actor, verb or object."""
    word = request.GET.get("q", "").strip()
    entries = entries_matching(word)
    page = Paginator(entries, PAGE_SIZE).get_page(request.GET.get("page"))
    return render(request, "audit/list.html", {"page": page, "word": word})
