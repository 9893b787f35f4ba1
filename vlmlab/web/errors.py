"""Error pages: a sentence and a next step for what a person can change, a reference number for bugs."""

import json
import logging
import secrets
import sys
from collections.abc import Callable, Mapping
from typing import Any

from axes.helpers import get_cool_off
from django.contrib.sessions.exceptions import SessionInterrupted
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.template import loader
from django.views.decorators.csrf import requires_csrf_token

from vlmlab.core.errors import VlmLabError
from vlmlab.web import api_answers

logger = logging.getLogger("vlmlab.errors")

RETRY_SECONDS = 10
# Words of SQLite and PostgreSQL -> what to do.
OUTAGES = {
    word: sentence
    for words, sentence in (
        (
            ("disk is full", "no space left"),
            "The disk is full. Make room on the machine of the lab, then try again.",
        ),
        (
            ("readonly", "read-only", "unable to open database file"),
            "The data folder cannot be written. Make VLMLAB_DATA_DIR writable again, then try again.",
        ),
    )
    for word in words
}


class VlmLabErrorMiddleware:
    """Turns a ``VlmLabError`` that a view let rise into a page with its message and hint."""

    sync_capable = True
    async_capable = False

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass the request on."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Answer a ``VlmLabError``; leave everything else to ``server_error``."""
        return problem_page(request, error) if isinstance(error, VlmLabError) else None


def problem_page(request: HttpRequest, error: VlmLabError, *, status: int = 400) -> HttpResponse:
    """Return the page (for HTMX: the fragment and a ``problem`` event) that explains ``error``."""
    context = {"message": error.message, "hint": error.hint}
    if not is_fragment_request(request):
        return render(request, "errors/problem.html", context, status=status)
    response = render(request, "errors/_problem.html", context, status=status)
    response["HX-Trigger"] = json.dumps({"problem": context})
    response["HX-Retarget"] = "#problems"
    response["HX-Reswap"] = "innerHTML"
    return response


def is_fragment_request(request: HttpRequest) -> bool:
    """Whether HTMX asks for a part of a page (a boosted link asks for a whole one)."""
    return request.headers.get("HX-Request") == "true" and request.headers.get("HX-Boosted") != "true"


def new_reference() -> str:
    """Return a short number that stands in the log and on the page, so that one finds the other."""
    return secrets.token_hex(4).upper()


@requires_csrf_token
def server_error(request: HttpRequest) -> HttpResponse:
    """Answer a bug: the traceback goes to the log under the reference number that the page shows."""
    outage = database_outage(sys.exc_info()[1])
    if outage is not None:
        return database_busy(request, outage)
    reference = new_reference()
    logger.error("Reference %s: %s %s", reference, request.method, request.path, exc_info=sys.exc_info())
    if api_answers.is_api_request(request):
        sentence = "Something broke on our side."
        return api_answers.problem(
            500, sentence, hint="Look for the reference in the log.", reference=reference
        )
    context = {"reference": reference}
    # Drawn without the request: what broke (session, database, context processor) must not break this page.
    fragment = "errors/_server_error.html" if is_fragment_request(request) else "500.html"
    return HttpResponse(loader.render_to_string(fragment, context), status=500)


def database_outage(error: BaseException | None) -> Exception | None:
    """Return the error, or the one that it followed, that says that the database did not answer."""
    while error is not None:
        if isinstance(error, OperationalError | InterfaceError):
            return error
        error = error.__cause__ or error.__context__
    return None


def outage_sentence(outage: Exception) -> str:
    """Return why the database does not answer and what to do."""
    known = (one for word, one in OUTAGES.items() if word in str(outage).lower())
    return next(known, "It is busy or being restarted. Try again in a few seconds.")


def database_busy(request: HttpRequest, outage: Exception) -> HttpResponse:
    """Answer while the database is locked, full or away: nothing was changed, and trying again helps."""
    logger.warning("%s %s: the database did not answer: %s", request.method, request.path, outage)
    if api_answers.is_api_request(request):
        busy = api_answers.problem(503, "The database did not answer.", hint=outage_sentence(outage))
        busy["Retry-After"] = str(RETRY_SECONDS)
        return busy
    fragment = "errors/_database_busy.html" if is_fragment_request(request) else "503.html"
    context = {"reason": outage_sentence(outage)}
    response = HttpResponse(loader.render_to_string(fragment, context), status=503)
    response["Retry-After"] = str(RETRY_SECONDS)
    return response


@requires_csrf_token
def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answer a request that cannot be read.

    Django takes a session that could not be saved for one that was deleted; the cause tells them apart.
    """
    outage = database_outage(exception) if isinstance(exception, SessionInterrupted) else None
    if outage is not None:
        return database_busy(request, outage)
    if api_answers.is_api_request(request):
        if isinstance(exception, RequestDataTooBig | TooManyFieldsSent | TooManyFilesSent):
            return api_answers.problem(413, "There is too much in this request.", hint="Send less at once.")
        return api_answers.problem(400, "This request cannot be read.", hint="Look at its Content-Type.")
    return render(request, "400.html", status=400)


@requires_csrf_token
def permission_denied(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answer a request that this person's role does not allow."""
    if api_answers.is_api_request(request):
        return api_answers.problem(403, "The owner of this token may not do this.", hint="Ask an admin.")
    return render(request, "403.html", status=403)


@requires_csrf_token
def page_not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answer a request for something that is not there."""
    if api_answers.is_api_request(request):
        return api_answers.problem(404, "There is nothing at this address.")
    return render(request, "404.html", status=404)


def locked_out(
    request: HttpRequest, original: HttpResponseBase | None, credentials: Mapping[str, Any] | None
) -> HttpResponse:
    """Answer somebody who failed to sign in too often: wait, with the time in ``Retry-After``."""
    cool_off = get_cool_off(request)
    seconds = int(cool_off.total_seconds()) if cool_off else 3600
    response = render(request, "429.html", {"minutes": -(-seconds // 60)}, status=429)
    response["Retry-After"] = str(seconds)
    return response
