"""Addresses of the REST API: its schema and its reference page, and every operation."""

from django.urls import URLPattern, URLResolver, path

from searches.api import reference
from searches.api.site import api

urlpatterns: list[URLPattern | URLResolver] = [
    path("api/", reference.api_reference, name="api_reference"),
    path("api/v1/openapi.json", reference.api_schema, name="api_schema"),
    # Ninja's own page at the root of the API says nothing; the reference stands one level above.
    path("api/v1/", (api.urls[0][:-1], api.urls[1], api.urls[2])),
]
