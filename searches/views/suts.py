"""Pages of systems under test."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def sut_list(request: HttpRequest, **kwargs: object) -> HttpResponse:
    """Stub."""
    return render(request, "404.html", status=404)


def sut_create(request: HttpRequest, **kwargs: object) -> HttpResponse:
    """Stub."""
    return render(request, "404.html", status=404)


def sut_detail(request: HttpRequest, **kwargs: object) -> HttpResponse:
    """Stub."""
    return render(request, "404.html", status=404)


def sut_edit(request: HttpRequest, **kwargs: object) -> HttpResponse:
    """Stub."""
    return render(request, "404.html", status=404)


def sut_toggle(request: HttpRequest, **kwargs: object) -> HttpResponse:
    """Stub."""
    return render(request, "404.html", status=404)


def sut_try(request: HttpRequest, **kwargs: object) -> HttpResponse:
    """Stub."""
    return render(request, "404.html", status=404)
