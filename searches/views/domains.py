"""Pages of domains and of composing a scene."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def domain_list(request: HttpRequest, **kwargs: object) -> HttpResponse:
    """Stub."""
    return render(request, "404.html", status=404)


def domain_detail(request: HttpRequest, **kwargs: object) -> HttpResponse:
    """Stub."""
    return render(request, "404.html", status=404)


def domain_compose(request: HttpRequest, **kwargs: object) -> HttpResponse:
    """Stub."""
    return render(request, "404.html", status=404)


def domain_check(request: HttpRequest, **kwargs: object) -> HttpResponse:
    """Stub."""
    return render(request, "404.html", status=404)
