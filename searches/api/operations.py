"""How an operation is declared: its name is its permission, and its errors stand in the schema."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from ninja import Router, Schema
from ninja.security import HttpBearer
from pydantic import Field

from searches.models import User
from vlmlab.web.api_answers import API_NAMESPACE
from vlmlab.web.permissions import may_open

Operation = TypeVar("Operation", bound=Callable[..., Any])

ALWAYS = (401, 403)  # no usable token; the owner's role may not do this


class Problem(Schema):
    """What went wrong: one sentence, what to do, and at which field of the request."""

    message: str = Field(description="What happened, one sentence.", examples=["There is no system “pocke”."])
    hint: str = Field("", description="What to do about it; may be empty.", examples=["Choose another."])
    field: str | None = Field(None, description="Field of the request it belongs to, if any.")
    reference: str = Field("", description="Number to look for in the log, for errors of the lab itself.")


class Token(HttpBearer):
    """Checks the role of the token's owner for one operation.

    ``TokenMiddleware`` has found the owner before; several operations share one address, and Django's gate
    sees only the address.
    """

    openapi_description = "A token of a person, made under **API tokens**: `Authorization: Bearer vlm_…`."

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = f"{API_NAMESPACE}:{name}"

    def authenticate(self, request: HttpRequest, token: str) -> User:
        """Return the owner.

        Raises:
            PermissionDenied: their role may not do this.
        """
        person = request.user
        if not isinstance(person, User) or not may_open(person.role, self._name):
            raise PermissionDenied
        return person


def operation(
    router: Router,
    method: str,
    path: str,
    *,
    response: Any,
    errors: tuple[int, ...] = (),
    status: int = 200,
    name: str = "",
    openapi_extra: dict[str, Any] | None = None,
) -> Callable[[Operation], Operation]:
    """Add a function to the API under its own name; its docstring gives the summary and the description.

    Args:
        router: the room it belongs to.
        method: HTTP method.
        path: below ``/api/v1``, with Django's converters.
        response: schema of a good answer; None for files.
        errors: further statuses with a ``Problem``, beside 401 and 403.
        status: of a good answer.
        name: when the function's own name cannot be used.
        openapi_extra: merged into the schema of the operation.
    """

    def add(view: Operation) -> Operation:
        summary, _, description = (view.__doc__ or "").partition("\n\n")
        own = name or view.__name__
        problems = dict.fromkeys(sorted({*ALWAYS, *errors}), Problem)
        decorate: Callable[[Operation], Operation] = router.api_operation(
            [method],
            path,
            auth=Token(own),
            response={status: response, **problems},
            operation_id=own,
            url_name=own,
            summary=" ".join(summary.split()).rstrip("."),
            description=" ".join(description.split()) or " ".join(summary.split()),
            openapi_extra=openapi_extra,
        )
        return decorate(view)

    return add


def person_of(request: HttpRequest) -> User:
    """Return who asks."""
    assert isinstance(request.user, User)
    return request.user
