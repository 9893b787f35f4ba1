"""Addresses of regression families, canaries, operating envelopes and decision cards."""

from django.urls import path

from searches.views import canaries, cards, envelopes, families, regressions

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
    path("cards/", envelopes.envelope_list, name="envelope_list"),
    path("cards/new/", envelopes.envelope_create, name="envelope_create"),
    path("cards/preview/", envelopes.envelope_preview, name="envelope_preview"),
    path("cards/of/<int:pk>/", cards.card_detail, name="card_detail"),
    path("cards/of/<int:pk>/progress/", cards.card_progress, name="card_progress"),
    path("cards/of/<int:pk>/pdf/", cards.card_pdf, name="card_pdf"),
    path("cards/of/<int:pk>/file/<str:fmt>/", cards.card_export, name="card_export"),
    path("cards/<slug:slug>/", envelopes.envelope_detail, name="envelope_detail"),
    path("cards/<slug:slug>/edit/", envelopes.envelope_edit, name="envelope_edit"),
    path("cards/<slug:slug>/file/<str:fmt>/", envelopes.envelope_file, name="envelope_file"),
    path("cards/<slug:slug>/archive/", envelopes.envelope_archive, name="envelope_archive"),
    path("cards/<slug:slug>/start/", envelopes.card_start, name="card_start"),
]
