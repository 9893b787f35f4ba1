"""Addresses of picture sources, and of uploads that become datasets."""

from django.urls import URLPattern, path

from searches.views import dataset_upload, sources

urlpatterns: list[URLPattern] = [
    path("sources/", sources.source_list, name="source_list"),
    path("sources/new/", sources.source_create, name="source_create"),
    path("sources/<slug:slug>/", sources.source_detail, name="source_detail"),
    path("sources/<slug:slug>/edit/", sources.source_edit, name="source_edit"),
    path("sources/<slug:slug>/toggle/", sources.source_toggle, name="source_toggle"),
    path("sources/<slug:slug>/check/", sources.source_check, name="source_check"),
    path("datasets/upload/", dataset_upload.dataset_upload, name="dataset_upload"),
]
