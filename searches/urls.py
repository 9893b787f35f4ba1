"""Addresses of the overview, systems, domains, jobs and pictures; runs and findings are included."""

from django.urls import URLPattern, URLResolver, include, path

from searches.views import blobs, calibrations, domains, home, jobs, keys, pages, sut_compare, sut_try, suts

urlpatterns: list[URLPattern | URLResolver] = [
    path("", home.home, name="home"),
    path("suts/", suts.sut_list, name="sut_list"),
    path("suts/new/", suts.sut_create, name="sut_create"),
    path("suts/compare/", sut_compare.sut_compare, name="sut_compare"),
    path("suts/<slug:slug>/", suts.sut_detail, name="sut_detail"),
    path("suts/<slug:slug>/edit/", suts.sut_edit, name="sut_edit"),
    path("suts/<slug:slug>/toggle/", suts.sut_toggle, name="sut_toggle"),
    path("suts/<slug:slug>/try/", sut_try.sut_try, name="sut_try"),
    path("suts/<slug:slug>/calibrate/", calibrations.sut_calibrate, name="sut_calibrate"),
    path("suts/<slug:slug>/calibrations/", calibrations.sut_calibrations, name="sut_calibrations"),
    path("suts/<slug:slug>/calibrations/<int:pk>/", calibrations.sut_calibration, name="sut_calibration"),
    path(
        "suts/<slug:slug>/calibrations/<int:pk>/use/",
        calibrations.sut_use_convention,
        name="sut_use_convention",
    ),
    path("suts/<slug:slug>/preview/", suts.sut_preview, name="sut_preview"),
    path("keys/", keys.key_list, name="key_list"),
    path("keys/new/", keys.key_create, name="key_create"),
    path("keys/<int:pk>/replace/", keys.key_replace, name="key_replace"),
    path("keys/<int:pk>/delete/", keys.key_delete, name="key_delete"),
    path("domains/", domains.domain_list, name="domain_list"),
    path("domains/<slug:slug>/", domains.domain_detail, name="domain_detail"),
    path("domains/<slug:slug>/compose/", domains.domain_compose, name="domain_compose"),
    path("jobs/<uuid:pk>/", jobs.job_detail, name="job_detail"),
    path("blobs/<str:sha256>.png", blobs.blob, name="blob"),
    path("credits/", pages.credits_page, name="credits"),
    path("manual/", pages.manual, {"page": "index"}, name="manual_index"),
    path("manual/<slug:page>/", pages.manual, name="manual"),
    path("components/", pages.components, name="components"),
    path("", include("searches.run_urls")),
]
