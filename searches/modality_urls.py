"""Addresses of modality searches (MoST): campaigns, runs, cases, comparisons."""

from django.urls import URLPattern, URLResolver, path

from searches.views import (
    case_follow_ups,
    modality,
    modality_cases,
    modality_create,
    modality_responses,
    modality_results,
    modality_runs,
)

urlpatterns: list[URLPattern | URLResolver] = [
    path("", modality.modality_list, name="modality_list"),
    path("new/", modality_create.modality_create, name="modality_create"),
    path("estimate/", modality_create.modality_estimate, name="modality_estimate"),
    path("seeds/", modality_create.modality_seeds, name="modality_seeds"),
    path("<int:pk>/", modality_results.modality_campaign, name="modality_campaign"),
    path("<int:pk>/progress/", modality.modality_progress, name="modality_progress"),
    path("<int:pk>/pause/", modality.modality_pause, name="modality_pause"),
    path("<int:pk>/resume/", modality.modality_resume, name="modality_resume"),
    path("<int:pk>/cancel/", modality.modality_cancel, name="modality_cancel"),
    path("<int:pk>/delete/", modality.modality_delete, name="modality_delete"),
    path("<int:pk>/clone/", modality_create.modality_clone, name="modality_clone"),
    path("compare/", modality_results.modality_compare, name="modality_compare"),
    path("<int:pk>/operators/", modality_results.modality_operators, name="modality_operators"),
    path("<int:pk>/export/<slug:what>.<slug:fmt>", modality_results.modality_export, name="modality_export"),
    path("<int:pk>/runs/", modality_runs.modality_runs, name="modality_runs"),
    path("runs/<int:pk>/", modality_runs.modality_run, name="modality_run"),
    path(
        "runs/<int:pk>/evaluations/<int:step>.<int:position>.png",
        modality_runs.modality_picture,
        name="modality_picture",
    ),
    path("cases/<int:pk>/", modality_cases.modality_case, name="modality_case"),
    path("cases/<int:pk>/picture.png", modality_cases.modality_case_picture, name="modality_case_picture"),
    path("cases/<int:pk>/minimize/", modality_cases.modality_minimize, name="modality_minimize"),
    path("<int:pk>/confirm/", case_follow_ups.modality_confirm, name="modality_confirm"),
    path("<int:pk>/transfer/", case_follow_ups.modality_transfer, name="modality_transfer"),
    path("cases/<int:pk>/confirm/", case_follow_ups.case_confirm, name="case_confirm"),
    path("draws/<int:pk>.png", case_follow_ups.case_draw_picture, name="case_draw_picture"),
    path("<int:pk>/evaluations/", modality_responses.modality_evaluations, name="modality_evaluations"),
]
