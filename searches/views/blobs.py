"""Stored pictures."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def blob(request: HttpRequest, **kwargs: object) -> HttpResponse:
    """Stub."""
    return render(request, "404.html", status=404)
