"""Answers 304 to a program that has the newest state already."""

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified


def unchanged(request: HttpRequest, response: HttpResponse, mark: str) -> HttpResponse | None:
    """Put the mark on the response, or return the answer for a program that sent the same mark.

    Args:
        request: may carry ``If-None-Match``.
        response: headers of the answer to come.
        mark: changes whenever the content does.
    """
    etag = f'"{mark}"'
    if request.headers.get("If-None-Match") == etag:
        same = HttpResponseNotModified()
        same["ETag"] = etag
        return same
    response["ETag"] = etag
    return None
