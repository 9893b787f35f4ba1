"""Addresses of files for others: reports of campaigns, packages for makers of systems."""

from django.urls import URLPattern, path

from searches.views import reports

urlpatterns: list[URLPattern] = [
    path("campaigns/<int:pk>/", reports.campaign_report, name="campaign_report"),
    path("systems/<slug:slug>/", reports.disclosure, name="disclosure"),
]
