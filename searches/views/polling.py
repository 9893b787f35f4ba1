"""Parts of pages that are asked for again and again until nothing will change any more."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified

STOP_POLLING = 286  # HTMX: take this answer and ask no more


def polled(
    request: HttpRequest, *, etag: str, is_final: bool, draw: Callable[[], HttpResponse]
) -> HttpResponse:
    """Return a part of a page; 304 while nothing changed, 286 and the whole page anew once nothing will.

    Args:
        request: with the tag of what the browser has.
        etag: changes whenever the part must.
        is_final: nothing will change; the page as a whole has more to show then, and other buttons.
        draw: returns the part; only called where the browser has another one.
    """
    tag = f'"{etag}"'
    if request.headers.get("If-None-Match") == tag:
        response: HttpResponse = HttpResponseNotModified()
    else:
        response = draw()
        if is_final:
            response.status_code = STOP_POLLING
            response["HX-Refresh"] = "true"
    response["ETag"] = tag
    response["Cache-Control"] = "private, no-cache"
    return response
