"""Stored pictures: named by their content, so they may be kept by the browser for ever."""

import re

from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseNotModified
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

from searches.services.blobs import open_blob
from vlmlab.core.errors import VlmLabError

SHA256 = re.compile(r"[0-9a-f]{64}")


@require_safe
def blob(request: HttpRequest, sha256: str) -> HttpResponseBase:
    """Send a picture; its address never shows anything else."""
    if not SHA256.fullmatch(sha256):
        raise Http404("not the name of a picture")
    etag = f'"{sha256}"'
    if request.headers.get("If-None-Match") == etag:
        return _marked(HttpResponseNotModified(), etag)
    try:
        file = open_blob(sha256)
    except VlmLabError as error:
        raise Http404(error.message) from error
    return _marked(FileResponse(file, content_type="image/png"), etag)


def _marked(response: HttpResponse | FileResponse, etag: str) -> HttpResponse | FileResponse:
    response["ETag"] = etag
    response["Cache-Control"] = "private, max-age=31536000, immutable"
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Disposition"] = "inline"
    return response
