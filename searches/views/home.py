"""Overview page of the lab."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def home(request: HttpRequest) -> HttpResponse:
    """Show the overview."""
    return render(request, "searches/home.html")
