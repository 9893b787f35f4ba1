"""Addresses of regression families and canaries."""

from django.urls import path

from searches.views import canaries, families, regressions

urlpatterns = [
    path("families/", families.family_list, name="family_list"),
    path("families/new/", families.family_create, name="family_create"),
    path("families/pin/", families.family_pin, name="family_pin"),
    path("families/canaries/", canaries.canary_list, name="canary_list"),
    path("families/canaries/new/", canaries.canary_create, name="canary_create"),
    path("families/canaries/<int:pk>/", canaries.canary_change, name="canary_change"),
    path("families/regressions/<int:pk>/", regressions.regression_detail, name="regression_detail"),
    path(
        "families/regressions/<int:pk>/progress/", regressions.regression_progress, name="regression_progress"
    ),
    path(
        "families/regressions/<int:pk>/file/<str:fmt>/",
        regressions.regression_export,
        name="regression_export",
    ),
    path("families/<slug:slug>/", families.family_detail, name="family_detail"),
    path("families/<slug:slug>/edit/", families.family_edit, name="family_edit"),
    path("families/<slug:slug>/unpin/", families.family_unpin, name="family_unpin"),
    path("families/<slug:slug>/archive/", families.family_archive, name="family_archive"),
    path("families/<slug:slug>/start/", families.regression_start, name="regression_start"),
]
