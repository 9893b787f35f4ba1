"""The workers page: who works, as each worker last reported itself."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from searches.services.workers import workers_now


@require_safe
def worker_list(request: HttpRequest) -> HttpResponse:
    """Show every worker that reported itself in the last day."""
    return render(request, "workers/list.html", {"workers": workers_now()})
