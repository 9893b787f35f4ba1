"""Sessions that a full or locked database does not take: reading goes on without them."""

import logging

from django.contrib.sessions.exceptions import SessionInterrupted
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse

from vlmlab.web.errors import database_outage

logger = logging.getLogger(__name__)


class PatientSessionMiddleware(SessionMiddleware):
    """Shows a page although its session could not be saved, as after a message was read.

    Such a message is shown again on the next page; without this no page could be read while the disk is full.
    """

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Save the session, or pass the page on when only reading was asked for."""
        try:
            return super().process_response(request, response)
        except SessionInterrupted as error:
            if request.method not in ("GET", "HEAD") or database_outage(error) is None:
                raise
            logger.warning("%s: the session could not be saved", request.path)
            return response
