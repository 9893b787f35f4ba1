"""The door of the REST API: a bearer token says who asks; cookies count for nothing there."""

from collections.abc import Callable
from typing import Any, cast

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.module_loading import import_string

from vlmlab.web.api_answers import API_NAMESPACE, is_api_request, problem

SCHEME = "bearer"
WRONG_METHOD = 405


class TokenMiddleware:
    """Replaces the visitor by the owner of the token on every operation of the API.

    It stands before ``LoginRequiredMiddleware`` and ``AccessMiddleware``: the same permission table decides
    what the owner may do. Without a usable token the answer is 401 as JSON, never a page for signing in.
    """

    sync_capable = True
    async_capable = False

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass the request on; what a token reads is for its owner alone."""
        response = self.get_response(request)
        if not is_api_request(request):
            return response
        if response.status_code == WRONG_METHOD:
            response = _wrong_method(request, response.headers.get("Allow", ""))
        if not response.has_header("Cache-Control"):
            response["Cache-Control"] = "private, no-cache"
        return response

    def process_view(
        self,
        request: HttpRequest,
        view: Callable[..., HttpResponse],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> HttpResponse | None:
        """Let the owner of a usable token pass as themselves; refuse everybody else."""
        match = request.resolver_match
        if match is None or match.namespace != API_NAMESPACE:
            return None
        text = bearer_token(request)
        if not text:
            return _refused("This needs a token.", 'Send "Authorization: Bearer vlm_…" with the request.')
        person = _person_of(text)
        if person is None:
            return _refused(
                "This token is not valid: it is unknown, expired or revoked, or its owner is deactivated.",
                "Make a new one on the page of your tokens.",
            )
        request.user = person  # type: ignore[assignment]  # the project's own user, see AUTH_USER_MODEL
        return None


def bearer_token(request: HttpRequest) -> str:
    """Return the token that a request carries, or ""."""
    scheme, _, text = request.headers.get("Authorization", "").partition(" ")
    return text.strip() if scheme.lower() == SCHEME else ""


def _person_of(text: str) -> AbstractUser | None:
    reader = cast(Callable[[str], AbstractUser | None], import_string(settings.API_TOKEN_READER))
    return reader(text)


def _wrong_method(request: HttpRequest, allowed: str) -> HttpResponse:
    response = problem(WRONG_METHOD, f"{request.method} is not possible here.", hint=f"Possible: {allowed}.")
    response["Allow"] = allowed
    return response


def _refused(message: str, hint: str) -> HttpResponse:
    response = problem(401, message, hint=hint)
    response["WWW-Authenticate"] = 'Bearer realm="VLM Lab"'
    return response
