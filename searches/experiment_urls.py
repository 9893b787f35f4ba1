"""Addresses of experiments, transfer matrices and reproductions."""

from django.urls import URLPattern, URLResolver

urlpatterns: list[URLPattern | URLResolver] = []
