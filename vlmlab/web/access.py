"""The gate in front of every view: the permission table decides, and what it does not name is closed."""

from collections.abc import Callable
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse

from vlmlab.web.permissions import may_open, public_pages


class AccessMiddleware:
    """Refuses a page to everybody whose role the permission table does not list for it.

    Strangers never get here on a page that needs sign-in: ``LoginRequiredMiddleware`` stands before it.
    """

    sync_capable = True
    async_capable = False

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass the request on."""
        return self.get_response(request)

    def process_view(
        self,
        request: HttpRequest,
        view: Callable[..., HttpResponse],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        """Let the request pass, or refuse it.

        Raises:
            PermissionDenied: the person's role is not listed for this page, or nobody's is.
        """
        match = request.resolver_match
        name = match.view_name if match else ""
        if name in public_pages():
            return
        role = getattr(request.user, "role", "")
        if not may_open(role, name):
            raise PermissionDenied
