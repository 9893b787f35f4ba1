"""Every address of the site: health here, the rest in the apps."""

from django.urls import include, path

from vlmlab.web.health import healthz

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("", include("searches.people_urls")),
    path("", include("searches.api_urls")),
    path("", include("searches.urls")),
]

handler400 = "vlmlab.web.errors.bad_request"
handler403 = "vlmlab.web.errors.permission_denied"
handler404 = "vlmlab.web.errors.page_not_found"
handler500 = "vlmlab.web.errors.server_error"
