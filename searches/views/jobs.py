"""The polled part that shows a short job."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def job_detail(request: HttpRequest, **kwargs: object) -> HttpResponse:
    """Stub."""
    return render(request, "404.html", status=404)
