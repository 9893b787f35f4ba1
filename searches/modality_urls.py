"""Addresses of modality searches (MoST): campaigns, runs, cases, comparisons."""

from django.urls import URLPattern, URLResolver, path

from searches.views import modality_cases, modality_runs

urlpatterns: list[URLPattern | URLResolver] = [
    path("<int:pk>/runs/", modality_runs.modality_runs, name="modality_runs"),
    path("runs/<int:pk>/", modality_runs.modality_run, name="modality_run"),
    path(
        "runs/<int:pk>/evaluations/<int:step>.<int:position>.png",
        modality_runs.modality_picture,
        name="modality_picture",
    ),
    path("cases/<int:pk>/", modality_cases.modality_case, name="modality_case"),
]
