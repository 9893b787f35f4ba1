"""Addresses of runs, concept sets and findings."""

from collections.abc import Callable
from importlib import import_module

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path


def _view(module: str, name: str) -> Callable[..., HttpResponse]:
    """Stand-in until every view exists; goes with the last of them."""
    try:
        view: Callable[..., HttpResponse] = getattr(import_module(f"searches.views.{module}"), name)
    except (ModuleNotFoundError, AttributeError):

        def view(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
            return render(request, "404.html", status=404)

    return view


urlpatterns = [
    path("runs/", _view("runs", "run_list"), name="run_list"),
    path("runs/new/", _view("run_create", "run_create"), name="run_create"),
    path("runs/estimate/", _view("run_create", "run_estimate"), name="run_estimate"),
    path("runs/compare/", _view("compare", "run_compare"), name="run_compare"),
    path("runs/<int:pk>/", _view("runs", "run_detail"), name="run_detail"),
    path("runs/<int:pk>/progress/", _view("runs", "run_progress"), name="run_progress"),
    path("runs/<int:pk>/cancel/", _view("runs", "run_cancel"), name="run_cancel"),
    path("runs/<int:pk>/pause/", _view("runs", "run_pause"), name="run_pause"),
    path("runs/<int:pk>/resume/", _view("runs", "run_resume"), name="run_resume"),
    path("runs/<int:pk>/clone/", _view("run_create", "run_clone"), name="run_clone"),
    path(
        "runs/<int:pk>/retry-call-errors/",
        _view("runs", "run_retry_call_errors"),
        name="run_retry_call_errors",
    ),
    path("runs/<int:pk>/export/<str:what>.<str:fmt>", _view("runs", "run_export"), name="run_export"),
    path("runs/<int:pk>/sets/<int:trial_pk>/", _view("runs", "trial_detail"), name="trial_detail"),
    path("findings/", _view("findings", "finding_list"), name="finding_list"),
    path("findings/export.<str:fmt>", _view("findings", "finding_export"), name="finding_export"),
    path("findings/<int:pk>/", _view("findings", "finding_detail"), name="finding_detail"),
]
