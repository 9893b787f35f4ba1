"""Addresses of modality searches (MoST): campaigns, runs, cases, comparisons."""

from django.urls import URLPattern, URLResolver

urlpatterns: list[URLPattern | URLResolver] = []
