"""Manual, credits and the components page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def credits_page(request: HttpRequest, **kwargs: object) -> HttpResponse:
    """Stub."""
    return render(request, "404.html", status=404)


def manual(request: HttpRequest, **kwargs: object) -> HttpResponse:
    """Stub."""
    return render(request, "404.html", status=404)


def components(request: HttpRequest, **kwargs: object) -> HttpResponse:
    """Stub."""
    return render(request, "404.html", status=404)
